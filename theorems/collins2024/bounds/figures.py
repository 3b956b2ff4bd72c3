"""Figures of Theorem 3.4: the claimed interval, and the regimes at the paper's d."""

from __future__ import annotations

import numpy as np
import sympy as sp

from theorems.collins2024.bounds import limit
from theorems.collins2024.bounds.decide import law_of
from theorems.collins2024.bounds.notation import d
from theorems.collins2024.bounds.observed import SHOWN, Optima, Point, exponent
from theorems.collins2024.bounds.scale import LAWS
from verify import Claim
from verify.outcome import Figure, Series

DEFAULT = 20 / 0.01**2
"""Lambda at the paper's d = 5, n = 20, sigma = 0.01, L = 1 (Appendix J)."""


def interval(claim: Claim, optima: Optima) -> Figure:
    """Minimisers at d = 5 against Lambda, with the claimed interval shaded."""
    law = law_of(claim)
    points = sorted(
        (point for point in optima.of(law) if point.d == SHOWN), key=lambda x: x.ratio
    )
    ratio = [point.ratio for point in points]
    first = points[0]
    ends = [ratio[0], ratio[-1]]  # powers of Λ are straight lines here
    grown = np.array(ends) / first.ratio
    low, high = (
        (first.w * grown ** float(sp.sympify(x).subs(d, SHOWN))).tolist()
        for x in (claim.low, claim.high)
    )
    middle = np.sqrt(np.array(low) * np.array(high)).tolist()
    sharp = float(limit.kappa(law).subs(d, SHOWN))
    power = float(law.order.subs(d, SHOWN))
    return Figure(
        name="interval",
        title=f"Scale of the minimiser, {law.name} tasks, d = {SHOWN}",
        x_label="Λ = nL²/σ²",
        y_label="w*",
        series=(
            Series("claimed interval", ends, middle, low=low, high=high),
            Series(f"κ Λ^({law.order})", ratio, [sharp * x**power for x in ratio]),
            Series("exact", ratio, [x.w for x in points], style="points"),
        ),
        x_log=True,
        y_log=True,
        caption=(
            "Minimisers of the exact loss, where noise dominates. The shaded fan "
            "starts at the leftmost of them and spreads with the claimed exponents."
        ),
    )


def slopes(claim: Claim, optima: Optima) -> Figure:
    """Local exponents at d = 5 against Lambda, with the claimed interval shaded."""
    law = law_of(claim)
    points = sorted(
        (point for point in optima.of(law) if point.d == SHOWN), key=lambda x: x.ratio
    )
    ratio = [point.ratio for point in points]
    low, high = (float(sp.sympify(x).subs(d, SHOWN)) for x in (claim.low, claim.high))
    power = law.order.subs(d, SHOWN)
    return Figure(
        name="slopes",
        title=f"Local exponents, {law.name} tasks, d = {SHOWN}",
        x_label="Λ = nL²/σ²",
        y_label="d log w* / d log Λ",
        series=(
            Series("exact", ratio, [-x.by_noise for x in points], style="points"),
            Series(
                "corrected to Λ = ∞", ratio, [exponent(x) for x in points],
                style="points",
            ),
        ),
        x_log=True,
        bands={
            "claimed interval": (low, high),
            f"proved, {power}": (float(power), float(power)),
        },
        caption=(
            "Local slopes of the exact minimisers, as they are and less what finite Λ "
            "adds to them. What is decided is whether the corrected ones lie in the "
            "claimed interval."
        ),
    )  # fmt: skip


def regimes(optima: Optima, law: str) -> Figure:
    """Minimisers at d = 5 and fixed n: slope 1, the power law, and the plateau."""
    curves: dict[float, list[Point]] = {}
    for point in optima.curves:
        if point.law == law:
            curves.setdefault(point.n, []).append(point)
    one = LAWS[law]
    sharp = float(limit.kappa(one).subs(d, SHOWN))
    power = float(one.order.subs(d, SHOWN))
    longest = [point.ratio for point in max(curves.values(), key=len)]
    return Figure(
        name="regimes",
        title=f"Three regimes, {law} tasks, d = {SHOWN}",
        x_label="Λ = nL²/σ²",
        y_label="w*",
        series=(
            *(
                Series(f"n = {n:g}", [p.ratio for p in row], [p.w for p in row])
                for n, row in curves.items()
            ),
            Series(f"κ Λ^({one.order})", longest, [sharp * x**power for x in longest]),
        ),
        x_log=True,
        y_log=True,
        marks={"the paper's default, n = 20": DEFAULT},
        caption=(
            "w* grows like Λ below 1, like the power law where noise dominates, and "
            "stays where the tokens are too few. The paper's default (d = 5, n = 20, "
            "σ = 0.01) lies on the plateau of n = 20: there L does not matter."
        ),
    )
