"""Orders of signal and noise: reading claims, proved constants, and verdicts."""

import numpy as np
import pytest
import sympy as sp

from theorems.collins2024.bias import (
    cap,
    constants,
    kink,
    observed,
    orders,
    proof,
    rising,
    sketch,
    terms,
    window,
)
from theorems.collins2024.bias.terms import AFFINE, LAMBDA, LIPSCHITZ, NOISE, RELU
from theorems.collins2024.bounds.notation import d, m, n, w
from verify import Claim, Mutant, Verdict
from verify.recheck import decide as recheck

PROOFS = (
    proof.noise,
    proof.affine,
    proof.lipschitz,
    proof.relu,
    proof.nearest_token,
    window.upper,
    cap.balance,
)


def claim(domain, **parameters):
    from theorems.collins2024 import PAPER

    return Claim(
        id="collins2024/lemma-0",
        says="an order",
        source=PAPER.at("Lemma 0"),
        domain=domain,
        parameters=parameters,
        mutants=(Mutant("none", why="a claim has one", domain="another"),),
    )


@pytest.mark.parametrize("steps", PROOFS, ids=lambda one: one.__name__)
def test_every_step_is_proved(steps):
    assert len(steps()) > 5


def test_orders_are_read_term_by_term():
    first, second = terms.split(3 * w**-2 + w ** (d / 2 - 1) / n)
    assert {(x.power, x.samples) for x in (first, second)} == {
        (-2, 0),
        (d / 2 - 1, -1),
    }
    (power,) = terms.split(LAMBDA ** (-2 / (d + 2)))
    assert sp.simplify(power.power + 2 / (d + 2)) == 0


def test_an_order_that_is_no_power_is_refused():
    with pytest.raises(ValueError, match="no product of powers"):
        terms.split(sp.log(w) / n)


def test_constants_are_positive_and_ordered():
    for name in (AFFINE, RELU, NOISE):
        known = terms.quantity(name)
        for size in (2, 3, 6):
            low, high = (
                float(side.subs(d, size))
                for side in (terms.least(name), terms.most(name))
            )
            assert 0 < low < high, known.name


@pytest.mark.parametrize("name", [AFFINE, RELU, NOISE, LIPSCHITZ])
def test_exact_losses_lie_between_the_bounds(name):
    make = observed.smooth if name in {AFFINE, NOISE} else observed.kinked
    seen = make(5, 10)
    known, values = terms.quantity(name), seen.values[name]
    low, high = (
        observed.numbers(sum(x.factor * w**x.power * n**x.samples for x in side), seen)
        for side in (known.lower, known.upper)
    )
    assert np.all(values <= high)
    if name != LIPSCHITZ:  # whose lower bound is that of ReLU tasks, beyond n too
        assert np.all(low <= values)


def test_a_wrong_power_is_refuted_with_a_family_that_rechecks():
    asserted = claim(NOISE, lower=w ** (d / 2) / n, least=terms.least(NOISE))
    outcome = orders.decide(asserted)
    assert outcome.verdict is Verdict.REFUTED
    assert recheck(outcome.witness).valid


def test_a_constant_that_is_not_the_proved_one_is_refused():
    asserted = claim(NOISE, upper=w**m / n, most=sp.S.One)
    with pytest.raises(Exception, match="not proved"):
        orders.decide(asserted)


def test_the_true_order_holds():
    asserted = claim(NOISE, upper=w**m / n, most=terms.most(NOISE))
    assert orders.decide(asserted).verdict is Verdict.HOLDS


def test_relu_share_at_zero():
    assert kink.uniform_share(3) == sp.Rational(5, 8)
    assert sp.simplify(kink.uniform_share(2) - (1 - 4 / sp.pi**2)) == 0


def test_cap_agrees_with_an_integral():
    from scipy import integrate

    for size in (2, 4, 5):
        h, power = 1 / (2 * 3.0), (size - 3) / 2

        def moment(k, h=h, power=power):  # of u = r^2, which tames u^(-1/2)
            def density(r):
                return 2 * r ** (2 * power + 1 + 2 * k) * (2 - r * r) ** power

            return integrate.quad(density, 0, h**0.5)[0]

        over, under = moment(1), moment(0)
        mean = over / under
        mass = float(constants.DENSITY.subs(d, size)) * under
        bias, noise = cap.exact(size, 3.0)
        assert bias == pytest.approx(mean**2 / size, rel=1e-8)
        assert noise == pytest.approx(1 / mass, rel=1e-8)


def test_best_cap_at_three_dimensions():
    # d = 3: bias 1/(48 w^2), noise 4 w / Lambda
    assert sketch.best(3, 1e6) == pytest.approx((1e6 / 96) ** (1 / 3), rel=1e-6)


def test_edge_is_where_the_range_begins():
    tokens = observed.edge(3, 50.0)
    least = 45 * 3**0.5 * 25**1.5
    assert tokens / np.log(tokens) == pytest.approx(least, rel=1e-8)


def test_slope_of_two_tokens():
    assert len(rising.steps(rising.SLOPE)) == 4
    with pytest.raises(Exception, match="not proved"):
        rising.steps(rising.WRONG)
