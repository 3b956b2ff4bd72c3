"""Classes of tasks as data: features of z = w.x, range of coefficients, law of w."""

from dataclasses import dataclass

import sympy as sp

d = sp.Symbol("d", positive=True, integer=True)
n = sp.Symbol("n", positive=True, integer=True)
L, sigma = sp.symbols("L sigma", positive=True)
z = sp.Symbol("z", real=True)
theta = sp.Symbol("theta", positive=True)  # the angle of x and y, in (0, pi)

Feature = tuple[sp.Expr, sp.Expr]  # for z > 0 and for z < 0

IDENTITY: Feature = (z, z)
CONSTANT: Feature = (sp.S.One, sp.S.One)
RIGHT: Feature = (z, sp.S.Zero)  # (z)_+
LEFT: Feature = (sp.S.Zero, -z)  # (-z)_+
SQUARE: Feature = (z**2 / 2, z**2 / 2)


@dataclass(frozen=True)
class TaskLaw:
    """A law of tasks f(x) = sum_j c_j phi_j(w.x).

    Attributes:
        name: In words.
        features: The phi_j, each a polynomial in z on either side of 0.
        reach: R; coefficients are iid uniform on [-R, R].
        directions: Law of w: ``uniform`` on the sphere, or ``axes``, uniform on
            +-e_1, ..., +-e_d, which has the same second moments.
    """

    name: str
    features: tuple[Feature, ...]
    reach: sp.Expr = L
    directions: str = "uniform"


AFFINE = TaskLaw("affine", (IDENTITY, CONSTANT))
RELU = TaskLaw("ReLU", (RIGHT, LEFT, CONSTANT))
# Each violates one part of Assumption B.4 and no other.
STEEP = TaskLaw("affine with slopes up to 2L", (IDENTITY, CONSTANT), reach=2 * L)
SQUARES = TaskLaw("squares", (SQUARE, CONSTANT))
AXES = TaskLaw("affine along coordinate axes", AFFINE.features, directions="axes")
