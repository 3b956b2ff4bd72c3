"""The heads of the published checkpoint, against the layers that PyTorch ships."""

import json
from importlib.util import find_spec

import pytest
import torch
from torch import nn

from theorems.ren2024.layers import real
from theorems.ren2024.real import checkpoint as checkpoints

pytestmark = pytest.mark.skipif(
    find_spec(checkpoints.PACKAGE) is None, reason="needs the extra [real]"
)

PARTS = {
    "self_attn.out_proj": "attention.output.dense",
    "norm1": "attention.output.LayerNorm",
    "linear1": "intermediate.dense",
    "linear2": "output.dense",
    "norm2": "output.LayerNorm",
}


def checkpoint():
    from safetensors.torch import load_file

    folder = checkpoints.package_folder()
    raw = load_file(folder / "model.safetensors")
    config = json.loads((folder / "config.json").read_text())
    return raw, config, (folder / "vocab.txt").read_text().splitlines()


def torch_layer(raw, config, index):
    """A layer of the checkpoint as PyTorch's own transformer encoder layer."""
    prefix = f"encoder.layer.{index}."
    layer = nn.TransformerEncoderLayer(
        config["hidden_size"],
        config["num_attention_heads"],
        config["intermediate_size"],
        dropout=0.0,
        activation="gelu",
        layer_norm_eps=config["layer_norm_eps"],
        batch_first=True,
        dtype=torch.float64,
    )
    state = {}
    for kind in ("weight", "bias"):
        names = [
            f"{prefix}attention.self.{n}.{kind}" for n in ("query", "key", "value")
        ]
        state[f"self_attn.in_proj_{kind}"] = torch.cat([raw[name] for name in names])
        for ours, theirs in PARTS.items():
            state[f"{ours}.{kind}"] = raw[f"{prefix}{theirs}.{kind}"]
    layer.load_state_dict({name: x.double() for name, x in state.items()})
    return layer.eval()


def embedded(raw, config, vocabulary):
    words = ["[CLS]", *real.TEXT.split(), "[SEP]"]
    rows = torch.tensor([vocabulary.index(word) for word in words])
    total = torch.zeros(len(words), config["hidden_size"], dtype=torch.float64)
    for name, at in (
        ("word", rows),
        ("position", torch.arange(len(words))),
        ("token_type", torch.zeros_like(rows)),
    ):
        table = raw[f"embeddings.{name}_embeddings.weight"].double()
        total += nn.functional.embedding(at, table)
    norm = nn.LayerNorm(config["hidden_size"], config["layer_norm_eps"])
    norm.weight.data = raw["embeddings.LayerNorm.weight"].double()
    norm.bias.data = raw["embeddings.LayerNorm.bias"].double()
    return norm(total)[None]


@pytest.fixture(scope="module")
def expected():
    """What each head gives for the last token, ``(72, 32)``, without an output map."""
    raw, config, vocabulary = checkpoint()
    found = []
    with torch.inference_mode():
        x = embedded(raw, config, vocabulary)
        for index in range(config["num_hidden_layers"]):
            layer = torch_layer(raw, config, index)
            attend = torch_layer(raw, config, index).self_attn
            nn.init.eye_(attend.out_proj.weight)
            nn.init.zeros_(attend.out_proj.bias)
            heads = attend(x, x, x, need_weights=False)[0][0, -1]
            found.append(heads.reshape(config["num_attention_heads"], -1))
            x = layer(x)
    return torch.cat(found)


def test_heads_are_those_of_the_checkpoint(expected):
    layer = real.real_heads("keys-with-query")
    assert expected.shape == (72, 32)
    torch.testing.assert_close(layer.attention[..., 0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("reading", "sizes"),
    [("keys-with-query", (28, 0)), ("keys-without-query", (20, 8))],
)
def test_tokens_are_split_as_said(reading, sizes):
    arrays = real.real_heads(reading).arrays
    got = tuple(arrays[name].shape[-1] for name in ("V_D", "V_T"))
    assert got == sizes
    assert sum(sizes) + 1 == len(real.TEXT.split()) + 2
    assert arrays["p"].shape[0] == 72


def test_readings_share_values_and_differ_in_attention():
    one, other = map(real.real_heads, ("keys-with-query", "keys-without-query"))
    values = torch.cat([other.arrays["V_D"], other.arrays["V_T"]], dim=-1)
    torch.testing.assert_close(one.arrays["V_D"], values)
    assert bool((one.attention - other.attention).abs().max() > 1e-3)
