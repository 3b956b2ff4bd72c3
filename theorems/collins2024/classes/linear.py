"""Loss of linear attention in closed form, for classes of degree one.

h = sum_i (f(x_i) + e_i) x_i.M x. Given f let m = E_x f(x) x, and K = E f(x)^2. With
E m m^T = kappa I, E f(x)^2 x x^T = (K/d) I (isotropy) and g = sum_i (f(x_i) + e_i) x_i:

    E g.M x f(x) = n E m.M m = n kappa tr M
    E (g.M x)^2  = E |M^T g|^2 / d = |M|_F^2 (n (K + s^2)/d + n (n - 1) kappa) / d

and |M - u I|^2 = |M|^2 - 2 u tr M + u^2 d completes the square.
"""

import functools
from dataclasses import dataclass

import sympy as sp

from theorems.collins2024.classes.kernels import degree, kernel
from theorems.collins2024.classes.tasks import Feature, TaskLaw, d, n, theta, z
from verify import Cause, Undecided

variance = sp.Symbol("variance", positive=True)  # sigma^2
trace, square = sp.symbols("trace square", real=True)  # tr M, |M|_F^2
u = sp.Symbol("u", real=True)


def overlap(feature: Feature) -> sp.Expr:
    """E z phi(z) for z = w.x: half of E z^2 = 1/d on either side, phi = slope z."""
    if degree(feature) == 0:
        return sp.S.Zero
    return sum(side / z for side in feature) / (2 * d)


@dataclass(frozen=True)
class Moments:
    """Second moments of a class, as far as linear attention sees them.

    Attributes:
        power: K = E f(x)^2.
        kappa: E |m|^2 / d.
    """

    power: sp.Expr
    kappa: sp.Expr

    @property
    def quadratic(self) -> sp.Expr:
        """Coefficient of |M|_F^2."""
        return (n * (self.power + variance) / d + n * (n - 1) * self.kappa) / d

    @property
    def loss(self) -> sp.Expr:
        """The loss in tr M and |M|_F^2."""
        return self.power - 2 * n * self.kappa * trace + square * self.quadratic

    @property
    def scale(self) -> sp.Expr:
        """The u for which u I is the minimiser."""
        return n * self.kappa / self.quadratic

    @property
    def least(self) -> sp.Expr:
        """The least loss over all M."""
        return self.power - n**2 * self.kappa**2 * d / self.quadratic


@functools.cache
def completed() -> str:
    """Complete the square for any K and kappa: the loss is least at a multiple of I.

    Returns:
        The step.

    Raises:
        Undecided: It was not proved.
    """
    any_class = Moments(*sp.symbols("K kappa", positive=True))
    distance = square - 2 * any_class.scale * trace + any_class.scale**2 * d
    right = any_class.least + any_class.quadratic * distance
    if sp.cancel(sp.together(any_class.loss - right)) != 0:
        raise Undecided("the square was not completed", Cause.NO_PROOF)
    return "L_LA(M) = least + coefficient · |M - uI|², for any K and kappa"


@functools.cache
def moments(law: TaskLaw) -> Moments:
    """Derive K and kappa from the features of a class."""
    power = sp.factor(kernel(law).subs(theta, 0))
    kappa = law.reach**2 / 3 * sum(overlap(f) ** 2 for f in law.features) / d
    return Moments(power, sp.factor(kappa))
