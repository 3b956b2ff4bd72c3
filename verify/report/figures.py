"""Figures as inline SVG: the same bytes for the same data, in light and dark pages."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Sequence
from html import escape
from typing import Any

from verify.record import FigureRecord, SeriesRecord

# Okabe and Ito's colours, told apart by colour-blind readers; dashes and markers differ
# as well, so that a grey print can be read.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9")
_DASHES = ("-", "--", "-.", ":")
_MARKERS = "osD^vx"
_INK, _GRID = "#010203", "#040506"  # replaced by the page's own colours
_RC: dict[str, Any] = {
    "axes.edgecolor": _INK, "axes.labelcolor": _INK, "axes.grid": True,
    "axes.spines.right": False, "axes.spines.top": False, "axes.titlesize": 9,
    "axes.labelsize": 8.5, "figure.facecolor": "none", "axes.facecolor": "none",
    "font.size": 8, "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"],
    "grid.color": _GRID, "grid.linewidth": 0.5, "legend.fontsize": 7.5,
    "legend.frameon": False, "lines.linewidth": 1.4, "lines.markersize": 3.5,
    "mathtext.fontset": "dejavusans", "svg.fonttype": "none", "svg.hashsalt": "verify",
    "text.color": _INK, "text.usetex": False, "xtick.color": _INK,
    "ytick.color": _INK,
}  # fmt: skip


class FigureError(ValueError):
    """A figure cannot be drawn from its data; the message says why."""


def figure_svg(record: FigureRecord) -> str:
    """Draw a figure.

    Args:
        record: The figure as data.

    Returns:
        One ``<svg>`` element with a title and a description; its ids carry the
        figure's name, so that several fit into one page.

    Raises:
        FigureError: The data cannot be drawn.
    """
    try:
        svg, notes = _draw(record, parse_math=True)
    except Exception:  # ruff: ignore[blind-except] - maybe a lone $
        try:
            svg, notes = _draw(record, parse_math=False)
        except Exception as error:
            raise FigureError(f"{type(error).__name__}: {error}") from error
    return _embed(svg, record, notes)


def _draw(record: FigureRecord, *, parse_math: bool) -> tuple[str, list[str]]:
    import matplotlib as mpl  # heavy; only reports with figures need it
    from matplotlib.figure import Figure

    notes: list[str] = []
    rc: Any = {**_RC, "text.parse_math": parse_math}
    out = io.StringIO()
    with warnings.catch_warnings(), mpl.rc_context(rc):
        warnings.simplefilter("ignore")  # missing glyphs: the reader's fonts decide
        figure = Figure(figsize=(5.6, 3.3), layout="constrained")
        axes = figure.add_subplot()
        for place, series in enumerate(record.series):
            _curve(axes, record, series, place, notes)
        _marks(axes, record, notes)
        axes.set_xscale("log" if record.x_log else "linear")
        axes.set_yscale("log" if record.y_log else "linear")
        axes.set(title=record.title, ylabel=record.y_label)
        axes.set_xlabel("\n".join([record.x_label, *notes]))
        if record.series or record.marks:
            axes.legend()
        metadata = {"Date": None, "Creator": None, "Format": None, "Type": None}
        figure.savefig(out, format="svg", metadata=metadata)
    return out.getvalue(), notes


def _curve(
    axes: Any, record: FigureRecord, series: SeriesRecord, place: int, notes: list[str]
) -> None:
    x, hidden_x = _drawable(series.x, record.x_log)
    y, hidden_y = _drawable(series.y, record.y_log)
    if len(x) != len(y):
        raise FigureError(f"{series.label}: {len(x)} abscissae, {len(y)} ordinates")
    if not {len(series.low), len(series.high)} <= {0, len(x)}:
        raise FigureError(f"{series.label}: the band does not fit its {len(x)} points")
    if hidden_x + hidden_y:
        count = hidden_x + hidden_y
        noun = "value" if count == 1 else "values"
        notes.append(f"{series.label}: {count} {noun} ≤ 0 not on a logarithmic axis")
    colour = _COLOURS[place % len(_COLOURS)]
    dash, marker = _DASHES[place % len(_DASHES)], _MARKERS[place % len(_MARKERS)]
    style: dict[str, Any] = {"linestyle": dash, "drawstyle": "default"}
    if series.style == "points":
        style = {"linestyle": "none", "marker": marker}
    elif series.style == "steps":
        style["drawstyle"] = "steps-post"
    elif len(x) <= 30:
        style["marker"] = marker
    label = _legend(series.label or f"series {place + 1}")
    axes.plot(x, y, color=colour, label=label, **style)
    if series.low and series.high:
        low, _ = _drawable(series.low, record.y_log)
        high, _ = _drawable(series.high, record.y_log)
        step = "post" if series.style == "steps" else None
        axes.fill_between(x, low, high, color=colour, alpha=0.2, lw=0, step=step)


def _drawable(
    values: Sequence[float | None], logarithmic: bool
) -> tuple[list[float], int]:
    """Values with NaN for what cannot be drawn, and how many are not positive."""
    found = [math.nan if v is None else v for v in values]
    if not logarithmic:
        return found, 0
    hidden = sum(v <= 0 for v in found)
    return [v if v > 0 else math.nan for v in found], hidden


def _marks(axes: Any, record: FigureRecord, notes: list[str]) -> None:
    for place, (label, x) in enumerate(record.marks.items()):
        if not math.isfinite(x) or (record.x_log and x <= 0):
            notes.append(f"mark {label} at {x:g} is off the axis")
            continue
        dash = _DASHES[(place + 1) % len(_DASHES)]
        text = _legend(f"{label} ({x:.4g})")
        axes.axvline(x, color=_INK, linewidth=0.9, linestyle=dash, label=text)


def _legend(label: str) -> str:
    # matplotlib leaves labels with a leading underscore out of the legend.
    return f"\u200b{label}" if label.startswith("_") else label


def _embed(svg: str, record: FigureRecord, notes: list[str]) -> str:
    """Make a drawing fit for a page: own ids, page colours, title and description."""
    prefix = re.sub(r"[^A-Za-z0-9-]", "-", record.name) or "figure"
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'href="#', f'href="#{prefix}-', svg)
    svg = svg.replace("url(#", f"url(#{prefix}-")
    svg = svg.replace(_INK, "currentColor").replace(_GRID, "var(--grid, #ccc)")
    said = ". ".join(filter(None, [record.caption or record.title, *notes]))
    words = f"<title>{escape(record.title)}</title><desc>{escape(said)}</desc>"
    head, rest = svg.split(">", 1)
    return f'{head} role="img">{words}{rest}'
