"""The exact loss on instances of the domain, held against exhibited constants.

Instances have n at the edge of Corollary G.5's range or up to 10^6 times beyond; the
quantities are those of ``terms``, by quadrature (``loss``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.collins2024.bias.terms import AFFINE, EVERYWHERE, LIPSCHITZ, NOISE, RELU
from theorems.collins2024.bounds.notation import d, n, w
from verify import Claim, Figure, Holds, Outcome, Refuted, Series
from verify.numerics import table
from verify.outcome import Tightness
from verify.slack import slack

Floats = NDArray[np.float64]
Point = tuple[int, float, float]

ACCURACY = 1e-12  # of a value, relative: promised by ``loss``, and more than its error
MOST_TOKENS = 1e18
FAR_TOKENS = 1e15  # of the widest instances, which every table has
DIMENSIONS = (2, 3, 4, 5, 6)
TOKENS = "n from the edge of Corollary G.5's range up to 1e18"
SHOWN = 50  # points of one series of a figure
WAVE = 4.0  # of the tasks cos(L omega.x)


@dataclass(frozen=True)
class Table:
    """Exact values, one per instance.

    Attributes:
        d: Sizes of a covariate.
        w: Scales, twice the appendix's.
        n: Numbers of tokens.
        values: Quantities by name, in units of L^2 or sigma^2.
        space: What was drawn, in words.
    """

    d: Floats
    w: Floats
    n: Floats
    values: dict[str, Floats]
    space: str


def edge(dimension: int, scale: float) -> float:
    """Least n with n / log n >= 45 sqrt(d) (w/2)^(d/2), and a trace more."""
    least = 45 * math.sqrt(dimension) * (scale / 2) ** (dimension / 2)
    tokens = least
    for _ in range(100):  # contracts by 1/log n
        tokens = least * math.log(tokens)
    return tokens * (1 + 1e-9)


def extremes(widest: float) -> list[Point]:
    """For each d the largest w at and beyond the edge, and a middle w far beyond it."""
    points = []
    for dimension in DIMENSIONS:
        scale = widest
        while edge(dimension, scale) > FAR_TOKENS:
            scale /= 2
        tokens = edge(dimension, scale)
        points += [(dimension, scale, tokens), (dimension, scale, 1e3 * tokens)]
        middle = math.sqrt(scale * 2 * (dimension + math.sqrt(dimension)))
        tokens = min(MOST_TOKENS, 1e6 * edge(dimension, middle))
        points.append((dimension, middle, tokens))
    return points


def instances(seed: int, count: int, widest: float) -> list[Point]:
    """Draw (d, w, n): log-uniform w, and n from the edge of the range upwards."""
    rng = np.random.default_rng(seed)
    drawn = extremes(widest)
    while len(drawn) < count:
        dimension = int(rng.choice(DIMENSIONS))
        low = math.log(dimension + math.sqrt(dimension))
        scale = math.exp(rng.uniform(low, math.log(widest)))
        tokens = edge(dimension, scale) * 10 ** (6 * rng.random() ** 2)
        if tokens <= MOST_TOKENS:
            drawn.append((dimension, scale, tokens))
    return drawn


def smooth(seed: int, count: int) -> Table:
    """Signal of affine tasks and noise, w up to 10^7."""
    from theorems.collins2024.loss import affine, evaluate

    points = instances(seed, count, 1e7)
    found = [evaluate(affine(size), w, n, 1.0) for size, w, n in points]
    values = {AFFINE: [x.signal for x in found], NOISE: [x.noise for x in found]}
    return tabled(points, values, f"d = 2..6, w up to 1e7, {TOKENS}")


def kinked(seed: int, count: int) -> Table:
    """Signal of ReLU tasks, and the largest of three classes, w up to 5000."""
    from theorems.collins2024.loss import affine, cosine, evaluate, relu

    points = instances(seed, count, 5e3)
    values: dict[str, list[Any]] = {RELU: [], LIPSCHITZ: []}
    waves = {size: cosine(size, WAVE) for size in DIMENSIONS}
    for size, scale, tokens in points:
        bend = evaluate(relu(size), scale, tokens, 1.0).signal
        line = evaluate(affine(size), scale, tokens, 1.0).signal
        wave = 0.0
        if scale < 500:
            wave = evaluate(waves[size], scale, tokens, 1.0).signal / WAVE**2
        values[RELU].append(bend)
        values[LIPSCHITZ].append(max(bend, line, wave))
    values[EVERYWHERE] = values[RELU]
    return tabled(points, values, f"d = 2..6, w up to 5000, {TOKENS}")


def tabled(points: list[Point], values: dict[str, list[Any]], space: str) -> Table:
    """Make a table of columns of values."""
    sizes, scales, counts = (np.array(x, float) for x in zip(*points, strict=True))
    arrays = {name: np.array(x, float).ravel() for name, x in values.items()}
    return Table(sizes, scales, counts, arrays, space)


def numbers(expr: sp.Expr, at: Table) -> Floats:
    """A formula in d, w and n on every instance."""
    function = sp.lambdify((d, w, n), expr, modules=["scipy", "numpy"])
    value = np.asarray(function(at.d, at.w, at.n), dtype=np.float64)
    return np.broadcast_to(value, at.d.shape)


def decide(claim: Claim, *tables: Table) -> Outcome:
    """Hold both sides of a claim about orders, with its constants, on instances."""
    seen = next(one for one in tables if str(claim.domain) in one.values)
    values = seen.values[str(claim.domain)]
    tightness, ratios = [], {}
    for side, constant in (("lower", "least"), ("upper", "most")):
        order = sp.sympify(getattr(claim, side, 0))
        if order == 0:
            continue
        bound = numbers(getattr(claim, constant) * order, seen)
        bound = bound * (1 - ACCURACY if side == "lower" else 1 + ACCURACY)
        ratio = bound / values if side == "lower" else values / bound
        row = int(np.argmax(ratio))
        witness = _row(claim, seen, bound, row, ">" if side == "lower" else "<")
        worst = float(ratio[row])
        if worst > 1:
            found = {"n": len(values), "measured": worst, "target": 1.0}
            says = f"the {side} order fails with its constant, {worst:.3g}-fold"
            return Refuted(says, witness=witness, margin=1 - worst, **found)
        tightness.append(Tightness(f"{side} order", worst))
        ratios[f"{side} order"] = ratio.tolist()
    most = max(bound.observed_over_bound for bound in tightness)
    return Holds(
        f"an exhibited constant is reached to {most:.2g} of itself",
        n=len(values),
        measured=most,
        target=1.0,
        margin=1 - most,
        searched=seen.space,
        tightness=tuple(tightness),
        figures=(
            figure(claim, seen),
            slack(ratios, title=f"Slack of the constants: {claim.domain}"),
        ),
    )


def _row(claim: Claim, seen: Table, bound: Floats, row: int, op: str) -> dict[str, Any]:
    """The instance on which a side fails: bound on the wrong side of the value."""
    columns = {"w": seen.w, "n": seen.n, "value": seen.values[str(claim.domain)]}
    columns |= {"d": seen.d, "bound": bound}
    return table(
        {name: [column[row]] for name, column in columns.items()},
        relation=[op, ["in", "bound"], ["in", "value"]],
        aggregate="all",
        says=f"{claim.domain}: exact value by quadrature, and the claimed bound",
    )


def shown(rows: NDArray[np.intp], values: Floats) -> NDArray[np.intp]:
    """At most 50 of some rows for a figure: evenly spread, and both extremes."""
    if len(rows) <= SHOWN:
        return rows
    kept = np.linspace(0, len(rows) - 1, SHOWN - 2).round().astype(int)
    ends = np.argmin(values[rows]), np.argmax(values[rows])
    return rows[np.unique([*kept, *ends])]


def written(order: sp.Expr) -> str:
    """An order for titles."""
    return str(order).replace("**", "^").replace("Lambda", "Λ")


def figure(claim: Claim, seen: Table) -> Figure:
    """Quantity over claimed order, against w."""
    order = sp.sympify(getattr(claim, "upper", 0) or getattr(claim, "lower", 0))
    ratio = seen.values[str(claim.domain)] / numbers(order, seen)
    curves = []
    for size in DIMENSIONS:
        mine = np.flatnonzero(seen.d == size)
        mine = shown(mine[np.argsort(seen.w[mine])], ratio)
        x, y = seen.w[mine].tolist(), ratio[mine].tolist()
        curves += [Series(f"d = {size}", x, y, style="points")] if x else []
    return Figure(
        name="ratio",
        title=f"{claim.domain} over {written(order)}",
        x_label="w (twice the appendix's)",
        y_label="exact value over claimed order",
        series=tuple(curves),
        x_log=True,
        y_log=True,
        caption=(
            "The ratio stays between constants that depend on d where the order is "
            "exact, and drifts where it is not."
        ),
    )
