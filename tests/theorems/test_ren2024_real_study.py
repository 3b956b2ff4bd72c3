"""Tokens, tasks, scores and modifications of the fine-tuned BERT, on a tiny network."""

import json
import math
from importlib.util import find_spec

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from theorems.ren2024.real import GLUE, MODEL, bert, fine_tuning, modifications, text
from theorems.ren2024.real import checkpoint as checkpoints
from theorems.ren2024.real import study as studies
from theorems.ren2024.real.modifications import Modification
from theorems.ren2024.real.scores import SCORES
from theorems.ren2024.real.tokens import WordPiece
from verify.runs import Batch
from verify.trouble import CannotRun

WORDS = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    *"abcdefghijklmnopqrstuvwxyz'.,",
    *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
    "un",
    "##aff",
    "##able",
    "the",
    "cat",
)
WIDTH, HEADS, LAYERS, INNER = 8, 2, 2, 16


def tensors():
    draws = torch.Generator().manual_seed(0)

    def normal(*shape):
        return 0.3 * torch.randn(*shape, generator=draws)

    shapes = {
        "embeddings.word_embeddings": (len(WORDS), WIDTH),
        "embeddings.position_embeddings": (64, WIDTH),
        "embeddings.token_type_embeddings": (2, WIDTH),
        "pooler.dense": (WIDTH, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for i in range(LAYERS):
        at = f"encoder.layer.{i}."
        for name in ("query", "key", "value"):
            shapes[f"{at}attention.self.{name}"] = (WIDTH, WIDTH)
        shapes[f"{at}attention.output.dense"] = (WIDTH, WIDTH)
        shapes[f"{at}intermediate.dense"] = (INNER, WIDTH)
        shapes[f"{at}output.dense"] = (WIDTH, INNER)
        norms += [f"{at}attention.output.LayerNorm", f"{at}output.LayerNorm"]
    found = {f"{name}.weight": normal(*shape) for name, shape in shapes.items()}
    for name, shape in shapes.items():
        if "embeddings" not in name:
            found[f"{name}.bias"] = normal(shape[0])
    for name in norms:
        found |= {f"{name}.weight": 1 + normal(WIDTH), f"{name}.bias": normal(WIDTH)}
    return found


CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "layer_norm_eps": 1e-12,
}


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A folder as the hub lays out bert-base-uncased: prefix, gamma and beta."""
    where = tmp_path / "bert-tiny"
    where.mkdir()
    (where / "config.json").write_text(json.dumps(CONFIG))
    (where / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    named = {
        f"bert.{name}".replace("Norm.weight", "Norm.gamma").replace(
            "Norm.bias", "Norm.beta"
        ): w
        for name, w in tensors().items()
    }
    named["cls.predictions.bias"] = torch.zeros(3)
    save_file(named, where / "model.safetensors")
    monkeypatch.setenv(MODEL, str(where))
    fine_tuning.prepared.cache_clear()
    yield where
    fine_tuning.prepared.cache_clear()


@pytest.fixture
def glue(tmp_path, monkeypatch):
    """The four tasks in their own layouts, a few rows each."""
    folder = tmp_path / "glue"
    cola = [f'gj04\t{i % 2}\t*\tthe cat "unaffable {i}' for i in range(6)]
    mrpc = ["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"]
    mrpc += [f"{i % 2}\t1\t2\tthe cat.\ta cat {i}" for i in range(4)]
    stsb = [
        "index\tgenre\tfilename\tyear\told_index\tsource1\tsource2\t"
        "sentence1\tsentence2\tscore"
    ]
    stsb += [f"{i}\tg\tf\ty\t0\ts\ts\tthe cat\ta cat\t{i}.250" for i in range(4)]
    rte = ["index\tsentence1\tsentence2\tlabel"]
    rte += ["0\tthe cat\ta cat\tentailment", "1\tthe cat\ta\tnot_entailment"]
    for name, rows in (("CoLA", cola), ("MRPC", mrpc), ("STS-B", stsb), ("RTE", rte)):
        (folder / name).mkdir(parents=True)
        for part in ("train.tsv", "dev.tsv"):
            (folder / name / part).write_text("\n".join(rows) + "\n", encoding="utf-8")
    monkeypatch.setenv(GLUE, str(folder))
    return folder


def test_wordpiece_is_greedy_and_says_unknown():
    pieces = WordPiece(WORDS)
    assert pieces.pieces("UnAFFable, the  Cát") == [
        "un",
        "##aff",
        "##able",
        ",",
        "the",
        "cat",
    ]
    assert pieces.pieces("un€ " + "a" * 101) == ["[UNK]", "[UNK]"]


def test_pairs_are_cut_at_the_longer_text():
    encoded = WordPiece(WORDS).encode("the cat the cat", "the", limit=6)
    words = [WORDS[i] for i in encoded.ids]
    assert words == ["[CLS]", "the", "cat", "[SEP]", "the", "[SEP]"]
    assert encoded.types == (0, 0, 0, 0, 1, 1)


def test_a_folder_of_the_hub_is_read(model):
    found = checkpoints.load(checkpoints.folder())
    assert found.name == "bert-tiny"
    expected = tensors()
    assert set(found.weights) == set(expected)
    assert all(torch.equal(found.weights[n], w) for n, w in expected.items())


def test_pickled_weights_are_read_too(model):
    before = checkpoints.load(model)
    (model / "model.safetensors").unlink()
    torch.save(tensors(), model / "pytorch_model.bin")
    assert checkpoints.load(model).weights.keys() == before.weights.keys()


def test_missing_and_foreign_models_are_named(model, monkeypatch):
    (model / "config.json").write_text(json.dumps({**CONFIG, "model_type": "gpt2"}))
    with pytest.raises(CannotRun, match="holds a gpt2"):
        checkpoints.load(model)
    (model / "vocab.txt").unlink()
    with pytest.raises(CannotRun, match=r"lacks vocab\.txt"):
        checkpoints.folder()
    monkeypatch.delenv(MODEL)
    monkeypatch.setattr(checkpoints, "PACKAGE", "no_such_package_of_a_model")
    with pytest.raises(CannotRun, match="is not installed"):
        checkpoints.folder()


@pytest.mark.parametrize(
    ("name", "sizes", "label", "second"),
    [
        ("CoLA", (6, 6), 1.0, ""),
        ("MRPC", (4, 4), 1.0, "a cat 1"),
        ("STS-B", (4, 4), 1.25, "a cat"),
        ("RTE", (2, 2), 0.0, "a"),
    ],
)
def test_glue_is_read_from_its_folder(glue, name, sizes, label, second):
    task = text.task(name)
    assert (len(task.train), len(task.test)) == sizes
    assert (task.train[1].label, task.train[1].second) == (label, second)
    assert task.train[1].first.startswith("the cat")
    assert task.regression == (name == "STS-B")


def test_glue_laid_out_otherwise_is_named(glue, monkeypatch):
    (glue / "RTE" / "train.tsv").write_text("index\tsentence1\tlabel\n")
    with pytest.raises(CannotRun, match="not laid out as RTE"):
        text.task("RTE")
    (glue / "CoLA" / "dev.tsv").unlink()
    with pytest.raises(CannotRun, match="is missing"):
        text.task("CoLA")
    monkeypatch.delenv(GLUE)
    with pytest.raises(CannotRun, match=GLUE):
        text.task("MRPC")


LEXICON = """<sentiment language="en">
<word form="abhorrent" pos="JJ" sense="offensive to the mind" polarity="-0.7" />
<word form="able" pos="JJ" sense="having a &quot;strong&quot; body" polarity="0.5" />
<word form="able" pos="JJ" sense="having the means" polarity="0.5" />
<word form="above" pos="JJ" sense="appearing earlier" polarity="0.1" />
<word form="acrid" pos="JJ" polarity="-0.5" />
</sentiment>"""


@pytest.fixture
def lexicon(tmp_path, monkeypatch):
    """A package of the same layout."""
    folder = tmp_path / "lexicon_of_a_test"
    (folder / "en").mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "en" / "en-sentiment.xml").write_text(LEXICON, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(text, "LEXICON_PACKAGE", folder.name)


def test_glosses_come_with_their_words_and_signs(lexicon):
    task = text.task(text.BUILT, 1, 1)
    parts = {len(part): part for part in (task.train, task.test)}
    assert parts[1] == (text.Example("abhorrent: offensive to the mind", "", 0.0),)
    assert [e.first for e in parts[2]] == [
        'able: having a "strong" body',
        "able: having the means",
    ]
    assert {e.label for e in parts[2]} == {1.0}
    with pytest.raises(ValueError, match="fewer than"):
        text.task(text.BUILT, 3, 1)


def test_lexicon_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(text, "LEXICON_PACKAGE", "no_such_package_of_glosses")
    with pytest.raises(CannotRun, match="is not installed"):
        text.task(text.BUILT, 1, 1)


@pytest.mark.skipif(
    find_spec(text.LEXICON_PACKAGE) is None, reason="needs the extra [real]"
)
def test_glosses_of_the_package():
    task = text.task(text.BUILT, 960, 480)
    assert 960 <= len(task.train) < 980
    assert 480 <= len(task.test) < 500
    words = [{e.first.partition(":")[0] for e in p} for p in (task.train, task.test)]
    assert not words[0] & words[1]
    for part in (task.train, task.test):
        assert 0.4 < np.mean([e.label for e in part]) < 0.6


@pytest.mark.parametrize(
    ("name", "truth", "found", "expected"),
    [
        # (TP TN - FP FN) / sqrt(...) with TP, TN, FP, FN = 2, 1, 1, 0.
        ("Matthews correlation", [1, 1, 0, 0], [1, 1, 1, 0], 2 / math.sqrt(12)),
        ("Matthews correlation", [1, 1, 0, 0], [1, 1, 1, 1], 0.0),
        ("F1", [1, 1, 0, 0], [1, 1, 1, 0], 0.8),
        ("F1", [1, 1, 0, 0], [0, 0, 1, 0], 0.0),
        ("accuracy", [1, 1, 0, 0], [1, 1, 1, 0], 0.75),
        ("Pearson correlation", [0, 1, 2], [1, 3, 5], 1.0),
        ("Spearman correlation", [0, 1, 2, 3], [0, 1, 8, 7], 0.8),
    ],
)
def test_scores(name, truth, found, expected):
    arrays = (np.array(x, dtype=float) for x in (truth, found))
    assert SCORES[name](*arrays) == pytest.approx(expected)


def weights_of_attention(seed=0, n=7, real=5):
    draws = torch.Generator().manual_seed(seed)
    scores = torch.randn(1, 2, n, n, generator=draws, dtype=torch.float64)
    kept = torch.arange(n) < real
    A = torch.softmax(scores.masked_fill(~kept[:, None], -math.inf), dim=-2)
    return A, kept[None]


@pytest.mark.parametrize("alpha", [-0.5, 0.1, 0.5])
def test_regularised_weights_sum_to_one(alpha):
    A, _ = weights_of_attention()
    found = modifications.regularised(A, alpha)
    torch.testing.assert_close(found.sum(-2), torch.ones_like(found.sum(-2)))
    off = ~torch.eye(A.shape[-1], dtype=torch.bool)
    torch.testing.assert_close((1 - alpha) * found[..., off], A[..., off])


@pytest.mark.parametrize(("ratio", "count"), [(0.1, 1), (0.2, 1), (0.3, 2), (1.0, 4)])
def test_negatives_are_equation_15_literally(ratio, count):
    A, real = weights_of_attention()
    beta, length = 0.1, 5
    found = modifications.negatives(A, real, ratio, beta)
    for head in range(2):
        for i in range(length):
            others = [j for j in range(length) if j != i]
            lowest = sorted(others, key=lambda j: float(A[0, head, j, i]))[:count]
            expected = torch.zeros(7, dtype=A.dtype)
            expected[i] = 1
            expected[lowest] = -beta / count
            torch.testing.assert_close(found[0, head, :, i], expected)
    sums = (found @ A).sum(-2)
    torch.testing.assert_close(sums, torch.full_like(sums, 1 - beta))


def model_of(change, seed=3):
    start = checkpoints.load(checkpoints.folder())
    return fine_tuning.Model(start, change, 2, seed, "cpu")


def outputs(made, ids):
    ids = torch.tensor([ids])
    types, real = torch.zeros_like(ids), ids != 0
    with torch.no_grad():
        return made(ids, types, real)


@pytest.mark.parametrize("change", studies.CONFIGURATIONS.values(), ids=str)
def test_padding_changes_nothing(model, change):
    made = model_of(change)
    ids = [2, 10, 11, 12, 40, 41, 3]
    torch.testing.assert_close(outputs(made, ids), outputs(made, [*ids, 0, 0, 0]))


def test_modifications_change_the_outputs_and_the_original_does_not(model):
    ids = [2, 10, 11, 12, 40, 41, 3]
    start = model_of(Modification())
    found = {n: outputs(model_of(c), ids) for n, c in studies.CONFIGURATIONS.items()}
    network = bert.Bert.of(start.start)
    hidden = network.encoded(
        network.embedded(torch.tensor(ids), torch.zeros(7, dtype=int)), bert.plain
    )
    pooled = torch.tanh(network.linear(hidden[0], "pooler.dense"))
    head = start.weights["classifier.weight"].detach()
    torch.testing.assert_close(found[studies.ORIGINAL][0], head @ pooled)
    for name, other in found.items():
        same = torch.equal(other, found[studies.ORIGINAL])
        assert same == (name == studies.ORIGINAL), name


def batch_of(task, change, **more):
    where = checkpoints.folder()
    options = {
        "task": task,
        "train": 0,
        "test": 0,
        "limit": 16,
        "epochs": 2,
        "batch": 4,
        "rate": 1e-2,
        "model_digest": checkpoints.digest(where),
        "task_digest": text.task(task).digest(),
    } | more
    return Batch([vars(change)], [11], options, "cpu", "float32")


@pytest.mark.parametrize("task", ["CoLA", "MRPC", "STS-B", "RTE"])
def test_every_task_trains(model, glue, task):
    change = Modification(alpha=0.1, value=1.0, key=1.0, ratio=0.2, beta=0.1)
    one = fine_tuning.fine_tune(batch_of(task, change))
    assert one.observed["scores"].shape == (1, 1, len(text.LAYOUTS[task].scores))
    assert one.diverged_at.tolist() == [-1]
    again = fine_tuning.fine_tune(batch_of(task, change))
    assert torch.equal(one.losses, again.losses)


def test_training_learns(model, glue):
    rows = [f"s\t{i % 2}\t\t{'the cat' if i % 2 else 'unaffable'}" for i in range(16)]
    for part in ("train.tsv", "dev.tsv"):
        (glue / "CoLA" / part).write_text("\n".join(rows) + "\n")
    found = fine_tuning.fine_tune(batch_of("CoLA", Modification(), epochs=20))
    assert found.observed["scores"].item() == pytest.approx(1.0)


def test_a_study_is_trained_and_described(model, glue, monkeypatch, tmp_path):
    from verify.runs import Runs, Store

    few = {n: studies.CONFIGURATIONS[n] for n in (studies.ORIGINAL, "α = 0.5")}
    monkeypatch.setattr(studies, "CONFIGURATIONS", few)
    monkeypatch.setattr(studies, "PAPER_RECIPE", {**studies.PAPER_RECIPE, "epochs": 1})
    wanted = studies.Size(seeds=2, train=0, test=0, epochs=0)
    found = studies.fine_tuned(Runs(Store(tmp_path / "store")), 0, "cpu", wanted)
    assert [one.task for one in found] == ["CoLA", "MRPC", "STS-B", "RTE"]
    gain = studies.gain(found[0], "α = 0.5")
    assert gain.seeds == 2
    assert math.isfinite(gain.half)
    assert studies.figure(found, ["α = 0.5"])[0].series[1].label == "1: α = 0.5"


def test_another_task_than_asked_for_is_refused(model, glue):
    with pytest.raises(CannotRun, match="changed"):
        fine_tuning.fine_tune(batch_of("RTE", Modification(), task_digest="other"))


def test_best_of_several_gains_by_luck():
    scores = np.array([[0.1], [0.2], [0.6]])
    found = studies.FineTuned("t", "m", ("s",), {studies.ORIGINAL: scores}, 0, "")
    # The larger of two draws: 0.1 in 1, 0.2 in 3, 0.6 in 5 of 9 cases.
    assert studies.luck(found, 1) == pytest.approx(0.0)
    assert studies.luck(found, 2) == pytest.approx((0.1 + 0.6 + 3.0) / 9 - 0.3)
