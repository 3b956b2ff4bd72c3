"""Lemma H.4: the noise term for two samples.

With α_1 = 1, α_2 = α and y = e^{c(a-b)} ≥ 1 the four summands of (u_1.u, u_2.u) =
(a, a), (b, b), (a, b), (b, a) are, up to a factor 2 α e^{..}/..,

    h_aa = h_bb = (1 - α)/(1 + α)³,
    h_ab = y (y - α)/(y + α)³,    h_ba = y (1 - αy)/(1 + αy)³.

The paper adds h_ab + h_ba + sqrt(h_aa h_bb); for k = 1 it may count the root twice:

    P_r = (1+α)³ y ((y-α)(1+αy)³ + (1-αy)(y+α)³)/(1-α) + r (y+α)³(1+αy)³, r = 1, 2.

In s = (y - 1)²/y and w = α/(1 + α)², which lies in (0, 1/4), P_r/(y³(1 + α)⁶) is

    F_1 = 3 + (1 - 3w)s - w(1 - 3w)s² + w³s³,    F_2 = 4 + s - w(1 - 6w)s² + 2w³s³.
"""

from __future__ import annotations

import functools

import sympy as sp

from theorems.collins2024.pairs.steps import equal, need
from verify.certify.positivity import bernstein

alpha, y, s, w = sp.symbols("alpha y s w", positive=True)

PAIRED = (
    (1 + alpha) ** 3
    * y
    * ((y - alpha) * (1 + alpha * y) ** 3 + (1 - alpha * y) * (y + alpha) ** 3)
)
DIAGONAL = (y + alpha) ** 3 * (1 + alpha * y) ** 3
A6 = alpha**3
A5 = alpha + alpha**2 + 6 * alpha**3 + alpha**4 + alpha**5
A4 = (
    1
    + 7 * alpha
    + 7 * alpha**2
    + 17 * alpha**3
    + 7 * alpha**4
    + 7 * alpha**5
    + alpha**6
)
A3 = (
    1
    + 6 * alpha
    + 33 * alpha**2
    + 36 * alpha**3
    + 33 * alpha**4
    + 6 * alpha**5
    + alpha**6
)
PRINTED = A6 * (y**6 + 1) - A5 * (y**5 + y) + A4 * (y**4 + y**2) + A3 * y**3
_Q = alpha**2 - alpha + 1
IN_S = (
    3 * (1 + alpha) ** 6
    + (1 + alpha) ** 4 * _Q * s
    - alpha * (1 + alpha) ** 2 * _Q * s**2
    + alpha**3 * s**3
)
F1 = 3 + (1 - 3 * w) * s - w * (1 - 3 * w) * s**2 + w**3 * s**3
F2 = 4 + s - w * (1 - 6 * w) * s**2 + 2 * w**3 * s**3
LIMIT = s**3 - 36 * s**2 - 324 * s - 648  # F_2 has its first zero at the root of this
S_ONE = sp.Rational(55245, 10000)  # above 4 sinh²(1) = 5.52439...


@functools.cache
def slopes() -> tuple[str, ...]:
    """The derivative, its four summands, and the polynomial."""
    e1, e2, a2, x = sp.symbols("e1 e2 alpha2 x", positive=True)
    H = ((e1 * x) ** 2 + (e2 * a2) ** 2) / (e1 * x + e2 * a2) ** 2
    term = 2 * e1 * e2 * a2 * (e1 * x - e2 * a2) / (e1 * x + e2 * a2) ** 3
    pair = (
        y * (y - alpha) / (y + alpha) ** 3 + y * (1 - alpha * y) / (1 + alpha * y) ** 3
    )
    below = (1 + alpha) ** 3 * DIAGONAL / (1 - alpha)
    root = (1 - alpha) / (1 + alpha) ** 3
    P = PAIRED / (1 - alpha) + DIAGONAL
    return (
        equal(
            "dH/dα_1",
            sp.diff(H, x),
            2 * e2 * a2 * e1 * (e1 * x - e2 * a2) / (e1 * x + e2 * a2) ** 3,
        ),
        equal("its summand", term, sp.diff(H, x)),
        equal(
            "(h_ab + h_ba + sqrt(h_aa h_bb)) over the common factor",
            sp.cancel((pair + root) * below),
            sp.cancel(P),
        ),
        equal("expanded in y", sp.cancel(P), PRINTED),
    )


@functools.cache
def substituted() -> tuple[str, ...]:
    """P_1 and P_2 in s and w."""
    at = {s: (y - 1) ** 2 / y}
    inner = {w: alpha / (1 + alpha) ** 2}
    twice = sp.cancel(PAIRED / (1 - alpha)) + 2 * DIAGONAL
    return (
        need("P_1/y³ in s", sp.cancel(PRINTED / y**3 - IN_S.subs(at)) == 0),
        need("in w", sp.cancel(IN_S / (1 + alpha) ** 6 - F1.subs(inner)) == 0),
        need(
            "P_2 in s and w",
            sp.cancel(twice / (y**3 * (1 + alpha) ** 6) - F2.subs(inner).subs(at)) == 0,
        ),
        need(
            "4w ≤ 1",
            sp.factor(1 - 4 * alpha / (1 + alpha) ** 2)
            == (alpha - 1) ** 2 / (alpha + 1) ** 2,
        ),
    )


@functools.cache
def printed_positive() -> dict[str, object]:
    """P_1 > 0 on the domain of the lemma, as a certificate in α and s."""
    found = bernstein(
        IN_S,
        {alpha: (0, 1), s: (0, S_ONE)},
        says="P/y³ > 0 for 0 ≤ α ≤ 1 and s = (y-1)²/y ≤ 5.5245, which is above "
        "4 sinh²(1): y ≤ e²",
    )
    if found is None:
        need("P_1 > 0", False)
    return found or {}


@functools.cache
def inside() -> str:
    """e² - 2 + e^-2 < 5.5245."""
    return need(
        "4 sinh²(1) = e² - 2 + e^-2 < 5.5245", bool(sp.exp(2) - 2 + sp.exp(-2) < S_ONE)
    )


@functools.cache
def threshold() -> tuple[str, ...]:
    """F_2 > 0 for all w in (0, 1/4) exactly while s is below the root of LIMIT.

    The number of zeros of F_2 in w changes only where the discriminant in w or a value
    at an end vanishes.
    """
    root = sp.Poly(LIMIT, s).real_roots()[-1]
    quarter = sp.Rational(1, 4)
    ends = [sp.Poly(F2.subs(w, x), s).coeffs() for x in (0, quarter)]
    zeros = [sp.Poly(F2.subs(s, x), w).count_roots(0, quarter) for x in (1, 44)]
    near = (sp.Rational(43745, 1000), sp.Rational(43746, 1000))
    return (
        equal("discriminant of F_2 in w", sp.discriminant(F2, w), 8 * s**6 * LIMIT),
        need("LIMIT has one positive zero", sp.Poly(LIMIT, s).count_roots(0) == 1),
        need("43.745 < zero < 43.746", bool(near[0] < root) and bool(root < near[1])),
        need("F_2 > 0 at both ends of w", all(x > 0 for row in ends for x in row)),
        need("zeros in w at s = 1: none, at s = 44: two", zeros == [0, 2]),
        f"so F_2 > 0 for s < {sp.N(root, 12)}, and not for all w from there on",
    )
