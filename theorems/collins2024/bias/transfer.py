"""Losses on new tasks at the scale learnt from ReLU tasks, exactly, and their verdicts.

The scale w* minimises the exact loss on ReLU tasks with L = sigma = 1, n = Lambda. The
constants of Theorem 3.4 are those of these points: c_1 and c_2 are the least and the
largest of w* Lambda^-beta and w* Lambda^(-2 beta) at each d.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.collins2024.bias import orders, window
from theorems.collins2024.bias.observed import edge, written
from theorems.collins2024.bias.terms import LAMBDA
from theorems.collins2024.bounds.notation import d
from verify import Claim, Figure, Holds, Outcome, Refuted, Series
from verify.numerics import table
from verify.outcome import Tightness
from verify.symbolic import family

Floats = NDArray[np.float64]

SIZES = (2, 3, 4)
RATIO = 2.0  # L'/L of steeper tasks, and L/L' of flatter ones
SHRUNK = 1e-3  # f and sigma times this: Lambda and w* stay
SMALLER = sp.Symbol("k", positive=True)  # f and sigma over this


@dataclass(frozen=True)
class Learnt:
    """Scales learnt at points (d, Lambda), and losses there.

    Attributes:
        d: Sizes of a covariate.
        Lambda: n L^2 / sigma^2, equal to n.
        scale: The minimiser.
        values: Losses in the units of ``window.quantity``.
        outside: Points whose minimiser is outside the range of Corollary G.5.
    """

    d: Floats
    Lambda: Floats
    scale: Floats
    values: dict[str, Floats]
    outside: int


def learn(exponents: tuple[int, ...]) -> Learnt:
    """Learn at Lambda = 10^e; keep the points in the range of Corollary G.5."""
    from theorems.collins2024 import loss

    rows, outside = [], 0
    for size in SIZES:
        for exponent in exponents:
            n = 10.0**exponent
            w = float(loss.minimise(loss.relu(size), n, 1.0).w)
            if n < edge(size, w) or w < size + size**0.5:
                outside += 1
                continue
            same = [loss.relu(size), loss.affine(size), loss.cosine(size)]
            found = [loss.evaluate(task, w, n, 1.0) for task in same]
            bend, noise = float(found[0].signal), float(found[0].noise)
            rows.append((
                size,
                n,
                w,
                max(float(one.value) for one in found),
                bend + noise / RATIO**2,
                (bend / RATIO**2 + noise) * n,
            ))
    sizes, tokens, scales, new, steep, flat = np.array(rows).T
    values = {window.ANY: new, window.STEEPER: steep, window.FLATTER: flat}
    return Learnt(sizes, tokens, scales, values, outside)


def bound(expr: sp.Expr, seen: Learnt) -> Floats:
    """A formula in d, Lambda, c_1 and c_2 at the points."""
    beta = 1 / (seen.d + 2)
    low, high = np.empty_like(beta), np.empty_like(beta)
    for size in SIZES:
        mine = seen.d == size
        if mine.any():
            low[mine] = (seen.scale * seen.Lambda**-beta)[mine].min()
            high[mine] = (seen.scale * seen.Lambda ** (-2 * beta))[mine].max()
    names = (d, LAMBDA, window.c_1, window.c_2)
    function = sp.lambdify(names, expr, modules=["scipy", "numpy"])
    value = np.asarray(function(seen.d, seen.Lambda, low, high), dtype=np.float64)
    return np.broadcast_to(value, seen.d.shape)


def observed(claim: Claim, seen: Learnt) -> Outcome:
    """Hold an order with its constant against the exact losses."""
    upper = "most" in claim.parameters
    constant, order = (claim.most, claim.upper) if upper else (claim.least, claim.lower)
    limit, values = bound(constant * order, seen), seen.values[str(claim.domain)]
    power = int(claim.parameters.get("noise", 2))
    if power != 2:  # the same points with f and sigma shrunk
        limit, values = limit * SHRUNK**power, values * SHRUNK**2
    ratio = values / limit if upper else limit / values
    row = int(np.argmax(ratio))
    worst = float(ratio[row])
    found = {
        "n": len(ratio),
        "measured": worst,
        "target": 1.0,
        "margin": 1 - worst,
        "discards": {"outside the range of G.5": seen.outside} if seen.outside else {},
    }
    if worst > 1:
        columns = {"d": seen.d, "Lambda": seen.Lambda, "loss": values, "bound": limit}
        witness = table(
            {name: [column[row]] for name, column in columns.items()},
            relation=[">" if upper else "<", ["in", "loss"], ["in", "bound"]],
            aggregate="all",
            says=f"{claim.domain}: exact loss at the learnt scale, and the bound",
        )
        return Refuted(f"fails {worst:.3g}-fold", witness=witness, **found)
    return Holds(
        f"the constant is reached to {worst:.2g} of itself",
        tightness=(Tightness(f"{claim.domain}", worst),),
        figures=(figure(claim, seen),),
        **found,
    )


def figure(claim: Claim, seen: Learnt) -> Figure:
    """Loss at the learnt scale over the claimed order."""
    order = claim.parameters.get("upper", claim.parameters.get("lower"))
    ratio = seen.values[str(claim.domain)] / bound(sp.sympify(order), seen)
    curves = []
    for size in SIZES:
        mine = seen.d == size
        if mine.any():
            x, y = seen.Lambda[mine].tolist(), ratio[mine].tolist()
            curves.append(Series(f"d = {size}", x, y))
    return Figure(
        name="transfer",
        title=f"{claim.domain}: loss over {written(order)}",
        x_label="Λ = n L²/σ²",
        y_label="loss over claimed order",
        series=tuple(curves),
        x_log=True,
        y_log=True,
        caption=(
            "Exact losses at the scales learnt from ReLU tasks. A constant where the "
            "order is exact; an upper bound that is not sharp falls."
        ),
    )


def flatter(claim: Claim) -> Outcome:
    """Decide loss >= c sigma^noise order / n: a wrong power of sigma fails by scaling.

    f and sigma over k: Lambda, w* and all weights stay, the loss falls by k^2 and the
    claimed bound by k^noise.
    """
    power = sp.sympify(claim.noise)
    if power == 2:
        return orders.decide(claim)
    size, tokens = 3, 10**6
    order = sp.sympify(claim.lower).subs({d: size, LAMBDA: tokens})
    largest = sp.Rational(4 + 1)  # 4L'^2 + sigma^2 at L = sigma = 1
    # twice as much, for the order was rounded
    ratio = largest * tokens / sp.Rational(str(sp.Float(sp.N(order, 30), 6))) * 2
    fall = ratio * SMALLER ** (power - 2)
    says = (
        "d = 3, n = 10^6, L' = L/2 and σ = L = 1, all divided by k: loss over claim is "
        "at most this"
    )
    limit = f"the power of k is {power - 2}"
    steps = (
        "Λ and w* depend on L/σ and n only; the loss on tasks f/k with noise σ/k is "
        "1/k² of that on f and σ, which is at most 4L'² + σ² (Lemma C.2, V ≤ 1)",
        f"{says}: {fall}; {limit}",
    )
    witness = family(
        fall,
        SMALLER,
        (Fraction(10), Fraction(10**3), Fraction(10**6)),
        toward="0",
        says=says,
        limit=limit,
    )
    return Refuted(f"{says}: {fall}", witness=witness, steps=steps)
