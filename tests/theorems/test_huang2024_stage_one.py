"""Stage 1 of huang2024: signs, closed form and bounds, against independent numbers."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp

from theorems.huang2024 import (
    corollary_1_margin,
    lemma_1_alignment,
    lemma_2_overlap,
    lemma_3_equal_scores,
    proposition_1_feed_forward,
    proposition_1_sharp,
    proposition_1_weighted,
)
from theorems.huang2024.stage_one import (
    closed,
    decide,
    observed,
    paths,
    skewed,
    trained,
)
from theorems.huang2024.stage_one.notation import S, V, by_norm, eta, t
from theorems.huang2024.stage_one.signs import nonnegative, rising
from verify import Cause, Undecided, Verdict, profiles, recheck
from verify.symbolic import formula

x, y = sp.symbols("x y")
RNG = np.random.default_rng(7)

CLAIMS = [
    lemma_1_alignment.CLAIM,
    lemma_1_alignment.UNDER_WEIGHTS,
    lemma_2_overlap.CLAIM,
    lemma_2_overlap.UNDER_WEIGHTS,
    lemma_3_equal_scores.CLAIM,
    corollary_1_margin.CLAIM,
    proposition_1_feed_forward.DIRECTION,
    proposition_1_feed_forward.NORM,
    proposition_1_feed_forward.LOSS,
    proposition_1_sharp.SOLUTION,
    proposition_1_sharp.SHARP,
    proposition_1_weighted.CLAIM,
]


# ---------------------------------------------------------------- signs


@pytest.mark.parametrize(
    ("expr", "low", "proved"),
    [
        (x**3 - 3 * x + 2, {x: 1}, True),
        (x**2 - 3, {x: 1}, False),
        (-x, {x: 0}, False),
        (-x, {x: 1}, False),
        (sp.Integer(0), {x: 0}, True),
        (sp.log(x) * x, {x: 1}, True),
        (sp.log(x), {x: 0}, False),  # negative below 1
        (sp.log(x / 2), {x: 1}, False),
        (sp.exp(x) - 1, {x: 0}, True),
        (sp.exp(-x) - 1, {x: 0}, False),
        (1 - sp.exp(-x), {x: 0}, False),  # true, beyond the method
        (sp.sqrt(x) - 1, {x: 1}, True),
        (sp.sqrt(x) - 1, {x: 0}, False),
        (1 / x - 1, {x: 1}, False),
        (x / (1 + y), {x: 0, y: 0}, True),
        (x / (y - 1), {x: 0, y: 0}, False),
        (x + y, {x: 0}, False),  # nothing is known of y
    ],
)
def test_signs_are_proved_or_left_open(expr, low, proved):
    assert nonnegative(expr, low) is proved


def test_what_is_proved_is_true_at_random_numbers():
    rng = np.random.default_rng(1)
    proved = 0
    for _ in range(300):
        a, b, c, d = (int(k) for k in rng.integers(-3, 4, 4))
        expr = a * x**2 + b * x * y + c * sp.log(1 + x) + d * sp.sqrt(1 + y)
        if nonnegative(expr, {x: 0, y: 1}):
            proved += 1
            values = sp.lambdify((x, y), expr)(
                rng.exponential(5, 50), 1 + rng.exponential(5, 50)
            )
            assert np.min(values) >= 0
    assert proved > 10


def test_rising_needs_value_and_derivative():
    assert rising(x - sp.log(1 + x), x, {x: 0})
    assert not rising(x - 1, x, {x: 0})
    assert not rising(1 - x, x, {x: 0})


# ---------------------------------------------------------------- proofs


def test_a_false_step_is_not_proved():
    with pytest.raises(Undecided) as undecided:
        closed.equal("false", V, V + 1)
    assert undecided.value.cause is Cause.NO_PROOF
    with pytest.raises(Undecided):
        closed.positive("false", -V, {V: 2})


def test_by_norm_replaces_the_size():
    assert by_norm(sp.sqrt(V - 1)) == S
    assert sp.simplify(by_norm(V / S) - (S**2 + 1) / S) == 0


def margins(log_weights, step, steps):
    """The margins of single tokens, by 60-digit arithmetic and plain loops."""
    with mpmath.workdps(60):
        size = len(log_weights)
        weights = [mpmath.exp(w) for w in log_weights]
        h = mpmath.mpf(step) * mpmath.sqrt(mpmath.mpf(size) / (size - 1))
        m = [mpmath.mpf(0)] * size
        history = [m]
        for _ in range(steps):
            g = [
                w * size / (mpmath.exp(k) + size - 1)
                for w, k in zip(weights, m, strict=True)
            ]
            length = mpmath.sqrt(sum(k**2 for k in g))
            m = [k + h * s / length for k, s in zip(m, g, strict=True)]
            history.append(m)
        return history


def gap_of(m):
    with mpmath.workdps(60):
        total, square = sum(m), sum(k**2 for k in m)
        return 1 - total / mpmath.sqrt(len(m) * square)


@pytest.mark.parametrize(
    "logs", [(0.0, -1.0), (0.0, -3.5, -0.25, -40.0), (0.0, -700.0)]
)
def test_paths_agree_with_sixty_digits_within_their_slack(logs):
    step, steps = 0.4, 400
    setting = paths.Classes((1,) * len(logs), logs, step)
    seen = paths.observe([setting], steps)
    exact = margins(logs, step, steps)
    for k, now in enumerate(seen["t"].astype(int)):
        m = [float(one) for one in exact[now]]
        slack = seen["slack"][k]
        allowed = slack * max(m)
        assert abs(seen["low"][k] - min(m)) <= allowed
        assert abs(seen["high"][k] - max(m)) <= allowed
        if now:
            gap = float(gap_of(exact[now]))
            allowed = 2 * np.sqrt(gap) * slack + slack**2
            assert abs(seen["gap"][k] - gap) <= allowed


def test_literal_matrices_follow_the_margins():
    rng = np.random.default_rng(3)
    for _ in range(5):
        setting = paths.draw(rng, equal=False)
        size = len(setting.successor)
        path = paths.follow(setting, 30)
        logs = np.log(setting.weights)
        exact = margins(list(logs), setting.eta, 30)
        for now, W in enumerate(path):
            own = W[np.array(setting.successor), np.arange(size)]
            found = own - (W.sum(axis=0) - own) / (size - 1)
            wanted = [float(one) for one in exact[now]]
            np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-13)


def test_the_bound_of_the_spread_and_of_the_gap_hold_and_are_nearly_reached():
    settings = paths.weighted_settings(np.random.default_rng(0), 100)
    seen = observed.where(columns := paths.observe(settings, 2_000), columns["t"] >= 2)
    size, step = seen["V"], seen["eta_0"] * np.sqrt(seen["V"] / (seen["V"] - 1))
    most = np.log(size) + seen["log_rho"] + step
    used = (seen["high"] - seen["low"]) / most
    assert 0.99 < used.max() <= 1
    sharp = size * (size - 1) * most**2 / (8 * (seen["eta_0"] * seen["t"]) ** 2)
    assert np.all(seen["gap"] <= sharp)
    proved = observed.value(skewed.RATE, seen)
    assert np.all(seen["gap"] <= proved)


def test_the_gap_falls_like_the_inverse_square():
    setting = paths.Classes((1, 1, 1), (0.0, -1.0, -2.0), 0.3)
    seen = paths.observe([setting], 20_000)
    last = seen["t"] >= 2_000
    slope = np.polyfit(np.log(seen["t"][last]), np.log(seen["gap"][last]), 1)[0]
    assert slope == pytest.approx(-2, abs=0.01)


# ---------------------------------------------------------------- counterexamples


@pytest.mark.parametrize("instance", skewed.SKEWED[:2])
def test_bounds_of_skewed_paths_hold_on_exact_paths(instance):
    size, heavy = instance["V"], instance["k"]
    step, steps, ratio = float(instance["eta_0"]), instance["t"], instance["rho"]
    logs = [0.0] * heavy + [-float(mpmath.log(ratio))] * (size - heavy)
    m = margins(logs, step, steps)[-1]
    numbers = {name: float(value) for name, value in instance.items()}

    def at(expr):
        return float(expr.subs({s: numbers[s.name] for s in expr.free_symbols}).evalf())

    assert float(gap_of(m)) >= at(skewed.GAP_LEAST)
    assert float(min(m)) <= at(skewed.LIGHT)
    if steps == 2:
        norm = np.sqrt((1 - 1 / size) * sum(float(one) ** 2 for one in m))
        assert norm == pytest.approx(at(skewed.TWO_STEPS), rel=1e-12)
        assert float(gap_of(m)) == pytest.approx(at(skewed.GAP_AT_TWO), rel=1e-9)


@pytest.mark.parametrize("instance", skewed.SKEWED)
def test_skewed_instances_take_small_steps(instance):
    assert decide.small_step(instance)
    assert instance["t"] >= 2


def test_an_open_relation_is_neither_proved_nor_refuted():
    outcome = skewed.refuted_or_open(("false", sp.Integer(1), ">", sp.Integer(2)))
    assert outcome.verdict is Verdict.INCONCLUSIVE
    bound = decide.Relation("beyond the method", sp.Integer(1), sp.exp(-t * eta))
    outcome = decide.everywhere([bound], {t: 0, eta: 0}, decide.grid(), ())
    assert outcome.verdict is Verdict.INCONCLUSIVE


# ---------------------------------------------------------------- trained


def test_autograd_reaches_the_closed_form():
    seen = trained.train(8, 20, 0, "cpu")
    time = seen["t"] * seen["eta_0"]
    assert np.all(np.abs(seen["norm"] - time) <= seen["slack"] * time)
    margin = time / np.sqrt(seen["V"] - 1)
    assert np.all(np.abs(seen["high"] - margin) <= seen["slack"] * margin)


# ---------------------------------------------------------------- claims


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_claims_have_mutants_and_say_what_they_assume(claim):
    assert len(claim.mutants) >= 3
    assert claim.assumes


def test_every_smaller_profile_reaches_the_threshold_of_corollary_1():
    budget = profiles.profile("smoke").pick(smoke=15_000, default=30_000, full=200_000)
    record = formula(
        corollary_1_margin.CLAIM.threshold.subs(S, sp.sqrt(V - 1)),
        "<",
        sp.Symbol("T", positive=True),
        {"V": 2, "eta_0": Fraction(1, 2), "T": budget},
        "reached",
    )
    assert recheck.decide(record).valid
