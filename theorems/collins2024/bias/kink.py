"""ReLU tasks against affine ones, and what the two sides of the kink share."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from theorems.collins2024.bias import proof
from theorems.collins2024.bias.observed import shown
from theorems.collins2024.bounds.steps import equal
from verify import Cause, Claim, Figure, Holds, Inconclusive, Outcome, Refuted, Series
from verify.numerics import table
from verify.outcome import Tightness
from verify.symbolic import formula

L = sp.Symbol("L", positive=True)
AS_STATED = "slopes independent, offset b"
CENTRED = "slopes independent, no offset"
ONE_SLOPE = "one slope on both sides, no offset"

SLOPE, OTHER, OFFSET = sp.symbols("l_1 l_2 b", real=True)
HERE, THERE = sp.symbols("z_j z_i", positive=True)  # |ω·x_j|, |ω·x_i|

Floats = NDArray[np.float64]


def labels(domain: str) -> tuple[sp.Expr, sp.Expr]:
    """f(x_i) across the kink, and the affine f(x_j) on the query's side."""
    offset = OFFSET if domain == AS_STATED else sp.S.Zero
    other = SLOPE if domain == ONE_SLOPE else OTHER
    return other * THERE + offset, SLOPE * HERE + offset


def covariance(claim: Claim) -> Outcome:
    """Integrate the product over l_1, l_2 and b, each uniform on [-L, L]."""
    left, right = labels(str(claim.domain))
    mean = left * right
    for one in (SLOPE, OTHER, OFFSET):
        mean = sp.integrate(sp.expand(mean), (one, -L, L)) / (2 * L)
    mean, claimed = sp.expand(mean), sp.sympify(claim.covariance)
    says = f"E f(x_i) f_aff(x_j) given ω and tokens; {claim.domain}"
    if sp.expand(mean - claimed) == 0:
        return Holds(f"it is {mean}", steps=(equal(says, mean, claimed),))
    at = {"L": 1, "z_i": Fraction(1, 2), "z_j": Fraction(1, 3)}
    witness = formula(mean, "!=", claimed, at, says)
    return Refuted(f"it is {mean}, not {claimed}", witness=witness)


def enumerate_signs(claim: Claim, seed: int, count: int) -> Outcome:
    """Average over l_1, l_2, b = ±L/√3 with L = √3: the same second moments."""
    rng, worst = Random(seed), None  # ruff: ignore[suspicious-non-cryptographic-random-usage]
    left, right = (
        sp.lambdify((SLOPE, OTHER, OFFSET, HERE, THERE), side)
        for side in labels(str(claim.domain))
    )
    claimed = Fraction(str(sp.sympify(claim.covariance).subs(L, sp.sqrt(3))))
    for _ in range(count):
        sizes = [Fraction(rng.randint(1, 20), 20) for _ in range(2)]
        signs = list(product((Fraction(-1), Fraction(1)), repeat=3))
        values = [(left(*s, *sizes), right(*s, *sizes)) for s in signs]
        mean = sum((a * b for a, b in values), Fraction(0)) / len(signs)
        if mean != claimed:
            worst = values
            break
    if worst is None:
        return Holds("equal on every instance", n=count, searched="|ω·x| on a grid")
    return Refuted(
        "another mean of the product",
        witness=_means(worst, claimed),
        n=count,
    )


def _means(
    values: list[tuple[Fraction, Fraction]], claimed: Fraction
) -> dict[str, Any]:
    terms = [sp.Rational(a.numerator, a.denominator) for a, _ in values]
    others = [sp.Rational(b.numerator, b.denominator) for _, b in values]
    names = sp.symbols(f"f0:{len(values)}"), sp.symbols(f"g0:{len(values)}")
    mean = sp.Add(*[a * b for a, b in zip(*names, strict=True)]) / len(values)
    at = dict(zip(map(str, names[0]), map(Fraction, map(str, terms)), strict=True))
    at |= dict(zip(map(str, names[1]), map(Fraction, map(str, others)), strict=True))
    target = sp.Rational(claimed.numerator, claimed.denominator)
    says = "mean of f(x_i) f_aff(x_j) over slopes and offset of either sign"
    return formula(mean, "!=", target, at, says)


def uniform_share(size: int) -> sp.Expr:
    """L_relu / L_aff at w = 0: every E_k is 1 + 1/n, and sum b_k = 1/d - b_0."""
    half = sp.Rational(size, 2)
    b_0 = (sp.gamma(half) / (sp.sqrt(sp.pi) * sp.gamma(half + sp.Rational(1, 2)))) ** 2
    return sp.simplify(1 - size * b_0 / 2)


def share(claim: Claim) -> Outcome:
    """Decide L_relu >= ``claim.share`` L_aff for all w, n and d."""
    claimed = sp.sympify(claim.share)
    steps = proof.halves()
    if claimed <= sp.Rational(1, 2):
        why = "L_relu - L_aff/2 = (L²/6) E(Σγ|z_i| - |z|)² ≥ 0"
        return Holds("an identity, for all w", steps=(*steps, why))
    # d = 2: 1 - 4/π² with π < 22/7
    bounds = {3: uniform_share(3), 2: 1 - 4 * sp.Rational(7, 22) ** 2}
    for size, least in bounds.items():
        if least < claimed:
            says = f"d = {size}, w = 0, any n: L_relu/L_aff is at most this"
            witness = formula(least, "<", claimed, {}, says)
            return Refuted(f"{says}: {least}", witness=witness, steps=steps)
    return Inconclusive("no proof of this share", cause=Cause.NO_PROOF)


@dataclass(frozen=True)
class Ratios:
    """Exact ReLU and affine signals, one instance per entry."""

    d: Floats
    w: Floats
    n: Floats
    relu: Floats
    affine: Floats


def draw(seed: int, count: int) -> Ratios:
    """Random d, n, and w of any sign; small w and w = -30 at d = 2 always."""
    from theorems.collins2024.loss import affine, evaluate, relu

    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, count)
    sizes[:3] = 2, 3, 2
    tokens = np.floor(10 ** rng.uniform(0.3, 6, count))
    scales = rng.choice([-1, 1], count) * 10 ** rng.uniform(-3, 2.5, count)
    scales[:3] = 1e-3, 1e-3, -30.0
    both = [
        [
            float(evaluate(make(int(size)), scale, n, 0.0).signal)
            for size, scale, n in zip(sizes, scales, tokens, strict=True)
        ]
        for make in (relu, affine)
    ]
    return Ratios(sizes.astype(float), scales, tokens, *map(np.array, both))


def observed(claim: Claim, seen: Ratios) -> Outcome:
    """Hold a share against exact signals."""
    claimed = float(claim.share)
    ratio = seen.relu / seen.affine
    row = int(np.argmin(ratio))
    least = float(ratio[row])
    found = {"n": len(ratio), "measured": least, "target": claimed}
    found["margin"] = least - claimed
    if least >= claimed:
        bound = Tightness("half the affine signal", claimed / least)
        says = f"the ratio is at least {least:.4f}"
        return Holds(says, tightness=(bound,), figures=(figure(seen),), **found)
    witness = table(
        {"relu": [seen.relu[row]], "affine": [seen.affine[row]]},
        relation=[
            "<",
            ["in", "relu"],
            ["mul", claimed.hex(), ["in", "affine"]],
        ],
        aggregate="all",
        says="exact signals by quadrature, and the claimed share",
    )
    return Refuted("a smaller ratio", witness=witness, **found)


def figure(seen: Ratios) -> Figure:
    """The ratio of signals, against |w|."""
    ratio, curves = seen.relu / seen.affine, []
    for sign, mine in (("w < 0", seen.w < 0), ("w > 0", seen.w > 0)):
        if mine.any():
            rows = np.flatnonzero(mine)
            rows = shown(rows[np.argsort(np.abs(seen.w[rows]))], ratio)
            x, y = np.abs(seen.w[rows]).tolist(), ratio[rows].tolist()
            curves.append(Series(sign, x, y, style="points"))
    return Figure(
        name="share",
        title="ReLU over affine signal",
        x_label="|w| (w is twice the appendix's)",
        y_label="ratio",
        series=tuple(curves),
        x_log=True,
        bands={"one half": (0.5, 0.5)},
        caption=(
            "Random d = 2..6 and n. The ratio tends to 1/2 for w → -∞, where even "
            "parts vanish, and is nowhere below."
        ),
    )
