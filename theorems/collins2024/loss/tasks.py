"""Classes of tasks, by the mass that they have in the harmonics of each degree.

A class with kernel ``E f(x) f(y) = sum_k c_k P_k(x . y)`` (independent of rotations;
Assumption B.4, parts 2 and 3) has signal ``sum_k c_k E_k``: products of harmonics of
different degrees average to zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import mpmath
import numpy as np
from scipy import special

from theorems.collins2024.loss.nodes import Floats

# Digits of the partial sums whose complement is the rest.
DIGITS = 50
START = 64


@dataclass(frozen=True)
class TaskClass:
    """A class of tasks on the sphere, up to an offset that cancels.

    Attributes:
        name: Name of the class.
        d: Size of a covariate.
        degrees: Degrees that are kept apart.
        weights: ``c_k`` of these degrees.
        rest: Mass in all further degrees, where ``E_k = 1 + V``.
        up_to: Keeps more degrees apart, or None where there are no more.
    """

    name: str
    d: int
    degrees: tuple[int, ...]
    weights: Floats = field(compare=False)
    rest: float = 0.0
    up_to: Callable[[int], TaskClass] | None = field(default=None, compare=False)


def isotropic(
    name: str,
    d: int,
    degrees: tuple[int, ...],
    weights: tuple[float, ...] | Floats,
    rest: float = 0.0,
) -> TaskClass:
    """Make a class from its masses.

    Raises:
        ValueError: Degrees and weights do not match, or a mass is negative.
    """
    mass = np.asarray(weights, dtype=np.float64)
    if mass.shape != (len(degrees),) or len(set(degrees)) != len(degrees):
        raise ValueError(
            f"{name}: one weight per distinct degree; got {len(degrees)} degrees and "
            f"weights of shape {mass.shape}"
        )
    if rest < 0 or np.any(mass < 0):
        raise ValueError(f"{name}: masses are at least 0; got {mass}, rest {rest}")
    return TaskClass(name, d, tuple(int(k) for k in degrees), mass, float(rest))


def affine(d: int, L: float = 1.0) -> TaskClass:
    """Definition 3.2: ``l w . x + b``, ``E l^2 = L^2 / 3``, ``w`` uniform (Σ = I)."""
    return isotropic("affine", d, (1,), (L**2 / (3 * d),))


def relu(d: int, L: float = 1.0) -> TaskClass:
    """Definition 3.2: ``l1 (w . x)_+ + l2 (-w . x)_+ + b = a z + c |z| + b``.

    ``a = (l1 - l2) / 2`` and ``c = (l1 + l2) / 2`` are uncorrelated, of variance
    ``L^2 / 6``; the kernel of ``|z|`` has masses ``b_k`` (``kink``).
    """

    def up_to(last: int) -> TaskClass:
        degrees, mass, rest = kink(d, last)
        weights = L**2 / 6 * np.concatenate([[1 / d], mass])
        return TaskClass(
            "relu", d, (1, *degrees), weights, L**2 / 6 * rest, up_to=up_to
        )

    return up_to(START)


def cosine(d: int, L: float = 1.0) -> TaskClass:
    """``cos(L w . x)``: the even part of a plane wave's expansion.

    ``E cos(L T) P_k(T) = (-1)^(k/2) Gamma(d/2) (2/L)^nu J_{nu+k}(L)`` for even ``k``,
    ``nu = d/2 - 1`` (Funk-Hecke; DLMF 10.60.10 for d = 3, in general Gegenbauer's
    addition theorem, DLMF 10.23.9); ``c_k`` is its square times the number ``N_k`` of
    harmonics.
    """

    def up_to(last: int) -> TaskClass:
        degrees = tuple(range(2, last + 1, 2))
        with mpmath.workdps(DIGITS):
            mass = [wave(d, L, k) for k in degrees]
            rest = square(d, L) - wave(d, L, 0) - mpmath.fsum(mass)
        weights = np.array([float(c) for c in mass])
        return TaskClass(
            "cosine", d, degrees, weights, max(float(rest), 0.0), up_to=up_to
        )

    return up_to(START)


def harmonics(d: int, k: int) -> int:
    """Number ``N_k`` of harmonics of degree ``k`` (DLMF 14.30 for d = 3)."""
    if k == 0:
        return 1
    return int(
        special.comb(k + d - 1, d - 1, exact=True)
        - (special.comb(k + d - 3, d - 1, exact=True) if k >= 2 else 0)
    )


def wave(d: int, L: float, k: int) -> mpmath.mpf:
    """Mass ``c_k`` of the cosine class, for even ``k``."""
    nu, L = mpmath.mpf(d) / 2 - 1, mpmath.mpf(L)
    if L == 0:
        return mpmath.mpf(k == 0)
    value = mpmath.gamma(nu + 1) * (2 / L) ** nu * mpmath.besselj(nu + k, L)
    return harmonics(d, k) * value**2


def square(d: int, L: float) -> mpmath.mpf:
    """``E cos^2(L T) = (1 + E cos(2 L T)) / 2``, all the mass of the cosine class."""
    nu, L = mpmath.mpf(d) / 2 - 1, mpmath.mpf(L)
    if L == 0:
        return mpmath.mpf(1)
    return (1 + mpmath.gamma(nu + 1) * L**-nu * mpmath.besselj(nu, 2 * L)) / 2


def kink(d: int, last: int) -> tuple[tuple[int, ...], Floats, float]:
    """Masses ``b_k = lambda_k^2 N_k`` of ``|w . x|`` for even ``k``, and the rest.

    ``lambda_0 = Gamma(d/2) / (sqrt(pi) Gamma((d+1)/2))``,
    ``lambda_{k+2} / lambda_k = -(k - 1) / (k + d + 1)`` (Rodrigues' formula, two
    integrations by parts), and all of them sum to ``E z^2 = 1 / d``.
    """
    mass, rests = _kink(d, 2 ** max(6, (last - 1).bit_length()))
    count = last // 2
    return tuple(range(2, 2 * count + 1, 2)), mass[:count].copy(), float(rests[count])


@lru_cache(maxsize=64)
def _kink(d: int, last: int) -> tuple[Floats, Floats]:
    """All ``b_k`` up to ``last``, and what remains of ``1 / d`` after each.

    The rests fall as ``k^-3``: they are differences, taken in ``DIGITS`` digits.
    """
    with mpmath.workdps(DIGITS):
        half = mpmath.mpf(d) / 2
        b = mpmath.gamma(half) / (
            mpmath.sqrt(mpmath.pi) * mpmath.gamma(half + mpmath.mpf(1) / 2)
        )
        b = b**2
        rest = 1 / mpmath.mpf(d) - b
        mass, rests = [], [rest]
        for k in range(0, last, 2):
            ratio = mpmath.mpf(k - 1) / (k + d + 1)
            b = b * ratio**2 * harmonics(d, k + 2) / harmonics(d, k)
            rest = rest - b
            mass.append(b)
            rests.append(rest)
    return np.array([float(b) for b in mass]), np.array([float(r) for r in rests])
