"""Exact minimisers over nine decades, against the minimum of a two-term model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.collins2024.bounds.notation import d
from verify import Claim, Holds, Outcome, Refuted
from verify.numerics import table
from verify.outcome import Figure, Series

Floats = NDArray[np.float64]

DIMENSIONS = (2, 3, 4, 5, 6)
SHORTEST, LONGEST = 3, 12  # decimal logarithms of Lambda


@dataclass(frozen=True)
class Decades:
    """Minimisers at ``sigma = L = 1``, ``n = Lambda``, by class and dimension.

    Attributes:
        ratio: Lambda, ``(points,)``.
        w: Minimisers, ``(points,)``, by class and dimension.
        slope: ``d log w* / d log Lambda`` as the noise varies, likewise.
    """

    ratio: Floats
    w: dict[tuple[str, int], Floats]
    slope: dict[tuple[str, int], Floats]


def observe(per_decade: int, progress: Callable[[int, int], None]) -> Decades:
    """Minimise the exact loss of both classes in every dimension."""
    from theorems.collins2024 import loss

    count = (LONGEST - SHORTEST) * per_decade + 1
    ratio = np.logspace(SHORTEST, LONGEST, count)
    found = Decades(ratio, {}, {})
    for name, task in (("affine", loss.affine), ("relu", loss.relu)):
        for size in DIMENSIONS:
            optimum = loss.minimise(task(size), ratio, np.ones_like(ratio))
            found.w[name, size] = optimum.w
            found.slope[name, size] = -optimum.sensitivity.noise
            progress(len(found.w), 2 * len(DIMENSIONS))
    return found


def predicted(claim: Claim, size: int, ratio: Floats) -> Floats:
    """Minimise ``first w^-power + second w^-2 + noise w^growth / Lambda``."""
    from scipy import optimize

    first, power, second, noise, growth = (
        float(sp.sympify(value).subs(d, size))
        for value in (
            claim.first, claim.power, claim.second, claim.noise, claim.growth,
        )
    )  # fmt: skip

    def slope(x: float, large: float) -> float:
        # The slope times w, in x = log w, as a difference of logarithms.
        falling = power * first * np.exp(-power * x) + 2 * second * np.exp(-2 * x)
        return float(np.log(growth * noise / large) + growth * x - np.log(falling))

    roots = [optimize.brentq(slope, -60, 60, args=(x,), xtol=1e-13) for x in ratio]
    return np.exp(np.array(roots))


def decide(claim: Claim, decades: Decades) -> Outcome:
    """Hold ``|w*/model - 1| w*`` against the claimed constant, everywhere."""
    rows: list[tuple[float, ...]] = []
    for size in DIMENSIONS:
        w = decades.w[str(claim.task), size]
        model = predicted(claim, size, decades.ratio)
        rows.extend(zip([size] * len(w), decades.ratio, w, model, strict=True))
    _, _, w, model = columns = np.array(rows).T
    within = float(claim.within)
    # Rounding of both sides is 1e-9 of it and less than any slack that is accepted.
    off = np.abs(w / model - 1) * w
    names = dict(zip(("d", "Lambda", "w", "model"), columns, strict=True))
    error = [
        "mul",
        ["in", "w"],
        ["abs", ["sub", ["div", ["in", "w"], ["in", "model"]], 1]],
    ]
    evidence = {
        "measured": float(off.max()),
        "target": within,
        "margin": 1 - float(off.max()) / within,
        "n": len(off),
        "figures": (slopes(claim, decades),),
    }
    if off.max() <= within:
        record = table(
            names, relation=["<=", error, _exact(claim)], aggregate="all",
            says="every minimiser is near that of the model",
        )  # fmt: skip
        return Holds(
            "the model predicts every minimiser", certificate=record, **evidence
        )
    worst = {name: column[[off.argmax()]] for name, column in names.items()}
    witness = table(
        worst, relation=[">", error, _exact(claim)], aggregate="all",
        says="this minimiser of the exact loss is not near that of the model",
    )  # fmt: skip
    return Refuted("the model misses a minimiser", witness=witness, **evidence)


def _exact(claim: Claim) -> str:
    return str(sp.Rational(claim.within))


def slopes(claim: Claim, decades: Decades) -> Figure:
    """Local exponents less their limits, against Lambda."""
    task = str(claim.task)
    limit = 1 / (sp.sympify(claim.power) + sp.sympify(claim.growth))
    return Figure(
        name="local-slopes",
        title=f"Local exponent of w* less its limit, {task} tasks",
        x_label="Λ = nL²/σ²",
        y_label="d log w* / d log Λ − limit",
        series=tuple(
            Series(
                f"d = {size}, limit {limit.subs(d, size)}",
                decades.ratio,
                decades.slope[task, size] - float(limit.subs(d, size)),
            )
            for size in DIMENSIONS
        ),
        x_log=True,
        bands={"limit": (0.0, 0.0)},
        caption=(
            "Exact local slopes at σ = L = 1, n = Λ. Those of ReLU tasks cross their "
            "limit and return from below like w^(-1/2): a slope read off a few decades "
            "is no exponent."
        ),
    )
