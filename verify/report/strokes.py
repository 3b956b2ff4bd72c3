"""Lines, areas and markers of a figure, as short paths."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]

# After Okabe and Ito: told apart by colour-blind readers, and each at 3 to 1 or better
# against a white and a near-black page. Dashes and markers differ as well, so that a
# grey print can be read.
COLOURS = ("#1b7fc4", "#d55e00", "#009a70", "#c46a9b", "#a87b00", "#8566cc")
DASHES = ("", "7 3", "2 2.5", "8 3 2 3", "12 3")
MOST = 120  # points of a curve; more than that are thinned
NEAR = 0.15  # user units that a thinned curve may be off
_SHAPES = (
    "h0",
    "m-2.3-2.3h4.6v4.6h-4.6z",
    "m0-3.2l3.2 3.2-3.2 3.2-3.2-3.2z",
    "m0-3l3 5.2h-6z",
    "m-2.5-2.5l5 5m0-5l-5 5",
    "m0 3l3-5.2h-6z",
    "m-3 0h6m-3-3v6",
)


@dataclass(frozen=True)
class Look:
    """How a curve is told apart: colour, dash and the number of its marker."""

    colour: str
    dashed: str
    marker: int


def look(place: int) -> Look:
    """The look of a curve by its place among the curves."""
    dash = DASHES[place % len(DASHES)]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return Look(COLOURS[place % len(COLOURS)], dashed, place % len(_SHAPES))


def line(points: Sequence[Point], *, steps: bool = False) -> str:
    """A path through points.

    Args:
        points: Places; a NaN interrupts the line.
        steps: Keep each ordinate until the next abscissa.

    Returns:
        Path data; a lone point is a dot.
    """
    paths = []
    for piece in _pieces(points):
        path = _path(thinned(piece, steps=steps))
        paths.append(path if len(piece) > 1 else f"{path}h.1")
    return "".join(paths)


def area(
    x: Sequence[float],
    lower: Sequence[float],
    upper: Sequence[float],
    *,
    steps: bool = False,
) -> str:
    """A closed path between two curves.

    Args:
        x: Common abscissae.
        lower: Ordinates of one edge; a NaN in any interrupts the area.
        upper: Of the other.
        steps: As for :func:`line`.

    Returns:
        Path data.
    """
    paths = []
    holes = [math.isnan(a + b + c) for a, b, c in zip(x, lower, upper, strict=True)]
    gap = (math.nan, math.nan)
    edges = [
        [gap if h else (a, b) for a, b, h in zip(x, edge, holes, strict=True)]
        for edge in (lower, upper)
    ]
    for there, back in zip(*map(_pieces, edges), strict=True):
        low, high = (thinned(edge, steps=steps) for edge in (there, back))
        paths.append(_path([*low, *reversed(high)]) + "z")
    return "".join(paths)


def markers(points: Iterable[Point], place: int) -> str:
    """Markers of a curve, in one path.

    Args:
        points: Places; those with a NaN have none.
        place: Of the curve among the curves.

    Returns:
        A ``path`` element that takes its colour from the group around it.
    """
    shape = _SHAPES[look(place).marker]
    d = "".join(f"M{_short(x)} {_short(y)}{shape}" for x, y in points if x == x)
    if shape == "h0":
        return f'<path d="{d}" stroke-width="5.4" stroke-linecap="round"/>'
    return f'<path d="{d}" stroke-width="1.3" fill="none"/>'


def key(place: int, style: str, *, marked: bool) -> str:
    """The sample of a curve in the legend, 22 wide around y = 0.

    Args:
        place: Of the curve among the curves.
        style: Of the curve.
        marked: Whether it shows its points.

    Returns:
        An SVG element.
    """
    one = look(place)
    drawn = "" if style == "points" else f'<path d="M0 0h22"{one.dashed}/>'
    dots = markers([(11, 0)], place) if marked else ""
    return f'<g stroke="{one.colour}" stroke-width="1.6">{drawn}{dots}</g>'


def swatch(kind: str, colour: str, dash: str) -> str:
    """The sample of a range, a level or a mark in the legend, likewise.

    Args:
        kind: ``range`` or ``level`` of ordinates, or ``mark`` of an abscissa.
        colour: Its colour.
        dash: Its dashes.

    Returns:
        SVG elements.
    """
    edges = {"range": "M0-5h22M0 5h22", "level": "M0 0h22", "mark": "M11-6v12"}[kind]
    stroke = f'<path d="{edges}" stroke="{colour}" stroke-dasharray="{dash}"/>'
    if kind != "range":
        return stroke
    return f'<path d="M0-5h22v10h-22z" fill="{colour}" opacity=".12"/>{stroke}'


def thinned(points: Sequence[Point], *, steps: bool = False) -> list[Point]:
    """Leave out points that do not show, and keep extremes where still too many do.

    Args:
        points: A piece of a curve.
        steps: Turn what is left into stairs.

    Returns:
        At most about ``MOST`` of them, or corners of so many stairs; the first and the
        last among them.
    """
    kept = [points[i] for i in spread([y for _, y in points])]
    return _straightened(_stairs(kept) if steps else kept)


def spread(heights: Sequence[float]) -> list[int]:
    """Places to keep of a curve: all, or the extremes of stretches of equal length.

    Args:
        heights: Ordinates.

    Returns:
        At most about ``MOST`` places in order, the first and the last among them.
    """
    count = len(heights)
    if count <= MOST:
        return list(range(count))
    size = math.ceil(4 * count / MOST)
    stretches = (
        range(start, min(start + size, count)) for start in range(0, count, size)
    )
    return [i for stretch in stretches for i in _corners(heights, stretch)]


def _corners(heights: Sequence[float], places: range) -> list[int]:
    """The first, the last, the lowest and the highest of some places, in order."""
    known = [i for i in places if not math.isnan(heights[i])] or places
    low = min(known, key=heights.__getitem__)
    high = max(known, key=heights.__getitem__)
    return sorted({places[0], low, high, places[-1]})


def _straightened(points: list[Point]) -> list[Point]:
    # Douglas and Peucker: a point stays where the line without it would be off.
    keep, open_ = {0, len(points) - 1}, [(0, len(points) - 1)]
    while open_:
        first, last = open_.pop()
        inner = range(first + 1, last)
        far = max(inner, key=lambda i: _off(points, i, first, last), default=first)
        if far != first and _off(points, far, first, last) > NEAR:
            keep.add(far)
            open_ += [(first, far), (far, last)]
    return [points[i] for i in sorted(keep)]


def _off(points: Sequence[Point], i: int, first: int, last: int) -> float:
    """Distance of a point from the segment between two others."""
    (x, y), (a, b), (c, d) = points[i], points[first], points[last]
    length = math.hypot(c - a, d - b)
    if not length:
        return math.hypot(x - a, y - b)
    along = ((x - a) * (c - a) + (y - b) * (d - b)) / length**2
    along = min(1.0, max(0.0, along))
    return math.hypot(x - a - along * (c - a), y - b - along * (d - b))


def _pieces(points: Iterable[Point]) -> Iterator[list[Point]]:
    piece: list[Point] = []
    for point in points:
        if math.isnan(point[0]):
            if piece:
                yield piece
            piece = []
        else:
            piece.append(point)
    if piece:
        yield piece


def _stairs(points: Sequence[Point]) -> list[Point]:
    stairs = list(points[:1])
    for (_, before), (x, y) in pairwise(points):
        stairs += [(x, before), (x, y)]
    return stairs


def _path(points: Sequence[Point]) -> str:
    """Path data in tenths of a unit; differences of rounded places do not add up."""
    tenths = [(round(10 * x), round(10 * y)) for x, y in points]
    (x, y), parts = tenths[0], []
    parts.append(f"M{_short(x / 10)} {_short(y / 10)}")
    for a, b in tenths[1:]:
        dx, dy = _short((a - x) / 10), _short((b - y) / 10)
        if dx == dy == "0":
            continue
        if dy == "0":
            parts.append(f"h{dx}")
        elif dx == "0":
            parts.append(f"v{dy}")
        else:
            parts.append(f"l{dx}{'' if dy.startswith('-') else ' '}{dy}")
        x, y = a, b
    return "".join(parts)


def _short(value: float) -> str:
    """A number in tenths, without the zeros that a path does not need."""
    text = f"{value:.1f}".removesuffix(".0")
    if text in {"0", "-0"}:
        return "0"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text
