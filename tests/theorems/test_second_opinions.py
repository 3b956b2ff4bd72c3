"""Self-checks of the papers: they agree, and a fault in either way is found."""

from fractions import Fraction

import pytest

from theorems.collins2024 import loss
from theorems.collins2024 import second_opinions as collins
from theorems.huang2024 import second_opinions as huang
from theorems.huang2024.dynamics import engine
from theorems.ren2024 import second_opinions as ren
from theorems.ren2024.duals import decide, floats
from verify.catalog import self_checks_of
from verify.selfcheck_run import judge

ALL = {c.name: c for m in (collins, huang, ren) for c in self_checks_of(m)}


def wrong(name):
    got = judge(ALL[name])
    assert got.failed, (got.measured, got.bound)
    return got.reason


@pytest.mark.parametrize("name", ALL)
def test_the_ways_agree(name):
    got = judge(ALL[name])
    assert got.verdict == "AGREE", got.reason


def test_names():
    assert sorted(ALL) == [
        "collins2024/quadrature-and-balls",
        "collins2024/quadrature-and-closed-form",
        "collins2024/quadrature-and-sampling",
        "huang2024/recursion-and-autograd",
        "ren2024/fractions-and-autograd",
    ]


@pytest.mark.parametrize("part", ["value", "slope"])
def test_a_wrong_quadrature_of_the_loss_is_found(monkeypatch, part):
    right = loss.evaluate

    def off(*given, **options):
        found = right(*given, **options)
        # a slope near a minimiser is small: it is off by 1e-12 of the loss
        return found._replace(**{part: getattr(found, part) + 1e-12 * found.value})

    monkeypatch.setattr(loss, "evaluate", off)
    word = {"value": "loss", "slope": "slope"}[part]
    reason = wrong("collins2024/quadrature-and-balls")
    assert reason.startswith("3 of 6")
    assert word in reason


def test_wrong_moments_are_found(monkeypatch):
    right = loss.moments
    monkeypatch.setattr(
        loss, "moments", lambda *x: right(*x)._replace(V=right(*x).V * (1 + 1e-12))
    )
    assert wrong("collins2024/quadrature-and-closed-form").startswith("5 of 5")


def test_moments_off_by_a_twentieth_are_found_by_sampling(monkeypatch):
    right = loss.moments
    monkeypatch.setattr(
        loss, "moments", lambda *x: right(*x)._replace(E=right(*x).E * 1.05)
    )
    assert "E_1" in wrong("collins2024/quadrature-and-sampling")


def test_a_wrong_step_is_found(monkeypatch):
    right = engine.run
    monkeypatch.setattr(
        engine, "run", lambda *x, eta, **more: right(*x, eta=eta * (1 + 1e-9), **more)
    )
    assert wrong("huang2024/recursion-and-autograd").startswith("6 of 6")


def test_a_wrong_temperature_is_found(monkeypatch):
    right = engine.run
    monkeypatch.setattr(
        engine, "run", lambda *x, delta, **more: right(*x, delta=delta + 1e-8, **more)
    )
    assert "dataset" in wrong("huang2024/recursion-and-autograd")


def test_a_wrong_dual_model_is_found(monkeypatch):
    right = decide.prediction
    off = Fraction(1, 10**9)
    monkeypatch.setattr(decide, "prediction", lambda *x: [y + off for y in right(*x)])
    assert wrong("ren2024/fractions-and-autograd").startswith("6 of 6")


def test_a_wrong_training_step_is_found(monkeypatch):
    right = floats.trained
    monkeypatch.setattr(
        floats, "trained", lambda claim, arrays: right(claim, arrays) * (1 + 1e-12)
    )
    assert wrong("ren2024/fractions-and-autograd").startswith("2 of 6")


def test_other_values_are_found(monkeypatch):
    right = floats.trained

    def off(claim, arrays):
        return right(claim, arrays | {"V_D": arrays["V_D"] * (1 + 1e-11)})

    monkeypatch.setattr(floats, "trained", off)
    assert "autograd" in wrong("ren2024/fractions-and-autograd")
