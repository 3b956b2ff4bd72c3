"""Self-checks: the vocabulary, the record, and the teeth of the engine's own."""

import dataclasses
import math
from fractions import Fraction

import pytest

from verify import ClaimError, Compared, compare, self_check
from verify.catalog import Catalog, CatalogError
from verify.recheck import result_digest
from verify.selfcheck import SelfCheck
from verify.selfcheck_engine import CHECKS
from verify.selfcheck_run import declared, judge
from verify.trouble import CannotRun

ENGINE = {check.name.partition("/")[2]: check for check in CHECKS}


def made(function, **options):
    return SelfCheck("toy/one", "m", "says", "why", **options, function=function)


def judged(*differences, bound=1.0):
    return judge(made(lambda: [Compared(f"x{d}", d, bound) for d in differences]))


# ------------------------------------------------------------------ one comparison


def test_fractions_are_compared_exactly():
    third = Fraction(1, 3)
    assert compare("x", third, Fraction(2, 6), 0).agree
    for power in (30, 400):  # the latter underflows as a double
        assert not compare("x", third, third + Fraction(1, 10**power), 0).agree


@pytest.mark.parametrize("bound", [math.inf, math.nan, -1.0])
def test_a_bound_that_allows_everything_is_none(bound):
    with pytest.raises(ValueError, match="derive a finite one"):
        Compared("x", 0.0, bound)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_never_agrees(value):
    got = compare("x", value, value, 1.0)
    assert not got.agree
    assert got.strain == math.inf


# ----------------------------------------------------------------------- one check


def test_the_record_is_of_the_comparison_nearest_to_its_bound():
    got = judged(0.1, 0.7, 0.3)
    assert (got.verdict, got.measured, got.bound, got.n) == ("AGREE", 0.7, 1.0, 3)
    assert got.reason == "3 comparisons; nearest to its bound: x0.7"
    assert not got.failed


def test_one_difference_too_large_is_enough():
    got = judged(0.1, 1.5, 2.5)
    assert got.failed
    assert (got.measured, got.bound) == (2.5, 1.0)
    assert got.reason == (
        "2 of 3 comparisons: x2.5: 2.5 apart, 1 explained; x1.5: 1.5 apart, 1 explained"
    )


def test_nan_is_recorded_as_nothing_measured():
    got = judged(0.1, math.nan)
    assert got.failed
    assert got.measured is None
    assert "nan apart" in got.reason


@pytest.mark.parametrize("result", [[], [1.0], None, [True]])
def test_comparing_nothing_is_no_agreement(result):
    got = judge(made(lambda: result))
    assert got.failed
    assert got.reason.startswith("TypeError")


def test_an_exception_on_the_way_is_no_agreement():
    def stops():
        yield Compared("x", 0.0, 1.0)
        raise ArithmeticError("no\nconvergence")

    got = judge(made(stops))
    assert (got.verdict, got.reason) == ("DISAGREE", "ArithmeticError: no convergence")


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt, CannotRun])
def test_trouble_of_the_machine_passes_through(error):
    def troubled():
        raise error

    with pytest.raises(error):
        judge(made(troubled))


def test_a_missing_package_is_said():
    check = made(list, needs_module="no_such_package")
    assert declared(check).verdict == "NOT_RUN"
    assert declared(check).reason == "package no_such_package is not installed"
    assert declared(made(list)).reason == "not run"


def test_declaration():
    @self_check(says="s", why="w")
    def two_ways():
        yield Compared("x", 0.0, 0.0)

    assert two_ways.name == two_ways.owner + "/two-ways" == "engine/two-ways"
    assert judge(two_ways).verdict == "AGREE"
    assert [*two_ways()] == [Compared("x", 0.0, 0.0)]
    with pytest.raises(ClaimError, match="how its bounds are derived"):
        self_check(says="s", why="")(list)


def test_names_are_unique():
    catalog = Catalog()
    catalog.add_self_check(made(list))
    with pytest.raises(CatalogError, match="two self-checks are called 'toy/one'"):
        catalog.add_self_check(made(list))


# -------------------------------------------------------------------- in the report


def digest(*records):
    report = {"run": {}, "claims": []}
    if records:
        report["self_checks"] = [r.model_dump(mode="json") for r in records]
    return result_digest(report)


def test_the_digest_has_results_and_no_times():
    record = judged(0.5)
    later = record.model_copy(update={"seconds": 99.0})
    assert digest(record) == digest(later)
    for change in ({"verdict": "NOT_RUN"}, {"measured": 0.25}, {"bound": 2.0}):
        assert digest(record.model_copy(update=change)) != digest(record)


def test_a_report_older_than_self_checks_keeps_its_digest():
    old = {"run": {}, "claims": [], "papers": []}
    assert result_digest(old) == result_digest(old | {"self_checks": []})


# ---------------------------------------------------------------- the engine's own


@pytest.mark.parametrize("name", ENGINE)
def test_the_instruments_agree(name):
    got = judge(ENGINE[name])
    assert got.verdict == "AGREE", got.reason
    assert got.n >= 4


def wrong(name):
    """The record, and its reason for the test's message."""
    got = judge(ENGINE[name])
    assert got.failed, (got.measured, got.bound)
    return got


def test_a_wrong_exact_solver_is_found(monkeypatch):
    from verify import max_margin

    right = max_margin.minimise

    def off(rows, bounds, **options):
        found = right(rows, bounds, **options)
        longer = tuple(x * Fraction(1001, 1000) for x in found.solution)
        norm = found.norm_squared * Fraction(1001, 1000) ** 2
        return dataclasses.replace(found, solution=longer, norm_squared=norm)

    monkeypatch.setattr(max_margin, "minimise", off)
    assert "SCIPY-DUAL" in wrong("exact-and-numerical-margins").reason
    assert wrong("exact-margins-and-closed-forms").reason.startswith("7 of 7")


def test_a_wrong_solver_is_found(monkeypatch):
    from verify.max_margin import solvers

    right = solvers.numerical

    def off(A, b, *, solver):
        found = right(A, b, solver=solver)
        return dataclasses.replace(found, x=found.x + 1e-3 * (solver == "OSQP"))

    monkeypatch.setattr(solvers, "numerical", off)
    reason = wrong("exact-and-numerical-margins").reason
    assert reason.startswith("3 of ")
    assert "OSQP" in reason


@pytest.mark.parametrize("off", ["1.000001", "-1"])
def test_a_wrong_gradient_is_found(monkeypatch, off):
    import sympy as sp

    from verify import symbolic

    right = symbolic.gradient
    monkeypatch.setattr(symbolic, "gradient", lambda f, W: sp.Float(off) * right(f, W))
    reason = wrong("gradients").reason
    assert "autograd" in reason
    assert "central differences" in reason


def test_a_wrong_loss_is_found_by_differences(monkeypatch):
    """Gradient and autograd agree on the right one."""
    from verify import selfcheck_engine

    right = selfcheck_engine._loss_and_slope

    def off():
        loss, slope = right()
        return (lambda x: loss(x) * (1 + 1e-6)), slope

    monkeypatch.setattr(selfcheck_engine, "_loss_and_slope", off)
    assert wrong("gradients").reason.startswith("2 of 4")


def test_a_wrong_quadrature_is_found(monkeypatch):
    from verify import recheck_deep

    right = recheck_deep._Calculator._integral
    monkeypatch.setattr(
        recheck_deep._Calculator,
        "_integral",
        lambda *given: right(*given) * (1 + 2**-40),
    )
    assert wrong("integrals").reason.startswith("4 of 4")


def test_a_wrong_enclosure_is_found(monkeypatch):
    from verify import recheck

    right = recheck._enclose
    monkeypatch.setattr(
        recheck,
        "_enclose",
        lambda op, x, bits: tuple(
            y * (1 + Fraction(1, 2**140)) for y in right(op, x, bits)
        ),
    )
    assert wrong("elementary-functions").reason.startswith("11 of 11")


def test_a_remainder_too_small_is_found(monkeypatch):
    from verify.certify import panels

    right = panels.interpolate

    def off(*given, **options):
        found = right(*given, **options)
        return dataclasses.replace(found, error=found.error / 1000)

    monkeypatch.setattr(panels, "interpolate", off)
    assert "value with" in wrong("interpolants").reason


@pytest.mark.parametrize("part", ["mean", "error"])
def test_a_wrong_interval_is_found(monkeypatch, part):
    from verify.fit import intervals

    right = intervals.mean_interval

    def off(values, level):
        found = right(values, level)
        nudged = getattr(found, part) * (1 + 1e-13)
        return dataclasses.replace(found, **{part: nudged})

    monkeypatch.setattr(intervals, "mean_interval", off)
    assert part in wrong("fits").reason


def test_wrong_exponents_are_found(monkeypatch):
    from verify.fit import power_law

    right = power_law.local_slopes
    monkeypatch.setattr(power_law, "local_slopes", lambda t, y: right(t, y) + 1e-12)
    assert wrong("fits").reason.startswith("3 of ")
