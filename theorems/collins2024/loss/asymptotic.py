"""Limits for many samples and a narrow window: constants, exponents, two-term model.

    noise:        sigma^2 b_d w^m / n,                     m = (d - 1) / 2,
    signal:       affine  L^2 a w^-2,                      a = (d - 1)^2 / (12 d),
                  ReLU    L^2 (a w^(-3/2) + (d - 1)^2 / (12 d) w^-2),
                          a = (2/3) p_d(0) (2 - sqrt 2) / (3 sqrt pi),
    optimum:      kappa Lambda^(1 / (m + p)), kappa = (p a / (b m))^(1 / (m + p)),

``p`` the exponent of the signal, ``p_d(0)`` the density of ``w . x`` at the kink. Seen
from afar tokens are a Poisson process with Gaussian weights on R^(d-1): ``b_d`` is
``lim n V / w^m = lim A(2w) / (A(w)^2 w^m)`` with ``A(w) = E exp(-w u)``, and a kink
smoothed by a Gaussian of variance ``1/w`` has squared error
``w^(-3/2) int (phi - |x| Phi(-|x|))^2 dx``.
"""

from __future__ import annotations

import numpy as np
import sympy
from numpy.typing import ArrayLike
from scipy import optimize

from theorems.collins2024.loss.nodes import Floats
from theorems.collins2024.loss.optimum import minimise
from theorems.collins2024.loss.tasks import affine, relu

d = sympy.Symbol("d", positive=True)
CLASSES = {"affine": affine, "relu": relu}

# m: the dimension of the sphere, halved; the exponent of the noise.
noise_exponent = (d - 1) / 2
b_d = sympy.sqrt(sympy.pi) * 2 ** (2 - d) / sympy.gamma(d / 2)
density_at_kink = sympy.gamma(d / 2) / (sympy.sqrt(sympy.pi) * sympy.gamma((d - 1) / 2))
curvature = (d - 1) ** 2 / (12 * d)
kink = (
    sympy.Rational(2, 3)
    * density_at_kink
    * (2 - sympy.sqrt(2))
    / (3 * sympy.sqrt(sympy.pi))
)
a_d = {"affine": curvature, "relu": kink}
signal_exponent = {"affine": sympy.Integer(2), "relu": sympy.Rational(3, 2)}
window_exponent = {
    name: sympy.simplify(1 / (noise_exponent + p))
    for name, p in signal_exponent.items()
}


def kappa_d(name: str) -> sympy.Expr:
    """``lim w* / Lambda^e`` of the class, an expression in ``d``.

    >>> round(float(kappa_d("affine").subs(d, 5)), 5)
    1.12468
    """
    p = signal_exponent[known(name)]
    return (p * a_d[name] / (b_d * noise_exponent)) ** window_exponent[name]


def known(name: str) -> str:
    """Return the name of a class that has limits here.

    Raises:
        ValueError: It has none.
    """
    if name not in CLASSES:
        raise ValueError(f"limits are known for {', '.join(CLASSES)}, not for {name}")
    return name


def one_term(name: str, dimension: int, ratio: ArrayLike) -> Floats:
    """``kappa Lambda^e``, the limit of the optimum for large ``Lambda``."""
    kappa = float(kappa_d(name).subs(d, dimension))
    return kappa * np.asarray(ratio, dtype=float) ** float(
        window_exponent[name].subs(d, dimension)
    )


def two_terms(name: str, dimension: int, ratio: ArrayLike) -> Floats:
    """Minimise the model with the signal's first two terms, at ``Lambda = ratio``."""
    p = float(signal_exponent[known(name)])
    m, b, a, second = (
        float(value.subs(d, dimension))
        for value in (noise_exponent, b_d, a_d[name], curvature)
    )
    second = second if name == "relu" else 0.0
    ratio = np.asarray(ratio, dtype=float)

    def slope(x: float, large: float) -> float:
        # The slope times w, in x = log w, as a difference of logarithms.
        falling = p * a * np.exp(-p * x) + 2 * second * np.exp(-2 * x)
        return float(np.log(m * b / large) + m * x - np.log(falling))

    start = np.log(one_term(name, dimension, ratio))
    found = [
        optimize.brentq(slope, x - 30, x + 30, args=(large,), xtol=1e-14)
        for x, large in zip(start.ravel(), ratio.ravel(), strict=True)
    ]
    return np.exp(np.array(found)).reshape(ratio.shape)


def finite_size_correction(
    name: str, dimension: int, n: ArrayLike, sigma: ArrayLike, L: float = 1.0
) -> Floats:
    """Divide the exact optimum by its limit ``kappa Lambda^e``.

    Raises:
        ValueError: The class has no limit here, or ``sigma`` is 0.
    """
    task = CLASSES[known(name)](dimension, L)
    sigma = np.asarray(sigma, dtype=float)
    if not np.all(sigma > 0):
        raise ValueError(f"sigma is positive: Lambda = n L^2 / sigma^2; got {sigma}")
    ratio = np.asarray(n, dtype=float) * L**2 / sigma**2
    return minimise(task, n, sigma).w / one_term(name, dimension, ratio)
