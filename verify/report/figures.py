"""Figures as inline SVG: the same bytes for the same data, in light and dark pages.

Drawn here and not by a plotting library, because a page holds a hundred of them: one
takes a few kilobytes and milliseconds. There are no ids, styles or scripts; text is
text, in the page's font and colour.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from verify.record import FigureRecord, SeriesRecord
from verify.report.axes import Scale, number, plain, scale, width, wrap
from verify.report.strokes import (
    DASHES,
    MOST,
    area,
    key,
    line,
    look,
    markers,
    spread,
    swatch,
)

SIZE, TALL = 520.0, 224.0  # user units: width of the figure, height of the axes
TEXT, SMALL, ROW = 11.0, 10.5, 14.0  # font sizes and height of a line
MARKED = 30  # curves of at most so many points show them


class FigureError(ValueError):
    """A figure cannot be drawn from its data; the message says why."""


@dataclass(frozen=True)
class _Curve:
    """A series as it can be drawn: what cannot is NaN."""

    label: str
    x: list[float]
    y: list[float]
    low: list[float]
    high: list[float]
    style: str


@dataclass(frozen=True)
class _Band:
    """A range of ordinates, and the place of the curve that it belongs to."""

    label: str
    low: float
    high: float
    colour: str
    dash: str


def figure_svg(record: FigureRecord) -> str:
    """Draw a figure.

    Args:
        record: The figure as data.

    Returns:
        One ``<svg>`` element with a title and a description, and without ids. A band
        whose label is that of a curve, or ends with it after a comma, is drawn in the
        curve's colour: ``w*, L = 1`` beside the curve ``L = 1``.

    Raises:
        FigureError: The data cannot be drawn.
    """
    notes: list[str] = []
    curves = [
        _curve(record, series, place, notes)
        for place, series in enumerate(record.series)
    ]
    marks = _marks(record, notes)
    bands = _bands(record, notes)
    try:
        return _draw(record, curves, marks, bands, notes)
    except (ArithmeticError, ValueError) as error:
        raise FigureError(f"{type(error).__name__}: {error}") from error


# ---------------------------------------------------------------- data


def _curve(
    record: FigureRecord, series: SeriesRecord, place: int, notes: list[str]
) -> _Curve:
    label = series.label or f"series {place + 1}"
    if len(series.x) != len(series.y):
        raise FigureError(
            f"{label}: {len(series.x)} abscissae, {len(series.y)} ordinates"
        )
    if not {len(series.low), len(series.high)} <= {0, len(series.x)}:
        raise FigureError(f"{label}: the band does not fit its {len(series.x)} points")
    x, hidden_x = _drawable(series.x, record.x_log)
    y, hidden_y = _drawable(series.y, record.y_log)
    low, _ = _drawable(series.low, record.y_log)
    high, _ = _drawable(series.high, record.y_log)
    if count := hidden_x + hidden_y:
        noun = "value" if count == 1 else "values"
        notes.append(f"{label}: {count} {noun} ≤ 0 not on a logarithmic axis")
    if series.style == "points" and len(x) > MOST:
        kept = spread(y)
        notes.append(f"{label}: {len(kept)} of {len(x)} points are drawn")
        x, y, low, high = ([v[k] for k in kept] if v else v for v in (x, y, low, high))
    return _Curve(label, x, y, low, high, series.style)


def _drawable(
    values: Sequence[float | None], logarithmic: bool
) -> tuple[list[float], int]:
    """Values with NaN for what cannot be drawn, and how many are not positive."""
    found = [math.nan if v is None or math.isinf(v) else v for v in values]
    if not logarithmic:
        return found, 0
    hidden = sum(v <= 0 for v in found)
    return [v if v > 0 else math.nan for v in found], hidden


def _marks(record: FigureRecord, notes: list[str]) -> list[tuple[str, float]]:
    kept = []
    for label, x in record.marks.items():
        if not math.isfinite(x) or (record.x_log and x <= 0):
            notes.append(f"mark {label} at {x:g} is off the axis")
        else:
            kept.append((f"{label} ({number(x)})", x))
    return kept


def _bands(record: FigureRecord, notes: list[str]) -> list[_Band]:
    kept: list[_Band] = []
    names = [series.label for series in record.series]
    for label, (low, high) in record.bands.items():
        if low > high:
            raise FigureError(
                f"band {label}: its ends {low:g} and {high:g} are swapped"
            )
        ends = number(low) if low == high else f"{number(low)} to {number(high)}"
        if not math.isfinite(high - low) or (record.y_log and low <= 0):
            notes.append(f"band {label}, {ends}, is off the axis")
        else:
            mine = [
                i for i, n in enumerate(names) if n and f", {label}".endswith(f", {n}")
            ]
            colour = look(mine[0]).colour if mine else "currentColor"
            place = mine[0] if mine else len(kept) + 1
            dash = DASHES[place % len(DASHES)]
            kept.append(_Band(f"{label} ({ends})", low, high, colour, dash))
    return kept


# ---------------------------------------------------------------- layout


def _draw(
    record: FigureRecord,
    curves: Sequence[_Curve],
    marks: Sequence[tuple[str, float]],
    bands: Sequence[_Band],
    notes: list[str],
) -> str:
    xs = [v for c in curves for v in c.x] + [x for _, x in marks]
    ys = [v for c in curves for v in (*c.y, *c.low, *c.high)]
    ys += [end for band in bands for end in (band.low, band.high)]
    if not any(math.isfinite(v) for c in curves for v in c.y):
        notes.append("none of its values can be drawn")
    head, top = _head(record, curves, marks, bands)
    bottom = top + TALL
    up = scale(_finite(ys), bottom, top, log=record.y_log, margin=0.05)
    up_ticks = up.ticks(6)
    label = wrap(words(record.y_label), TEXT, TALL + 10)
    left = (
        ROW * len(label) + 10 + max((width(t, SMALL) for _, t in up_ticks), default=0)
    )
    across = scale(
        _finite(xs), left, SIZE - 12, log=record.x_log, margin=0.02
    )  # right of it half a tick label
    foot, height = _foot(record, notes, left, bottom)
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" role="img" fill="currentColor" '
        f'viewBox="0 0 {SIZE:g} {height:g}" width="{SIZE:g}" height="{height:g}" '
        f'font-size="{TEXT:g}">',
        f"<title>{plain(words(record.title))}</title>",
        f"<desc>{plain(_said(record, notes))}</desc>",
        *head,
        *_grid(across, up, up_ticks),
        *_shades(across, up, curves, bands),
        *_curves(across, up, curves),
        *_uprights(across, up, marks),
        *_turned(label, (top + bottom) / 2),
        *foot,
        "</svg>",
    ]
    return "".join(parts)


def _said(record: FigureRecord, notes: Sequence[str]) -> str:
    caption = (record.caption or record.title).rstrip(".")
    return ". ".join(filter(None, [words(caption), *notes])) + "."


def _finite(values: Iterable[float]) -> list[float]:
    return [v for v in values if math.isfinite(v)]


def _text(x: float, y: float, said: str, more: str = "") -> str:
    return f'<text x="{x:.4g}" y="{y:.4g}"{more}>{plain(said)}</text>'


def _head(
    record: FigureRecord,
    curves: Sequence[_Curve],
    marks: Sequence[tuple[str, float]],
    bands: Sequence[_Band],
) -> tuple[list[str], float]:
    """Title and legend, above the axes where they cover no data; and their end."""
    parts, y = [], 4.0
    for text in wrap(words(record.title), 13, SIZE - 8):
        y += 15
        parts.append(_text(4, y, text, ' font-size="12.5" font-weight="600"'))
    entries = [
        (c.label, key(i, c.style, marked=_marked(c))) for i, c in enumerate(curves)
    ]
    entries += [
        (b.label, swatch("range" if b.low < b.high else "level", b.colour, b.dash))
        for b in bands
    ]
    entries += [
        (label, swatch("mark", "currentColor", DASHES[(i + 1) % len(DASHES)]))
        for i, (label, _) in enumerate(marks)
    ]
    shown = [
        (wrap(words(label), SMALL, SIZE - 40) or [""], drawn)
        for label, drawn in entries
    ]
    y += 6
    for row in _rows([max(width(t, SMALL) for t in ts) + 42 for ts, _ in shown]):
        for place, x in row:
            texts, drawn = shown[place]
            parts.append(f'<g transform="translate({x:.4g} {y + 8:.4g})">{drawn}</g>')
            parts += [
                _text(x + 28, y + 12 + ROW * i, text, f' font-size="{SMALL:g}"')
                for i, text in enumerate(texts)
            ]
        y += ROW * max(len(shown[place][0]) for place, _ in row) + 1
    return parts, y + 10


def _rows(widths: Sequence[float]) -> list[list[tuple[int, float]]]:
    """Places of legend entries, row by row: in columns, or else as they fit."""
    widest = max(widths, default=0.0)
    column = widest if 2 * widest <= SIZE else 0.0
    rows: list[list[tuple[int, float]]] = []
    end = SIZE
    for place, wide in enumerate(widths):
        if end + (column or wide) > SIZE + 4:
            rows.append([])
            end = 4.0
        rows[-1].append((place, end))
        end += column or wide
    return rows


def _foot(
    record: FigureRecord, notes: Sequence[str], left: float, bottom: float
) -> tuple[list[str], float]:
    """The label of the abscissa and notes, below the axes; and where they end."""
    parts, y, room = [], bottom + 18, SIZE - left - 12
    middle = ' text-anchor="middle"'
    for text in wrap(words(record.x_label), TEXT, room):
        y += ROW
        parts.append(_text(left + room / 2, y, text, middle))
    for note in notes:
        for text in wrap(note, 9.5, SIZE - 8):
            y += 13
            parts.append(_text(4, y, text, ' font-size="9.5" font-style="italic"'))
    return parts, math.ceil(y + 6)


def _turned(lines: Sequence[str], centre: float) -> list[str]:
    return [
        f'<text transform="translate({12 + ROW * i:.4g} {centre:.4g}) rotate(-90)" '
        f'text-anchor="middle">{plain(line)}</text>'
        for i, line in enumerate(lines)
    ]


# ---------------------------------------------------------------- the inside


def _grid(
    across: Scale, up: Scale, up_ticks: Sequence[tuple[float, str]]
) -> Iterable[str]:
    across_ticks = across.ticks(7)
    xs = [f"M{across.at(x):.1f} {up.stop:.1f}V{up.start:.1f}" for x, _ in across_ticks]
    ys = [f"M{across.start:.1f} {up.at(y):.1f}H{across.stop:.1f}" for y, _ in up_ticks]
    yield f'<path d="{"".join(xs + ys)}" stroke="var(--grid,#ccc)" stroke-width=".7"/>'
    frame = f"M{across.start:.1f} {up.stop:.1f}V{up.start:.1f}H{across.stop:.1f}"
    yield f'<path d="{frame}" fill="none" stroke="currentColor" stroke-width=".8"/>'
    yield f'<g font-size="{SMALL:g}" text-anchor="middle">'
    for x, text in across_ticks:
        yield _text(across.at(x), up.start + 14, text)
    yield f'</g><g font-size="{SMALL:g}" text-anchor="end">'
    for y, text in up_ticks:
        yield _text(across.start - 5, up.at(y) + 3.5, text)
    yield "</g>"


def _shades(
    across: Scale,
    up: Scale,
    curves: Sequence[_Curve],
    bands: Sequence[_Band],
) -> Iterable[str]:
    for band in bands:
        edges = f"M{across.start:.1f} {up.at(band.high):.1f}H{across.stop:.1f}"
        yield f'<g fill="{band.colour}" stroke="{band.colour}">'
        if band.low < band.high:
            tall = up.at(band.low) - up.at(band.high)
            yield f'<path d="{edges}v{tall:.1f}H{across.start:.1f}z" opacity=".12"/>'
            edges += f"M{across.start:.1f} {up.at(band.low):.1f}H{across.stop:.1f}"
        yield f'<path d="{edges}" stroke-dasharray="{band.dash}"/></g>'
    for place, curve in enumerate(curves):
        if curve.low and curve.high:
            x = [across.at(v) if v == v else v for v in curve.x]
            lower = [up.at(v) if v == v else v for v in curve.low]
            upper = [up.at(v) if v == v else v for v in curve.high]
            d = area(x, lower, upper, steps=curve.style == "steps")
            yield f'<path d="{d}" fill="{look(place).colour}" opacity=".18"/>'


def _marked(curve: _Curve) -> bool:
    return curve.style == "points" or (
        curve.style != "steps" and len(curve.x) <= MARKED
    )


def _curves(across: Scale, up: Scale, curves: Sequence[_Curve]) -> Iterable[str]:
    for place, curve in enumerate(curves):
        one = look(place)
        points = [
            (across.at(x), up.at(y)) if x == x and y == y else (math.nan, math.nan)
            for x, y in zip(curve.x, curve.y, strict=True)
        ]
        yield f'<g stroke="{one.colour}" stroke-width="1.6">'
        if curve.style != "points":
            d = line(points, steps=curve.style == "steps")
            yield f'<path d="{d}" fill="none" stroke-linejoin="round"{one.dashed}/>'
        if _marked(curve):
            yield markers(points, place)
        yield "</g>"


def _uprights(
    across: Scale, up: Scale, marks: Sequence[tuple[str, float]]
) -> Iterable[str]:
    for place, (_, x) in enumerate(marks):
        dash = DASHES[(place + 1) % len(DASHES)]
        d = f"M{across.at(x):.1f} {up.stop:.1f}V{up.start:.1f}"
        yield f'<path d="{d}" stroke="currentColor" stroke-dasharray="{dash}"/>'


def words(text: str) -> str:
    r"""A label with its Greek letters between dollars spelt out, ``$\Lambda$`` as Λ.

    Anything else between dollars is left as it is: labels are plain text.

    Args:
        text: The label.

    Returns:
        Plain text.
    """

    def greek(found: re.Match[str]) -> str:
        size = "CAPITAL" if found[1][0].isupper() else "SMALL"
        try:
            name = found[1].upper().replace("LAMBDA", "LAMDA")  # as Unicode has it
            return unicodedata.lookup(f"GREEK {size} LETTER {name}")
        except KeyError:
            return found[0]

    return re.sub(r"\$\\([A-Za-z]+)\$", greek, text)
