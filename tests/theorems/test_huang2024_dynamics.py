"""Stage 2 of Algorithm 1: each engine against a more literal one, and known laws."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from theorems.huang2024.data.dataset import EXAMPLE_1, Dataset, from_texts, normalised
from theorems.huang2024.data.generate import random_datasets
from theorems.huang2024.dynamics import continuation, kernels, torch_engine
from theorems.huang2024.dynamics.compact import compact, solve
from theorems.huang2024.dynamics.engine import SettingError, run
from theorems.huang2024.dynamics.jobs import Job
from theorems.huang2024.dynamics.literal import Transformer
from theorems.huang2024.dynamics.stage1 import Exact
from verify.max_margin import CycleError


def given(n, *samples):
    """A dataset of equally frequent samples: a sentence and a carrier of its label."""
    sentences, carriers = zip(*samples, strict=True)
    labels = tuple(n[x] for x in carriers)
    return Dataset(len(n), n, sentences, labels, normalised([1] * len(samples)))


CYCLE = (1, 2, 3, 4, 0)
FIVE_TOKENS = given(CYCLE, ((0, 2, 3, 4), 0), ((1, 4), 1))
DEGENERATE = given((1, 2, 3, 0), ((0, 1, 3), 0), ((2, 3), 2))
TWO_OPTIMAL = given((0, 0, 1), ((0, 0, 1, 2), 0))
CONFUSED = given((1, 2, 3, 0), ((0, 1, 3), 0), ((1, 2, 3), 1))
COUNTS = given((1, 2, 3, 0), ((0, 2, 2, 3), 0), ((1, 3, 3, 3), 1))  # no Assumption 3
CYCLIC = given((1, 0), ((0, 0, 1), 0), ((0, 1), 0), ((1, 0, 1), 1))

MAPS = {"injective": True, "not injective": False}
RANDOM = {
    (name, kind): random_datasets(
        seed, 4, kind=kind, injective=injective, size=(3, 6), skew=1.0
    )
    for seed, (name, injective) in enumerate(MAPS.items())
    for kind in ("sentences", "prefixes")
}
DATA = {f"{name}, {kind} {i}": d for (name, kind), ds in RANDOM.items()
        for i, d in enumerate(ds)} | {
    "Example 1": EXAMPLE_1, "five tokens": FIVE_TOKENS, "two optimal": TWO_OPTIMAL,
    "confused": CONFUSED, "counts": COUNTS, "cyclic": CYCLIC,
}  # fmt: skip
INJECTIVE = [d for (n, _), ds in RANDOM.items() for d in ds if n == "injective"]


def solutions(datasets):
    """The exact solutions, None where the constraints have none."""
    found = []
    for dataset in datasets:
        try:
            found.append(solve(dataset))
        except CycleError:
            found.append(None)
    return found


def one(dataset, **options):
    defaults = {"delta": 10.0, "eta": 0.1, "solutions": solutions([dataset])}
    (track,) = run([dataset], **defaults | options)
    return track


def job(dataset, at, *, delta=10.0, eta=0.1, **options):
    data = compact(dataset, solve(dataset))
    return Job(data, {}, delta=delta, eta=eta, at=np.array(at), **options)


# ------------------------------------------------------------- against Algorithm 1


@pytest.mark.parametrize("name", DATA)
def test_the_engine_is_algorithm_1(name):
    dataset, eta_0, T, eta, steps = DATA[name], 0.3, 30, 0.1, 60
    model = Transformer(
        dataset, dataset.size + 2, torch.Generator().manual_seed(len(name))
    )
    model.stage_1(eta_0, T)
    delta = Exact(dataset.size, eta_0, T).margin
    literal = [W.numpy() for W in model.stage_2(eta, steps)]
    track = one(dataset, delta=delta, eta=eta, at=range(1, steps + 1))
    # Automatic differentiation rounds 1 - T_y and phi_minus, relatively by u over them;
    # the gradient's direction inherits that, once per step.
    size = np.exp(track.log_gradient)
    allowed = 1e3 * np.finfo(float).eps * np.cumsum(1 / size)
    error = [np.abs(W - track.matrix(k)).max() for k, W in enumerate(literal)]
    assert (np.array(error) <= allowed).all()
    assert allowed[-1] < 1e-6 * track.norm[-1] or name == "cyclic"
    L = float(model.loss(model.W_kq))
    least = math.log1p((dataset.size - 1) * math.exp(-delta))
    assert track.excess[-1] + least == pytest.approx(L, rel=1e-12)


def test_the_attention_is_the_models():
    track = one(EXAMPLE_1, at=[25])
    W = track.matrix()
    for i, sentence in enumerate(EXAMPLE_1.sentences):
        scores = np.exp(W[list(sentence), sentence[-1]])
        carried = scores[list(EXAMPLE_1.carriers(i))].sum() / scores.sum()
        assert track.phi_plus[-1, i] == pytest.approx(carried, rel=1e-14)
        assert np.exp(track.log_phi_minus[-1, i]) == pytest.approx(
            1 - carried, abs=1e-15
        )
    assert track.phi_plus_min[-1] == track.phi_plus[-1].min()


@pytest.mark.parametrize("dataset", [FIVE_TOKENS, TWO_OPTIMAL, COUNTS])
def test_plain_descent_and_another_start(dataset):
    start = {(0, dataset.sentences[0][-1]): 0.5, (1, 1): -0.25}
    model = Transformer(dataset, dataset.size, torch.Generator().manual_seed(0))
    model.stage_1(0.3, 30)
    W = torch.zeros(dataset.size, dataset.size, dtype=torch.float64)
    for pair, score in start.items():
        W[pair] = score
    W = (model.E @ W @ model.E.T).requires_grad_()
    for _ in range(20):
        (gradient,) = torch.autograd.grad(model.loss(W), W)
        W = (W - 0.5 * gradient).detach().requires_grad_()
    delta = Exact(dataset.size, 0.3, 30).margin
    track = one(dataset, delta=delta, eta=0.5, at=[20], start=[start], plain=True)
    expected = (model.E.T @ W @ model.E).detach().numpy()
    assert np.abs(track.matrix() - expected).max() < 1e-13
    assert track.norm[-1] == pytest.approx(np.linalg.norm(expected))


def test_the_descent_is_what_the_step_makes():
    track = one(EXAMPLE_1, at=[10, 11], eta=0.1)
    moved = track.weights[1] - track.weights[0]
    assert moved == pytest.approx(0.1 * track.descent[0], abs=1e-15)
    assert np.linalg.norm(track.descent, axis=1) == pytest.approx([1, 1])
    cosine = track.weights @ track.direction / track.norm
    assert 1 - cosine == pytest.approx(track.gap, rel=1e-10)


# --------------------------------------------------------------- the four facts


@pytest.mark.parametrize("dataset", [*INJECTIVE[:4], FIVE_TOKENS, DEGENERATE, CONFUSED])
def test_merging_the_edges_is_invisible(dataset):
    at = [1000, 20_000]
    merged, literal = job(dataset, at), job(dataset, at)
    assert merged.problem.law.mergeable
    assert merged.problem.edges["drift"].min() == 0  # exactly, on a tight edge
    law = literal.problem.law._replace(mergeable=False)
    literal.problem = literal.problem._replace(law=law)
    for each in (merged, literal):
        each.begin(directly=True)
    a, b = merged.track(), literal.track()
    assert a.weights == pytest.approx(b.weights, rel=1e-11, abs=1e-11)
    assert a.log_excess == pytest.approx(b.log_excess, rel=1e-12)
    if b.gap[-1] > 1e-20:  # else aligned from the start, to rounding
        assert a.gap == pytest.approx(b.gap, rel=1e-9)


def test_the_late_phase_is_left_when_it_ceases_to_hold():
    # eta beyond all bounds: single steps undo the order that made the phase late
    track = one(FIVE_TOKENS, eta=300.0, at=[1, 2, 3, 50, 51], directly=True)
    literal = job(FIVE_TOKENS, track.times, eta=300.0)
    law = literal.problem.law._replace(mergeable=False)
    literal.problem = literal.problem._replace(law=law)
    literal.begin(directly=True)
    assert track.weights == pytest.approx(literal.track().weights, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("dataset", [*INJECTIVE[:2], FIVE_TOKENS, TWO_OPTIMAL])
def test_the_frame_is_a_change_of_variables(dataset):
    at, tracks = [10, 1000, 10_000], []
    count = len(compact(dataset, None).pairs)
    rng = np.random.default_rng(0)
    for frame in (None, np.zeros(count), rng.standard_normal(count)):
        each = job(dataset, at, frame=frame)
        each.begin(directly=True)
        tracks.append(each.track())
    own, still, odd = tracks
    for other in (still, odd):
        assert own.weights == pytest.approx(other.weights, rel=1e-9, abs=1e-9)
        assert own.gap == pytest.approx(other.gap, rel=1e-6, abs=1e-25)


@pytest.mark.parametrize("dataset", [FIVE_TOKENS, DEGENERATE, INJECTIVE[1]])
@pytest.mark.parametrize("eta", [0.1, 0.8])
def test_the_flow_is_the_recursion(dataset, eta):
    at = [100_000, 120_000, 150_000]
    flow, steps = (one(dataset, eta=eta, at=at, directly=d) for d in (False, True))
    assert flow.continued
    assert not steps.continued
    assert flow.gap == pytest.approx(steps.gap, rel=1e-8)
    assert flow.log_excess == pytest.approx(steps.log_excess, rel=1e-11)


def test_the_flow_refuses_what_it_cannot_see():
    late = job(FIVE_TOKENS, [5000], eta=2.2)  # 2 ||W*|| = 2.16
    late.begin(directly=True)
    with pytest.raises(continuation.NotContinuedError, match=r"2 \|\|W\*\|\|"):
        continuation.continued(late.problem, 5000, np.array([6000.0]))
    early = job(FIVE_TOKENS, [10])
    early.begin()
    with pytest.raises(continuation.NotContinuedError, match="not begun"):
        continuation.continued(early.problem, 10, np.array([6000.0]))
    framed = job(FIVE_TOKENS, [10], frame=np.zeros(5))
    with pytest.raises(continuation.NotContinuedError, match="moving frame"):
        continuation.continued(framed.problem, 10, np.array([6000.0]))
    confused = job(CONFUSED, [10])
    with pytest.raises(continuation.NotContinuedError, match="confused"):
        continuation.continued(confused.problem, 10, np.array([6000.0]))
    track = one(FIVE_TOKENS, eta=2.2, at=[101_000])
    assert not track.continued  # but stepped


def test_the_flow_is_compared_with_direct_steps(monkeypatch):
    monkeypatch.setattr(continuation, "RTOL", 1e-2)  # a sloppy flow
    monkeypatch.setattr(continuation, "AGREEMENT", 1e-11)
    track = one(DEGENERATE, at=[100_000, 101_000])
    monkeypatch.undo()
    assert not track.continued
    assert track.gap == pytest.approx(
        one(DEGENERATE, at=[100_000, 101_000], directly=True).gap, rel=1e-15
    )


# ------------------------------------------------------------------------ torch


@pytest.fixture
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("name", MAPS)
def test_torch_makes_the_same_steps(name, one_thread, monkeypatch):
    calls, merged = [], torch_engine.merged
    monkeypatch.setattr(
        torch_engine, "merged", lambda *each: calls.append(1) or merged(*each)
    )
    datasets = [d for (n, _), ds in RANDOM.items() for d in ds if n == name]
    datasets += [EXAMPLE_1, FIVE_TOKENS] if name == "injective" else [TWO_OPTIMAL]
    exact, at = solutions(datasets), [1, 20, 400]
    eta = np.linspace(0.5, 1.0, len(datasets))
    ours = run(datasets, delta=12.0, eta=eta, at=at, solutions=exact)
    data = [compact(*each) for each in zip(datasets, exact, strict=True)]
    theirs = torch_engine.run(data, delta=12.0, eta=eta, at=at)
    for a, b in zip(ours, theirs, strict=True):
        assert a.weights == pytest.approx(b.weights, rel=1e-12, abs=1e-12)
        assert a.norm == pytest.approx(b.norm, rel=1e-13)
        assert a.gap == pytest.approx(b.gap, rel=1e-11, abs=1e-25)
    assert (len(calls) > torch_engine.CHUNK) == (name == "injective")  # F2, or never


def test_torch_needs_a_direction():
    nothing = from_texts(2, (1, 0), [(0, 1), (1, 0)])
    with pytest.raises(ValueError, match="without a W"):
        torch_engine.run([compact(nothing, {})], delta=1.0, eta=0.1, at=[1])


# --------------------------------------------------------------------- the laws


def test_the_gap_of_nondegenerate_data_falls_like_t_to_the_minus_two():
    track = one(FIVE_TOKENS, at=[10**4, 10**5, 10**6, 10**8])
    slopes = np.diff(np.log(track.gap)) / np.diff(np.log(track.times))
    # corrections are relative O(1/t): none visible beyond a thousandth
    assert slopes == pytest.approx([-2, -2, -2], abs=1e-3)
    assert track.gap[2] == pytest.approx(6.337e-11, rel=1e-3)


def test_the_gap_of_degenerate_data_falls_like_log_squared_over_t_squared():
    assert not all(m.strictly_complementary for m in solve(DEGENERATE).values())
    track = one(DEGENERATE, at=[10**k for k in range(5, 10)])
    grown = np.diff(np.sqrt(track.gap) * track.times)  # per decade: constant
    assert grown == pytest.approx(np.full(4, grown[-1]), rel=2e-4)
    slopes = np.diff(np.log10(track.gap))
    assert (slopes > -1.9).all()  # what a fit of a power would call it


def test_the_direction_is_not_the_closed_form():
    """Proposition 2's formula on the five tokens, where it is feasible, not minimal."""
    closed = {0: "3/5", 1: "3/5", 2: "-2/5", 3: "-2/5", 4: "-2/5"}
    scores = {x: Fraction(w) for x, w in closed.items()}
    margin = SimpleNamespace(scores=scores, norm_squared=Fraction(6, 5))
    track = one(FIVE_TOKENS, solutions=[{4: margin}], at=[10**6])
    # the angle to W* is of order 1/t, and adds to the angle between the two
    between = 1 - math.sqrt(35) / 6
    angle = math.sqrt(2 * one(FIVE_TOKENS, at=[10**6]).gap[0])
    assert abs(track.gap[0] - between) <= angle * math.sqrt(2 * between)


def test_two_optimal_tokens_converge_elsewhere():
    track = one(TWO_OPTIMAL, at=[10**5, 10**6])
    assert track.gap == pytest.approx([0.13393, 0.13397], abs=1e-5)
    a, b, q = track.matrix()[:, 2]
    assert (a, q) == (pytest.approx(7.07e4, rel=1e-3), pytest.approx(-7.07e4, rel=1e-3))
    assert b == pytest.approx(0.7143, abs=1e-4)  # ln 2 in the limit of small steps


# ----------------------------------------------------------- names for the odd cases


def test_data_without_constraint_stall():
    nothing = from_texts(2, (1, 0), [(0, 1), (1, 0)])
    track = one(nothing, at=[0, 5])
    assert track.stalled
    assert track.norm_star == 0
    assert np.isnan(track.gap).all()
    assert (track.norm == 0).all()
    assert (track.phi_plus_min == 1).all()
    assert np.isneginf(track.log_excess).all()


def test_a_label_that_no_token_carries_stalls():
    dataset = Dataset(3, (0, 0, 1), ((0, 1),), (2,), (Fraction(1),))
    track = one(dataset, at=[1, 3], solutions=[{}])
    assert track.stalled
    assert (track.phi_plus_min == 0).all()
    assert np.isneginf(track.log_gradient).all()
    # logits (Delta, 0, 0) against the label's 0
    least = math.log1p(2 * math.exp(-10))
    loss = math.log(2 + math.exp(10.0))
    assert track.excess == pytest.approx([loss - least] * 2, rel=1e-14)


def test_a_cycle_has_no_direction():
    with pytest.raises(CycleError):
        run([CYCLIC], delta=5.0, eta=0.2, at=[1])
    track = one(CYCLIC, delta=5.0, eta=0.2, at=[100, 1000])
    assert np.isnan(track.gap).all()
    assert (track.norm < 2).all()
    assert not track.stalled


def test_no_gradient_is_too_small():
    """Delta in the thousands, phi_minus of e^-700 and less: all finite."""
    track = one(FIVE_TOKENS, delta=5000.0, at=[0, 1, 100_000])
    for values in (track.log_excess, track.log_gradient, track.weights):
        assert np.isfinite(values).all()
    assert track.log_phi_minus.max(axis=1)[-1] < -3000
    assert (np.diff(track.log_excess) < 0).all()
    two = one(TWO_OPTIMAL, at=[50_000, 100_000])
    assert np.isfinite(two.log_excess).all()
    assert two.log_phi_minus[-1].max() < -3000


def test_results_do_not_depend_on_threads_or_company():
    datasets = INJECTIVE[:3]
    together = run(datasets, delta=10.0, eta=0.1, at=[5, 500], threads=2)
    for dataset, track in zip(datasets, together, strict=True):
        alone = one(dataset, at=[500])
        assert (alone.weights[-1] == track.weights[-1]).all()
        assert alone.gap[-1] == track.gap[-1]


@pytest.mark.parametrize(
    "bad",
    [
        {"at": []}, {"at": [2, 2]}, {"at": [-1]}, {"eta": 0.0}, {"delta": math.inf},
        {"solutions": []}, {"start": [{}, {}]},
    ],
)  # fmt: skip
def test_settings_are_checked(bad):
    good = {"at": [1], "eta": 0.1, "delta": 1.0}
    with pytest.raises(SettingError):
        run([EXAMPLE_1], **good | bad)


def test_softplus_at_its_limits():
    assert kernels._softplus(-np.inf) == 0
    assert kernels._softplus(np.inf) == np.inf
    assert kernels._softplus(1e-300) == pytest.approx(math.log(2))
