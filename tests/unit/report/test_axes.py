"""Axes: ticks that can be read, and scales that hold what they are given."""

import pytest

from verify.report.axes import number, scale, width, wrap


@pytest.mark.parametrize(
    ("values", "log", "labels"),
    [
        ([0, 1], False, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([-0.02, 0.07], False, ["−0.02", "0.00", "0.02", "0.04", "0.06"]),
        ([0, 2500], False, ["0", "500", "1000", "1500", "2000", "2500"]),
        ([0, 1e7], False, ["0", "2·10⁶", "4·10⁶", "6·10⁶", "8·10⁶", "10⁷"]),
        ([1, 1e6], True, ["1", "10", "100", "1000", "10000", "10⁵", "10⁶"]),
        ([1e-30, 1], True, ["10⁻³⁰", "10⁻²⁵", "10⁻²⁰", "10⁻¹⁵", "10⁻¹⁰", "10⁻⁵", "1"]),
        ([2, 40], True, ["2", "5", "10", "20"]),
        ([1e3, 1.5e3], True, ["1000", "1100", "1200", "1300", "1400", "1500"]),
    ],
)
def test_ticks_are_round_numbers(values, log, labels):
    one = scale(values, 0, 100, log=log, margin=0.0)
    assert [label for _, label in one.ticks(7)] == labels


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("values", [[3.0], [2.0, 2.0 + 1e-12], [1e-9, 1e9], []])
def test_every_value_is_inside(values, log):
    one = scale(values, 10, 90, log=log, margin=0.05)
    assert all(10 <= one.at(v) <= 90 for v in values)
    assert len(one.ticks(6)) >= 1


def test_a_range_beyond_floats_is_an_error():
    with pytest.raises(OverflowError, match="span more than a float"):
        scale([-1.7e308, 1.7e308], 0, 1, log=False, margin=0.1)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (10000.0, "10000"),
        (12345.6, "12350"),
        (-0.25, "−0.25"),
        (2e5, "2·10⁵"),
        (1e-12, "10⁻¹²"),
        (2 / 7, "0.2857"),
    ],
)
def test_numbers_are_short(value, text):
    assert number(value) == text


def test_wrapped_lines_fit_and_lose_nothing():
    text = "a label with some words and " + "x" * 90
    lines = wrap(text, 10, 120)
    assert all(width(line, 10) <= 120 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("room", [1, 5, 300])
def test_long_words_are_broken_anywhere(room):
    lines = wrap("W" * 400, 10, room)
    assert "".join(lines) == "W" * 400
    assert all(width(line, 10) <= room for line in lines if len(line) > 1)
    cut = wrap("W" * 40_000, 10, room)
    assert cut[-1].endswith("…")
    assert sum(map(len, cut)) < 1100
