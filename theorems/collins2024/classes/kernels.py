"""Kernels E f(x) f(y) of a law of tasks, derived from its features.

For unit x, y at angle theta the projection of w ~ U_d on their plane is r (cos s,
sin s) with s uniform and independent of r, E r^2 = 2/d, E r^4 = 8/(d (d + 2)): moments
of Dirichlet variables. Cross terms of two features vanish, as their coefficients are
independent and centred.
"""

import functools

import sympy as sp
from sympy.simplify.fu import TR8

from theorems.collins2024.classes.tasks import Feature, TaskLaw, d, theta, z

RADIAL = {0: sp.S.One, 1: 2 / d, 2: 8 / (d * (d + 2))}  # E r^{2k}
_s = sp.Symbol("s", real=True)
# Arcs of s on which the signs of cos s and cos(s - theta) are fixed.
_ARCS = (
    (0, 0, theta - sp.pi / 2, sp.pi / 2),
    (1, 0, sp.pi / 2, theta + sp.pi / 2),
    (1, 1, theta + sp.pi / 2, 3 * sp.pi / 2),
    (0, 1, 3 * sp.pi / 2, theta + 3 * sp.pi / 2),
)


def degree(feature: Feature) -> int:
    """Degree of a homogeneous feature."""
    return max(int(sp.degree(side, z)) if side.has(z) else 0 for side in feature)


def _arc(product: sp.Expr, low: sp.Expr, high: sp.Expr) -> sp.Expr:
    """Integrate a product of cosines in s over an arc, as a sum of cosines."""
    total = sp.S.Zero
    for term in sp.Add.make_args(sp.expand(TR8(product))):
        wave = next((w for w in term.atoms(sp.cos) if w.has(_s)), None)
        if wave is None:
            total += term * (high - low)
            continue
        rate = sp.diff(wave.args[0], _s)
        ends = [sp.sin(sp.expand(wave.args[0].subs(_s, end))) for end in (high, low)]
        total += term / wave * (ends[0] - ends[1]) / rate
    return total


@functools.cache
def feature_kernel(feature: Feature) -> sp.Expr:
    """E phi(w.x) phi(w.y) for w ~ U_d, as a function of the angle."""
    total = sp.S.Zero
    for side, other, low, high in _ARCS:
        product = feature[side].subs(z, sp.cos(_s))
        product *= feature[other].subs(z, sp.cos(_s - theta))
        total += _arc(product, sp.sympify(low), sp.sympify(high))
    return sp.expand(sp.expand(total) / (2 * sp.pi)) * RADIAL[degree(feature)]


@functools.cache
def kernel(law: TaskLaw) -> sp.Expr:
    """E f(x) f(y) as a function of the angle of x and y."""
    parts = [feature_kernel(feature) for feature in law.features]
    return law.reach**2 / 3 * sum(parts)


@functools.cache
def slope(law: TaskLaw) -> sp.Expr:
    """The slope of E f(x) f(y) in x.y, as a function of the angle."""
    rise = sp.expand(sp.expand_trig(sp.diff(kernel(law), theta)))
    return sp.cancel(-rise / sp.sin(theta))


@functools.cache
def steepest(law: TaskLaw) -> sp.Expr:
    """Largest |d/dz f| over coefficients and z in [-1, 1], as the kernel's R times it.

    It is R max_z sum_j |phi_j'(z)|; on either side of 0 every phi_j' is a monomial, so
    that the maximum is at the end of the side.
    """
    sides = [
        sum(sp.Abs(sp.diff(feature[side], z).subs(z, end)) for feature in law.features)
        for side, end in ((0, 1), (1, -1))
    ]
    return law.reach * sp.Max(*sides)
