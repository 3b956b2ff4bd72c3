"""Figures: the same bytes for the same data, and plain words for bad data."""

import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from verify.record import SeriesRecord
from verify.report.figures import FigureError, figure_svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def record(report):
    return report.claims[0].checks[0].figures[0]


def curve(**changes):
    return SeriesRecord(**{"label": "l", "x": [1.0, 2.0], "y": [1.0, 2.0], **changes})


def texts(svg):
    return [node.text for node in ET.fromstring(svg).iter(f"{SVG}text")]


def test_the_bytes_are_the_same_in_another_process(record):
    code = (
        "import sys; from verify.record import FigureRecord as F;"
        "from verify.report.figures import figure_svg as f;"
        "sys.stdout.buffer.write(f(F.model_validate_json(sys.argv[1])).encode())"
    )
    other = subprocess.run(
        [sys.executable, "-c", code, record.model_dump_json()],
        capture_output=True,
        check=True,
    )
    assert other.stdout == figure_svg(record).encode()


def test_it_is_one_svg_without_dates_or_addresses(record):
    svg = figure_svg(record)
    assert ET.fromstring(svg).tag == f"{SVG}svg"
    assert "matplotlib.org" not in svg
    assert "dc:date" not in svg
    assert "#010203" not in svg
    assert svg.isprintable() or "\n" in svg


def test_two_figures_share_no_id(record):
    def ids(figure):
        return {n.get("id") for n in ET.fromstring(figure_svg(figure)).iter()} - {None}

    other = record.model_copy(update={"name": "other"})
    assert ids(record)
    assert ids(record).isdisjoint(ids(other))


def test_all_curves_marks_and_notes_are_named(record):
    shown = texts(figure_svg(record))
    for text in ("trained, 32 seeds", "exact", "claimed range (300)"):
        assert text in shown
    assert any("_b" in (text or "") for text in shown)
    assert "trained, 32 seeds: 1 value ≤ 0 not on a logarithmic axis" in shown
    assert "mark never at -1 is off the axis" in shown


def test_a_lone_dollar_is_taken_literally(record):
    svg = figure_svg(record.model_copy(update={"title": r"costs $5 \frac{"}))
    assert r"costs $5 \frac{" in texts(svg)


@pytest.mark.parametrize(
    "series",
    [
        [],
        [curve(y=[None, None])],
        [curve(x=[-1.0, 0.0])],
        [curve(x=[], y=[])],
        [curve(y=[1.0, float("inf")])],
        [curve(label="", style="unheard-of")],
    ],
)
def test_odd_data_is_drawn(record, series):
    assert figure_svg(record.model_copy(update={"series": series, "marks": {}}))


@pytest.mark.parametrize("bad", [curve(x=[1.0]), curve(low=[1.0], high=[2.0])])
def test_data_that_does_not_fit_is_an_error(record, bad):
    with pytest.raises(FigureError):
        figure_svg(record.model_copy(update={"series": [bad]}))


def test_importing_the_views_draws_nothing_in():
    code = "import sys, verify.report; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
