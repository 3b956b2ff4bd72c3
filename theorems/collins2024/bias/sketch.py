"""Verdicts on the sketch of Section 3.1: the best scale of an average over a cap."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.collins2024.bias import cap, observed
from theorems.collins2024.bias.orders import rounded
from theorems.collins2024.bias.terms import LAMBDA
from theorems.collins2024.bounds.notation import d, m
from theorems.collins2024.bounds.steps import equal
from verify import Claim, Holds, Outcome, Refuted
from verify.numerics import table
from verify.outcome import Tightness
from verify.symbolic import family

Floats = NDArray[np.float64]

SIZES = (2, 3, 4, 5, 6)
HALVINGS = 200  # golden-section steps: the bracket shrinks to rounding
GOLDEN = (math.sqrt(5) - 1) / 2


def orders_of(seed: int, count: int) -> observed.Table:
    """Exact bias and noise of caps at random d, w and n."""
    rng = np.random.default_rng(seed)
    points = [
        (int(rng.choice(SIZES)), 10 ** rng.uniform(0, 7), 10 ** rng.uniform(0, 12))
        for _ in range(count)
    ]
    points += [(size, 1e7, 1e3) for size in SIZES]
    found = [cap.exact(size, w) for size, w, _ in points]
    noise = [one[1] / n for one, (_, _, n) in zip(found, points, strict=True)]
    values = {"cap, bias": [one[0] for one in found], "cap, noise": noise}
    return observed.tabled(points, values, "d = 2..6, w up to 1e7, n up to 1e12")


@dataclass(frozen=True)
class Optima:
    """Best scales of the cap at points (d, Lambda)."""

    d: Floats
    Lambda: Floats
    scale: Floats


def optima(exponents: tuple[int, ...]) -> Optima:
    """Minimise the exact loss of the cap over w >= 1/2, by golden section in log w."""
    rows = [(size, 10.0**e, best(size, 10.0**e)) for size in SIZES for e in exponents]
    return Optima(*np.array(rows).T)


def best(size: int, ratio: float) -> float:
    """The minimiser at Lambda = ``ratio``; mu falls and 1/F grows with w."""
    low, high = math.log(0.5), math.log(ratio)
    for _ in range(HALVINGS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        if cap.loss(size, math.exp(left), ratio) < cap.loss(
            size, math.exp(right), ratio
        ):
            high = right
        else:
            low = left
    return math.exp((low + high) / 2)


def decide(claim: Claim) -> Outcome:
    """Decide w* = Theta(Lambda^exponent), or show that the ratio has no bound."""
    claimed, exact = sp.sympify(claim.exponent), 1 / (m + 2)
    gap, steps = sp.simplify(exact - claimed), cap.balance()
    if gap == 0:
        return Holds("proved for all d ≥ 2", steps=steps)
    low, high = (one.subs(d, 3) for one in cap.constants())
    here = gap.subs(d, 3)
    toward, constant, sign = ("infinity", low, -1) if here > 0 else ("0", high, 1)
    bound = rounded(constant, sign) * LAMBDA**here
    side = "at least" if here > 0 else "at most"
    says = f"d = 3: best scale over Λ^({claimed.subs(d, 3)}) is {side} this"
    limit = f"the power of Λ is {here}"
    at = (10**3, 10**30, 10**300)
    witness = family(bound, LAMBDA, at, toward=toward, says=says, limit=limit)
    why = f"{says}: {bound}"
    return Refuted(why, witness=witness, steps=(*steps, f"{why}; {limit}"))


def held(claim: Claim, seen: Optima) -> Outcome:
    """Hold the constants of ``cap.constants`` against exact minimisers."""
    exponent = sp.lambdify(d, claim.exponent)
    low, high = (
        np.array([float(one(size)) for size in seen.d])
        for one in (sp.lambdify(d, c, "scipy") for c in cap.constants())
    )
    ratio = seen.scale / seen.Lambda ** np.array([exponent(size) for size in seen.d])
    excess = np.maximum(low / ratio, ratio / high)
    row = int(np.argmax(excess))
    worst = float(excess[row])
    found = {"n": len(ratio), "measured": worst, "target": 1.0, "margin": 1 - worst}
    if worst <= 1:
        tightness = (Tightness("c_3 and c_4", worst),)
        return Holds("within the constants", tightness=tightness, **found)
    above = ratio[row] > high[row]
    columns = {
        "d": seen.d[row],
        "Lambda": seen.Lambda[row],
        "ratio": ratio[row],
        "bound": (high if above else low)[row],
    }
    witness = table(
        {name: [value] for name, value in columns.items()},
        relation=[">" if above else "<", ["in", "ratio"], ["in", "bound"]],
        aggregate="all",
        says="best scale over the claimed power of Λ, and the constant it violates",
    )
    return Refuted(f"outside its constants {worst:.3g}-fold", witness=witness, **found)


def powers_balance(claim: Claim) -> Outcome:
    """Decide that w^-fall + w^rise/Lambda is least at Theta(Lambda^exponent)."""
    fall, rise = sp.sympify(claim.fall), sp.sympify(claim.rise)
    power = 1 / (fall + rise)  # at w^(fall + rise) = (fall/rise) Lambda
    steps = (
        equal("slope times w over w^-fall", fall - rise * (fall / rise), sp.S.Zero),
        "both terms are convex in log w, so that this is the minimum",
    )
    gap = sp.simplify(power - sp.sympify(claim.exponent))
    if gap == 0:
        return Holds("one line of calculus", steps=steps)
    here, constant = gap.subs(d, 3), ((fall / rise) ** power).subs(d, 3)
    toward, sign = ("infinity", -1) if here > 0 else ("0", 1)
    bound = rounded(constant, sign) * LAMBDA**here
    says = "d = 3: the minimiser over the claimed power of Λ is about this"
    limit = f"the power of Λ is {here}"
    at = (10**3, 10**30, 10**300)
    witness = family(bound, LAMBDA, at, toward=toward, says=says, limit=limit)
    return Refuted(f"{says}: {bound}", witness=witness, steps=(*steps, limit))
