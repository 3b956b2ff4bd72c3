"""Modified layers against literal transcriptions, paired decisions, exact ranks."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import elu, gelu

from theorems.ren2024.studies import compare, designs, model, rank, steps, training
from theorems.ren2024.studies.dual import Paths
from verify.profiles import profile
from verify.runs.study import Batch
from verify.train.tasks import LINEAR, draw_prompts, draw_tasks
from verify.verdict import Verdict

SEEDS = [3, 5, 8]
PLAIN = [
    {},
    designs.regularised("skip-normalised", -0.5),
    designs.regularised("skip", 0.5),
    designs.regularised("diagonal", 0.7),
    designs.regularised("diagonal-normalised", -0.7),
    designs.regularised("scores", -3.0),
    designs.regularised("skip-normalised", 0.3) | {"other": True},
    {"beta": 0.1, "k": 3},
    {"beta": 0.3, "k": 5},
    {"beta": 0.2, "k": 4, "per_token": True},
]
CURVED = [*designs.AUGMENTED.values(), {"g_2": True, "plus": True, "elu": True}]


def variants(rows: list[dict]) -> model.Variants:
    full = [designs.PLAIN | row for row in rows]
    numbers = {
        n: torch.tensor([float(r[n]) for r in full], dtype=torch.float64)
        for n in training.NUMBERS
    }
    switches = {n: torch.tensor([bool(r[n]) for r in full]) for n in training.SWITCHES}
    return model.Variants(**numbers, **switches)


def literally(p: dict[str, Tensor], X: Tensor, row: dict) -> Tensor:
    """One prompt, one run: the formulas of Section 4 as they stand."""
    row = designs.PLAIN | row
    d, n = X.shape
    K, V = p["W_K"] @ X, p["W_V"] @ X
    if row["g_2"]:
        curved = elu if row["elu"] else gelu
        K = curved(p["W_a"] @ K)
        K = p["W_b"] @ K if row["plus"] else K
    if row["g_1"]:
        V = gelu(p["g_1"] @ V)[None]
    scores = K.T @ (p["W_Q"] @ X) / math.sqrt(d)
    A_u = torch.exp(scores)
    A = A_u / A_u.sum(dim=0)
    at = torch.zeros(n, n, dtype=X.dtype)
    at[0 if row["other"] else -1, -1] = 1
    A = A - row["skip"] * at - row["diagonal"] * torch.diag(torch.diag(A)) * at
    if row["scores"]:
        A = A_u - row["scores"] * at
    if row["norm"]:
        A = A / A.sum(dim=0)
    if row["beta"]:
        V = V - row["beta"] * V @ chosen(scores, int(row["k"]), row["per_token"])
    return (V @ A)[-1, -1]


def chosen(scores: Tensor, k: int, per_token: bool) -> Tensor:
    """Column i holds 1/k for the negative samples of token i."""
    n = len(scores)
    P = torch.zeros(n, n, dtype=scores.dtype)
    for i in range(n):
        query = i if per_token else n - 1
        others = [j for j in range(n) if j != query]
        for j in sorted(others, key=lambda j: float(scores[j, query]))[:k]:
            P[j, i] = 1 / k
    return P


def layers(kind: str, rows: list[dict]) -> tuple[dict[str, Tensor], Tensor, Tensor]:
    params = training.initial(kind, 12, SEEDS, len(rows), torch.float64, "cpu")
    g = torch.Generator().manual_seed(1)
    params = {  # every variant its own weights
        n: w + 0.1 * torch.randn(w.shape, generator=g, dtype=w.dtype)
        for n, w in params.items()
    }
    X, target = draw_prompts(LINEAR, draw_tasks(LINEAR, SEEDS), SEEDS, 0, 2)
    return params, X, target[..., 0]


@pytest.mark.parametrize(("kind", "rows"), [("plain", PLAIN), ("augmented", CURVED)])
def test_layers_are_what_section_4_says(kind, rows):
    params, X, _ = layers(kind, rows)
    found = model.predict(params, X, variants(rows)).view(len(rows), len(SEEDS), 2)
    for c, row in enumerate(rows):
        for s in range(len(SEEDS)):
            own = {name: w[c * len(SEEDS) + s] for name, w in params.items()}
            if kind == "plain":
                own["W_V"] = own["v"].repeat(12, 1)
            for prompt in range(2):
                expected = literally(own, X[s, prompt], row)
                # Two evaluations in float64 of fewer than 100 terms of size 10.
                torch.testing.assert_close(
                    found[c, s, prompt], expected, rtol=1e-11, atol=1e-11
                )


def test_closed_gradient_is_the_automatic_one():
    params, X, target = layers("plain", PLAIN)
    v = variants(PLAIN)
    leaves = {n: w.clone().requires_grad_() for n, w in params.items()}
    errors = model.predict(leaves, X[:, :1], v).view(len(PLAIN), -1) - target[:, 0]
    errors.square().sum().backward()
    losses, grads = model.gradient(params, X[:, 0], target[:, 0], v)
    torch.testing.assert_close(losses, errors.detach().square().view(-1))
    for name, leaf in leaves.items():
        torch.testing.assert_close(grads[name], leaf.grad)


def batch(rows: list[dict], seeds: list[int]) -> Batch:
    common = {"task": "linear", "kind": "plain", "lr": 0.003}
    runs = [designs.PLAIN | common | row for row in rows for _ in seeds]
    options = {"linear steps": 20, "linear held out": 4}
    return Batch(runs, seeds * len(rows), options, "cpu", "float64")


def test_a_run_depends_on_no_other():
    many = training.pretrain(batch(PLAIN[:3], SEEDS)).observed["nmse"]
    one = training.pretrain(batch(PLAIN[1:2], SEEDS[1:2])).observed["nmse"]
    torch.testing.assert_close(many[:, 4:5], one)


def test_a_batch_that_is_no_grid_is_refused():
    broken = batch(PLAIN[:2], SEEDS)
    broken = Batch(broken.configurations, [3, 5, 8, 5, 3, 8], broken.options, "cpu", "")
    with pytest.raises(ValueError, match="every variant with every seed"):
        training.pretrain(broken)


@pytest.mark.parametrize("task", ["linear", "trig", "exp"])
def test_studies_are_well_formed(task):
    study = designs.study(task, profile("default"), 0, "cpu")
    assert [len(c.content["seeds"]) % 32 for c in study.chunks()] == [0, 0]
    names = [c["name"] for c in study.configurations]
    assert len(set(names)) == len(names)


def test_decisions_need_every_interval_on_its_side():
    draws = np.random.default_rng(0).normal(size=40)
    up, none = (
        compare.Comparison("up", draws + 5, ">"),
        compare.Comparison("no", draws, "<"),
    )
    down = compare.Comparison("up", draws + 5, "<")
    verdicts = [
        compare.decide(c, 1e-6).verdict for c in ([up], [up, none], [up, none, down])
    ]
    assert verdicts == [Verdict.HOLDS, Verdict.INCONCLUSIVE, Verdict.REFUTED]
    few = compare.Comparison(
        "few", np.where(np.arange(40) < 31, draws + 5, np.nan), ">"
    )
    outcome = compare.decide([few], 1e-6)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert outcome.discards == {"pairs with a diverged run": 9}


@pytest.mark.parametrize(("hits", "verdict"), [
    (0, Verdict.INCONCLUSIVE), (18, Verdict.INCONCLUSIVE), (31, Verdict.HOLDS),
])  # fmt: skip
def test_yes_and_no_need_an_exact_interval(hits, verdict):
    """Without it 0 of 40 lies "surely" below 1/4, with an interval of width 0."""
    said = np.repeat([1.0, 0.0], [hits, 40 - hits])
    below, sign = (0.25, "<") if hits < 20 else (0.25, ">")
    plain = compare.Comparison("share", said - below, sign)
    exact = compare.Comparison("share", said - below, sign, (-below, 1 - below))
    assert compare.decide([exact], level=1e-6).verdict is verdict
    if not hits:
        assert compare.decide([plain], level=1e-6).verdict is Verdict.HOLDS


def test_shares_have_the_bounds_of_clopper_and_pearson():
    # 0 of n: the upper end of a level a, shared out over both sides, is 1-(a/2)^(1/n).
    low, high = compare.counted(np.zeros(50), (0, 1), 0.02)
    assert (low, high) == pytest.approx((0, 1 - 0.01 ** (1 / 50)))
    low, high = compare.counted(np.zeros(50), (0, -1, 1), 0.02)
    assert (low, high) == pytest.approx((0.005 ** (1 / 50) - 1, 1 - 0.005 ** (1 / 50)))


def test_paths_are_judged_at_the_claimed_step():
    path = np.array([[3.0], [4.0], [0.0], [1.0], [2.0]])
    paths = Paths(
        {steps.ONE_BY_ONE: path}, np.array([1e-9]), np.array([1.0]), 2, {}, "by hand"
    )
    verdicts = [steps.arrives(paths, steps.ONE_BY_ONE, t).verdict for t in (1, 2, 3)]
    assert verdicts == [Verdict.REFUTED, Verdict.HOLDS, Verdict.REFUTED]
    assert steps.wanders(paths, 1, 1).verdict is Verdict.HOLDS
    assert steps.wanders(paths, 0, 1).verdict is Verdict.REFUTED
    assert steps.wanders(paths, 1, 2).verdict is Verdict.REFUTED


@pytest.mark.parametrize(("d_h", "mean"), [(12, 6.0), (24, 11.03), (33, 11.93)])
def test_mean_bound(d_h, mean):
    assert float(rank.mean_bound(12, d_h)) == pytest.approx(mean, abs=0.005)


def test_mean_bound_by_brute_force():
    counts = [min(2, bin(m).count("1")) for m in range(32)]
    assert rank.mean_bound(2, 5) == Fraction(sum(counts), 32)
