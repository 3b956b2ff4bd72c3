"""Figures: the same bytes for the same data, and plain words for bad data."""

import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

from verify.record import SeriesRecord
from verify.report.figures import MARKED, SIZE, FigureError, figure_svg
from verify.report.strokes import COLOURS, DASHES

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d*\.?\d+")


@pytest.fixture
def record(report):
    return report.claims[0].checks[0].figures[0]


def curve(**changes):
    return SeriesRecord(**{"label": "l", "x": [1.0, 2.0], "y": [1.0, 2.0], **changes})


def texts(svg):
    return [node.text for node in ET.fromstring(svg).iter(f"{SVG}text")]


def plotted(record, **changes):
    """A figure of given curves alone, on linear axes."""
    plain = {"x_log": False, "y_log": False, "marks": {}, "bands": {}}
    return record.model_copy(update={**plain, **changes})


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


def test_it_is_one_described_svg_that_shares_no_name_with_the_page(record):
    svg = figure_svg(record)
    root = ET.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text == record.title
    said = root.find(f"{SVG}desc").text
    assert said.startswith(record.caption.rstrip("."))
    assert "mark never at -1 is off the axis" in said
    assert not re.search(r"[ ](id|class|style|href)=|<script|<style|url\(", svg)


def test_all_curves_marks_and_notes_are_named(record):
    shown = texts(figure_svg(record))
    for text in ("trained, 32 seeds", "exact", "claimed range (300)", "_b"):
        assert text in shown
    assert "trained, 32 seeds: 1 value ≤ 0 not on a logarithmic axis" in shown
    assert "mark never at -1 is off the axis" in shown


def test_a_greek_letter_between_dollars_is_one_and_a_lone_dollar_stays(record):
    shown = texts(figure_svg(record))
    assert "Lipschitz constant Λ" in shown
    odd = record.model_copy(update={"title": r"costs $5 \frac{ $\x$"})
    assert r"costs $5 \frac{ $\x$" in texts(figure_svg(odd))


def test_markup_and_control_characters_in_labels_are_text(record):
    bad = "<script>alert(1)</script> & \x01 ]]>"
    svg = figure_svg(
        record.model_copy(
            update={"title": bad, "x_label": bad, "series": [curve(label=bad)]}
        )
    )
    assert "<script" not in svg
    assert ET.fromstring(svg).find(f"{SVG}title").text == bad.replace("\x01", "\ufffd")


@pytest.mark.parametrize(
    "series",
    [
        [],
        [curve(y=[None, None])],
        [curve(x=[-1.0, 0.0])],
        [curve(x=[], y=[])],
        [curve(y=[1.0, float("inf")])],
        [curve(x=[float("nan"), 1.0])],
        [curve(x=[3.0], y=[5.0])],
        [curve(label="", style="unheard-of")],
        [curve(label="  "), curve(label="\n")],
        [curve(low=[None, 1.0], high=[1.0, 2.0])],
    ],
)
def test_odd_data_is_drawn(record, series):
    assert ET.fromstring(
        figure_svg(record.model_copy(update={"series": series, "marks": {}}))
    )


def test_a_figure_without_any_value_says_so(record):
    svg = figure_svg(record.model_copy(update={"series": [curve(y=[None, None])]}))
    assert "none of its values can be drawn" in texts(svg)


@pytest.mark.parametrize(
    "bad",
    [
        {"series": [curve(x=[1.0])]},
        {"series": [curve(low=[1.0], high=[2.0])]},
        {"series": [curve(y=[-1.7e308, 1.7e308])]},
        {"series": [curve()], "bands": {"claimed": (2.0, 1.0)}},
    ],
)
def test_data_that_does_not_fit_is_an_error(record, bad):
    with pytest.raises(FigureError, match=r"."):
        figure_svg(record.model_copy(update=bad))


# ---------------------------------------------------------------- bands


def test_bands_are_shaded_and_named_and_equal_ends_are_a_line(record):
    bands = {"claimed exponent": (0.2, 0.25), "limit": (0.4, 0.4)}
    svg = figure_svg(plotted(record, bands=bands, series=[curve(y=[0.1, 0.5])]))
    shown = texts(svg)
    assert "claimed exponent (0.2 to 0.25)" in shown
    assert "limit (0.4)" in shown
    # One area in the axes and one in the legend: the range's; the level has none.
    assert svg.count('opacity=".12"') == 2


def test_a_band_of_a_curve_has_its_colour(record):
    series = [curve(label="L = 0.1"), curve(label="L = 1")]
    bands = {"w*, L = 1": (1.5, 1.5)}
    svg = figure_svg(plotted(record, series=series, bands=bands))
    other = figure_svg(plotted(record, series=series, bands={"w*, L = 2": (1.5, 1.5)}))
    assert svg.count(COLOURS[1]) > other.count(COLOURS[1])


def test_a_band_off_the_axis_is_said_to_be(record):
    bands = {"claimed": (-1.0, 1.0)}
    svg = figure_svg(plotted(record, y_log=True, bands=bands, series=[curve()]))
    assert "band claimed, −1 to 1, is off the axis" in texts(svg)


def test_the_axes_hold_bands_and_marks(record):
    svg = figure_svg(
        plotted(record, bands={"b": (40.0, 40.0)}, marks={"m": 70.0}, series=[curve()])
    )
    shown = texts(svg)
    assert {"40", "60"} <= set(shown)
    assert {"20", "40"} <= set(shown)


# ---------------------------------------------------------------- size and looks


def test_a_long_curve_is_thinned_but_keeps_its_extremes(record):
    x = [float(k) for k in range(20_000)]
    y = [float(k * 7919 % 101) / 100 for k in range(20_000)]
    y[7_777], y[12_345] = 40.0, -40.0
    thin = figure_svg(plotted(record, series=[curve(x=x, y=y)]))
    assert len(thin) < 8_000
    dense = re.findall(r'd="(M[^"]*)" fill="none" stroke-linejoin', thin)
    heights = absolute(dense[0])
    assert min(heights) < min(heights[:5]) - 80  # up is less
    assert max(heights) > max(heights[:5]) + 80


def test_of_many_points_the_extremes_are_drawn_and_the_rest_counted(record):
    x = [float(k) for k in range(5000)]
    y = [float(k % 97) for k in range(5000)]
    y[1234] = 500.0
    series = [curve(label="draws", x=x, y=y, style="points")]
    svg = figure_svg(plotted(record, series=series))
    (path,) = re.findall(r'd="(M[^"]*h0)" stroke-width="5.4"', svg.split("<desc>")[1])[
        1:
    ]
    heights = [float(n) for n in re.findall(r"M[\d.]+ ([\d.]+)h0", path)]
    assert len(heights) <= 130
    assert min(heights) < sorted(heights)[1] - 100
    assert f"draws: {len(heights)} of 5000 points are drawn" in texts(svg)


def absolute(path):
    """Ordinates along a path of M, l, h and v."""
    y, found = 0.0, []
    for letter, rest in re.findall(r"([Mlhv])([^Mlhv]*)", path):
        numbers = [float(n) for n in NUMBER.findall(rest)]
        if letter == "M":
            y = numbers[1]
        elif letter in "lv":
            y += numbers[-1]
        found.append(y)
    return found


def test_thinned_steps_are_still_steps(record):
    x = [float(k * k) for k in range(400)]
    y = [float(k % 10) for k in range(400)]
    svg = figure_svg(plotted(record, series=[curve(x=x, y=y, style="steps")]))
    (path,) = re.findall(r'd="(M[^"]*)" fill="none" stroke-linejoin', svg)
    slanted = [NUMBER.findall(rest) for rest in re.findall(r"l([^Mlhv]*)", path)]
    # What is left after rounding to visible differences: nothing but short corners.
    assert all(min(abs(float(n)) for n in pair) < 0.4 for pair in slanted)


def test_a_missing_value_interrupts_the_line(record):
    y = [1.0, None, 2.0, 3.0]
    svg = figure_svg(plotted(record, series=[curve(x=[1.0, 2.0, 3.0, 4.0], y=y)]))
    (path,) = re.findall(r'd="(M[^"]*)" fill="none" stroke-linejoin', svg)
    assert path.count("M") == 2


def test_curves_differ_without_their_colours(record):
    many = [curve(label=str(k), y=[1.0, 2.0 + k]) for k in range(12)]
    svg = figure_svg(plotted(record, series=many))
    groups = re.findall(r'<g stroke="#[0-9a-f]+" stroke-width="1.6">(.*?)</g>', svg)
    legend = [key.replace("M11 0", "") for key in groups[:12]]
    assert len(set(legend)) == 12


@pytest.mark.parametrize("paper", ["#ffffff", "#15171a"])
@pytest.mark.parametrize("colour", COLOURS)
def test_colours_stand_out_on_white_and_on_dark_pages(colour, paper):
    light, dark = sorted((luminance(colour), luminance(paper)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 3  # WCAG 2.1, 1.4.11


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_legend_and_long_labels_stay_inside_and_off_the_data(record):
    long = "an exceedingly long label that goes on and on " * 4
    series = [curve(label=f"{long}{k}") for k in range(6)]
    svg = figure_svg(plotted(record, title=long, x_label=long, series=series))
    root = ET.fromstring(svg)
    assert all(len(text) < 110 for text in texts(svg))
    assert " ".join(long.split()) in " ".join(texts(svg))
    width, height = (float(v) for v in root.get("viewBox").split()[2:])
    assert width == SIZE
    frame = re.search(r'd="M[\d.]+ ([\d.]+)V([\d.]+)H[\d.]+" fill="none"', svg)
    top, bottom = map(float, frame.groups())
    keys = re.findall(r'<g transform="translate\([\d.]+ ([\d.]+)\)">', svg)
    assert max(map(float, keys)) < top < bottom < height


def test_few_points_are_marked_and_many_are_not(record):
    def drawn(count):
        x = [float(k) for k in range(count)]
        return figure_svg(plotted(record, series=[curve(x=x, y=x)]))

    assert 'stroke-linecap="round"' in drawn(MARKED)
    assert 'stroke-linecap="round"' not in drawn(MARKED + 1)
    assert len(DASHES) < len(COLOURS)  # so that the two do not repeat together


def test_a_figure_of_a_full_page_is_small(record):
    x = [float(k) for k in range(150)]
    series = [
        curve(
            label=f"seed band {k}",
            x=x,
            y=[k + (7 * t % 11) / 20 for t in range(150)],
            low=[k - 0.3 + (3 * t % 7) / 40 for t in range(150)],
            high=[k + 0.9 + (5 * t % 7) / 40 for t in range(150)],
        )
        for k in range(4)
    ]
    assert len(figure_svg(plotted(record, series=series)).encode()) <= 12 * 1024


def test_nothing_heavy_is_imported():
    code = (
        "import sys, verify.report.figures;"
        "sys.exit(bool({'matplotlib', 'numpy', 'scipy'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
