"""The record: exact round trips, no unknown fields, words of nodes."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from verify.describe import number
from verify.record import CheckRecord, Counts, ResolutionRecord, SeriesRecord, Side


def record(**changes):
    given = {
        "claim": "toy/lemma-1", "name": "a", "node": "toy::a", "grade": "numeric",
        "scope": "all", "verdict": "HOLDS",
    }  # fmt: skip
    return CheckRecord(**(given | changes))


def again(made):
    """Through the plain JSON that a journal keeps."""
    text = json.dumps(made.model_dump(mode="json"), allow_nan=False)
    return type(made).model_validate(json.loads(text))


numbers = (
    st.none()
    | st.integers()
    | st.floats()
    | st.fractions()
    | st.sampled_from(["words", "12", "1e3", "nan", ""])
)


@given(numbers, numbers, st.tuples(numbers, numbers))
def test_numbers_survive_with_their_type(measured, target, interval):
    made = record(
        measured=number(measured),
        target=number(target),
        interval=tuple(map(number, interval)),
    )
    for read in (again(made), CheckRecord.model_validate_json(made.model_dump_json())):
        assert read == made
        for one, other in (
            (read.measured, made.measured),
            (read.target, made.target),
            *zip(read.interval, made.interval, strict=True),
        ):
            assert type(one) is type(other)
            assert repr(one) == repr(other)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (Fraction(1, 3), "1/3"), (0.1, 0.1), (-0.0, -0.0), (1.0, 1.0), (1, 1),
        (10**40, 10**40), (5e-324, 5e-324), (math.inf, "inf"), (math.nan, "nan"),
    ],
    ids=str,
)  # fmt: skip
def test_numbers_by_example(value, read):
    got = again(record(measured=number(value))).measured
    assert (repr(got), type(got)) == (repr(read), type(read))


def test_nested_records_survive():
    side = Side(accepted="1/3", rejected=0.5)
    made = record(
        resolution=[
            ResolutionRecord(
                parameter="p", claimed="1/2", below=side, above=Side(), decisions=8
            )
        ],
        discards={"D = 0": 3},
        witness={"kind": "formula", "rows": [[1, "1/2", "0x1p-1"]]},
        trials=[{"role": "mutant", "name": "m", "verdict": "REFUTED"}],
    )
    assert again(made) == made


def test_records_are_closed():
    with pytest.raises(ValidationError, match="unknown"):
        record(unknown=1)
    with pytest.raises(ValidationError, match="frozen"):
        record().verdict = "REFUTED"
    with pytest.raises(ValidationError):
        record(verdict="PASS")
    with pytest.raises(ValidationError):
        record(grade="guessed")


def test_gaps_in_a_curve_are_null():
    series = SeriesRecord(label="l", x=[1.0, 2.0], y=[None, 3.0])
    assert again(series).y == [None, 3.0]


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({}, "HOLDS"),
        ({"verdict": "REFUTED"}, "REFUTED"),
        ({"verdict": "INCONCLUSIVE"}, "INCONCLUSIVE"),
        ({"verdict": "NOT_RUN"}, "NOT_RUN"),
        ({"broken": "no teeth"}, "BROKEN"),
        ({"verdict": "REFUTED", "broken": "no teeth"}, "BROKEN"),
        ({"role": "necessity"}, "NOT_NEEDED"),
        ({"role": "necessity", "verdict": "REFUTED"}, "NEEDED"),
        ({"role": "necessity", "verdict": "INCONCLUSIVE"}, "INCONCLUSIVE"),
        ({"role": "necessity", "broken": "it raised"}, "BROKEN"),
    ],
)
def test_word_of_a_node(changes, word):
    assert record(**changes).word == word


def test_scope():
    assert record().covers_all
    assert not record(scope="all N ≤ 3").covers_all


def test_counts_start_at_zero():
    assert set(Counts().model_dump().values()) == {0}
