"""Dual models through a whole network, on a small random BERT."""

import pytest
import torch
from torch import nn

from theorems.ren2024 import real
from theorems.ren2024.real import bert, stack
from theorems.ren2024.real.checkpoint import Checkpoint
from theorems.ren2024.real.tokens import WordPiece
from theorems.ren2024.theorem_3_1_real_stack import LAYERS, STACK

WIDTH, HEADS, DEPTH = 12, 3, 3
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d")


@pytest.fixture(scope="module")
def small():
    draws = torch.Generator().manual_seed(5)

    def normal(*shape, spread=0.5):
        return spread * torch.randn(*shape, generator=draws, dtype=torch.float64)

    weights = {
        "embeddings.word_embeddings.weight": normal(len(WORDS), WIDTH),
        "embeddings.position_embeddings.weight": normal(16, WIDTH),
        "embeddings.token_type_embeddings.weight": normal(2, WIDTH),
    }
    sizes = {"intermediate.dense": (20, WIDTH), "output.dense": (WIDTH, 20)}
    for name in ("self.query", "self.key", "self.value", "output.dense"):
        sizes[f"attention.{name}"] = (WIDTH, WIDTH)
    norms = ["embeddings.LayerNorm"]
    for i in range(DEPTH):
        for name, shape in sizes.items():
            weights[f"encoder.layer.{i}.{name}.weight"] = normal(*shape)
            weights[f"encoder.layer.{i}.{name}.bias"] = normal(shape[0])
        norms += [f"encoder.layer.{i}.{n}output.LayerNorm" for n in ("attention.", "")]
    for name in norms:
        weights |= {f"{name}.weight": 1 + normal(WIDTH), f"{name}.bias": normal(WIDTH)}
    start = Checkpoint("small", HEADS, DEPTH, 1e-12, 0.02, WORDS, weights)
    return stack.network(start, "a b c d a c")


def test_small_network_holds_and_rejects_every_mutant(small):
    allowed = torch.stack(small.tolerances)
    assert bool((stack.layer_distances(LAYERS, small) <= allowed).all())
    assert stack.stack_distance(STACK, small) <= small.allowed < 1e-6
    for mutant in STACK.mutants:
        changed = STACK.changed(mutant)
        assert bool((stack.layer_distances(changed, small) > allowed).any()), mutant
        assert stack.stack_distance(changed, small) > small.allowed, mutant


def test_encoder_is_that_of_pytorch(small):
    """Against nn.TransformerEncoderLayer, which normalises after the residual too."""
    raw, x = small.checkpoint.weights, small.embedded[None]
    parts = {
        "self_attn.out_proj": "attention.output.dense",
        "norm1": "attention.output.LayerNorm",
        "linear1": "intermediate.dense",
        "linear2": "output.dense",
        "norm2": "output.LayerNorm",
    }
    for i in range(DEPTH):
        at = f"encoder.layer.{i}."
        layer = nn.TransformerEncoderLayer(
            WIDTH, HEADS, 20, 0.0, "gelu", 1e-12, batch_first=True, dtype=x.dtype
        )
        state = {}
        for kind in ("weight", "bias"):
            names = (
                f"{at}attention.self.{n}.{kind}" for n in ("query", "key", "value")
            )
            state[f"self_attn.in_proj_{kind}"] = torch.cat([raw[n] for n in names])
            state |= {f"{a}.{kind}": raw[f"{at}{b}.{kind}"] for a, b in parts.items()}
        layer.load_state_dict(state)
        x = layer(x)
    torch.testing.assert_close(small.after, x[0], rtol=1e-9, atol=1e-9)


def test_rounding_bound_covers_float32(small):
    """The bound, for the unit roundoff of float32, against float32 itself."""
    single = bert.Bert.of(small.checkpoint.to(torch.float32))
    after = single.encoded(small.embedded.float(), bert.plain)
    error = float((after.double() - small.after).norm())
    ratio = torch.finfo(torch.float32).eps / torch.finfo(torch.float64).eps
    assert 0 < error < small.allowed * ratio


def test_every_token_is_a_query_with_the_others_as_demonstrations(small):
    at = small.given[0]
    arrays, _ = stack.arrays_of(at.V, at.K, at.Q)
    heads, _, n = at.V.shape
    assert arrays["V_D"].shape[0] == heads * n
    run = 1 * n + 2  # head 1, query 2
    torch.testing.assert_close(arrays["v_q"][run][:, 0], at.V[1][:, 2])
    others = [i for i in range(n) if i != 2]
    torch.testing.assert_close(arrays["V_D"][run], at.V[1][:, others])


def test_no_profile_includes_these_checks(monkeypatch):
    monkeypatch.delenv(real.REAL, raising=False)
    assert not set(real.profiles()) & {"smoke", "default", "full"}
    monkeypatch.setenv(real.REAL, "1")
    assert real.profiles() == ()


def test_tokens_of_the_text_are_words(small):
    ids = WordPiece(WORDS).encode("a b c d a c").ids
    assert [WORDS[i] for i in ids] == ["[CLS]", *"abcdac", "[SEP]"]
    assert small.embedded.shape == (8, WIDTH)
