"""Outcomes: which ones are faults of the check, and which verdicts rest on nothing."""

import dataclasses
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from verify import Cause, Holds, Inconclusive, Outcome, Refuted, Verdict
from verify.outcome import faults_of, honest

WITNESS = {"kind": "formula", "says": "s", "inputs": {}, "relation": ["<", 1, 2]}
OPEN = Inconclusive("tired", cause=Cause.BUDGET)


@pytest.mark.parametrize(
    ("outcome", "fault"),
    [
        (Holds("proved"), ""),
        (Holds("proved", n=0), ""),  # not a fault; honest() turns it down
        (Holds("close", margin=0.0), ""),
        (Holds("measured", interval=(1.0, 1.0), margin=3), ""),
        (Refuted("no", witness=WITNESS, margin=0.0), ""),
        (Refuted("no", witness=WITNESS, margin=-2.5), ""),
        (OPEN, ""),
        (OPEN.but(margin=-3.0), ""),
        (None, "returned NoneType"),
        (True, "returned bool"),
        ("HOLDS", "returned str"),
        (Verdict.HOLDS, "returned Verdict"),
        (Outcome, "returned type"),
        (Outcome(verdict=Verdict.NOT_RUN), "returned NOT_RUN"),
        (Refuted("no", witness=None), "without a witness"),
        (Outcome(verdict=Verdict.INCONCLUSIVE, reason="?"), "without a cause"),
        (Holds("counted", n=-1), "judged -1 instances"),
        (Holds("measured", interval=(2.0, 1.0)), "upside down"),
        (Holds("close", margin=-1e-300), "negative margin"),
        (Holds("close", margin=Fraction(-1, 3)), "negative margin"),
        (Refuted("no", witness=WITNESS, margin=0.1), "positive margin"),
        (Holds("lost", margin=math.nan), ""),  # honest() turns it down
    ],
    ids=repr,
)
def test_faults(outcome, fault):
    found = faults_of(outcome)
    assert fault in found
    assert bool(found) is bool(fault)


@pytest.mark.parametrize(
    "value",
    [
        math.nan, math.inf, -math.inf, np.float32("nan"), np.float64("inf"),
        complex(0, math.nan), Decimal("NaN"), sp.nan, sp.oo, sp.zoo, "nan", "inf",
    ],
    ids=lambda value: f"{type(value).__name__} {value}",
)  # fmt: skip
@pytest.mark.parametrize("place", ["measured", "target", "margin"])
def test_a_number_that_is_none_decides_nothing(value, place):
    for made in (Holds("measured"), Refuted("no", witness=WITNESS)):
        got = honest(made.but(**{place: value}))
        assert (got.verdict, got.cause) == (Verdict.INCONCLUSIVE, Cause.NAN)
        assert place in got.reason


@pytest.mark.parametrize("interval", [(math.nan, 1.0), (0.0, math.inf)])
def test_an_interval_without_an_end_decides_nothing(interval):
    assert honest(Holds("measured", interval=interval)).cause is Cause.NAN


@pytest.mark.parametrize(
    "value",
    [
        None, 0, -3.5, Fraction(1, 3), 10**400, np.float32(2), np.int64(3), sp.pi,
        sp.Rational(1, 7), "at every size", "1/3", Decimal("1e-400"),
    ],
    ids=lambda value: repr(value)[:12],
)  # fmt: skip
def test_finite_numbers_and_words_count(value):
    made = Holds("measured", measured=value, target=value)
    assert honest(made) is made


def test_nothing_judged_decides_nothing():
    discards = {"diverged": 32}
    for made in (Holds("none"), Refuted("no", witness=WITNESS)):
        got = honest(made.but(n=0, discards=discards))
        assert (got.verdict, got.cause) == (Verdict.INCONCLUSIVE, Cause.BUDGET)
        assert "diverged" in got.reason
        assert got.discards == discards


def test_an_undecided_outcome_stays_as_it_is():
    made = OPEN.but(measured=math.nan, n=0)
    assert honest(made) is made


def test_but_changes_a_copy():
    made = Holds("counted", n=3)
    assert made.but(n=4) == Holds("counted", n=4)
    assert made.n == 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.n = 4
    with pytest.raises(TypeError):
        made.but(sizes=3)
    with pytest.raises(TypeError):
        Holds("counted", sizes=3)


def test_a_refutation_says_its_witness():
    with pytest.raises(TypeError, match="witness"):
        Refuted("no")
    with pytest.raises(TypeError, match="cause"):
        Inconclusive("no")
