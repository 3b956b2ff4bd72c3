"""The population loss as a sum over harmonics, with constants as balls.

    L(w) = sum_k c_k E_k(w) + (L^2/6) m_K (1 + V(w)) + sigma^2 V(w) + remainder

with E_k the mean squared error on the harmonics of degree k and V = E sum gamma_i^2.
Everything is computed at the working precision of the moment, never stored: a constant
rounded to fewer bits would cap the radius of every result.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import arb

CLASSES = ("affine", "relu")
# How the first harmonic of x differs from that of a token with x_i . x = t. The second
# is the loss at -w seen from w, since t and -t have the same law; the last is wrong.
FIRST = ("1 - t", "1 + t", "1 - t^2")


class PopulationError(ValueError):
    """A loss was asked for that these enclosures do not cover."""


def ball(x: Fraction | float) -> arb:
    """A number as a ball at the working precision; doubles are exact."""
    from flint import arb, fmpq

    return arb(fmpq(x.numerator, x.denominator)) if isinstance(x, Fraction) else arb(x)


@dataclass(frozen=True)
class Population:
    """A class of tasks, a size of covariates, a number of tokens and their noise.

    Attributes:
        kind: ``affine`` or ``relu``.
        d: Size of a covariate, uniform on the sphere; at least 2.
        n: Number of labelled tokens; at least 2.
        sigma2: Variance of the noise.
        L2: Square of the Lipschitz constant.
        first: Discrepancy of the first harmonic; ``1 - t`` in the paper.
    """

    kind: str
    d: int
    n: int
    sigma2: Fraction
    L2: Fraction = Fraction(1)
    first: str = FIRST[0]

    def __post_init__(self) -> None:
        if self.kind not in CLASSES or self.first not in FIRST:
            raise PopulationError(f"{self.kind!r}, {self.first!r}: no such loss")
        if self.d < 2 or self.n < 2:
            raise PopulationError(f"d = {self.d}, n = {self.n}: both are at least 2")
        if self.sigma2 < 0 or self.L2 <= 0:
            raise PopulationError(f"sigma2 = {self.sigma2}, L2 = {self.L2}")

    @property
    def c(self) -> Fraction:
        """Bound on the sum of all c_k, attained: c = L^2/(3d)."""
        return self.L2 / (3 * self.d)

    @cached_property
    def scale(self) -> Fraction:
        """4 c + sigma^2, the largest value the loss can take."""
        return 4 * self.c + self.sigma2

    def weights(self, top: int) -> dict[int, arb]:
        """The c_k for k <= top.

        Args:
            top: Largest degree, even; ignored for the affine class.

        Returns:
            Degree to weight.
        """
        if self.kind == "affine":
            return {1: ball(self.c)}
        kink = kinks(self.d, top)
        return {1: ball(self.c / 2)} | {
            k: ball(self.L2 / 6) * b for k, b in kink.items() if k
        }

    def rest(self, top: int) -> arb:
        """(L^2/6) m_K: the weight of all degrees above ``top``, exactly."""
        if self.kind == "affine":
            return ball(0.0)
        mass = ball(Fraction(1, self.d)) - sum(kinks(self.d, top).values())
        return ball(self.L2 / 6) * mass


def kinks(d: int, top: int) -> dict[int, arb]:
    """The b_k of E (omega.x)(omega.y) for absolute values: |z| in harmonics.

    E_omega |omega.x| |omega.y| = sum_k b_k P_k(x.y), b_k = lambda_k^2 N_k, with
    lambda_k = E |T| P_k(T) and N_k the number of harmonics of degree k. Odd ones
    vanish; lambda_{k+2} = -lambda_k (k - 1)/(k + d + 1); they add up to E z^2 = 1/d.

    Args:
        d: Size of a covariate.
        top: Largest degree, even.

    Returns:
        Degree to b_k for even degrees from 0.
    """
    from flint import arb

    half = arb(d) / 2
    lambda_k = half.gamma() / (arb.const_sqrt_pi() * (half + arb("0.5")).gamma())
    found = {}
    for k in range(0, top + 1, 2):
        found[k] = lambda_k**2 * multiplicity(d, k)
        lambda_k = -lambda_k * (k - 1) / (k + d + 1)
    return found


def multiplicity(d: int, k: int) -> int:
    """Number of linearly independent harmonics of degree k on the sphere in R^d."""
    return (2 * k + d - 2) * comb(k + d - 3, k - 1) // k if k else 1


def steepness(d: int, k: int) -> Fraction:
    """L_k = P_k'(1), the largest slope of the normalised Gegenbauer polynomial."""
    return Fraction(k * (k + d - 2), d - 1)


def growths(population: Population) -> list[tuple[arb, arb]]:
    """Pairs (alpha, beta) with sum_k w_k L_k D_k(mean) <= alpha u + beta, w_k = c_k/c.

    For ReLU D_k <= L_k u is used up to some degree, and D_k <= 2 beyond: any degree
    will do, small ones for large u. The weights satisfy sum_k w_k L_k = 1.

    Args:
        population: The loss.

    Returns:
        One pair per degree.
    """
    if population.kind == "affine":
        return [(ball(1.0), ball(0.0))]
    alpha, beta, found = ball(0.5), ball(1.0), []
    for k, b in kinks(population.d, 24).items():
        if k:
            slope = ball(steepness(population.d, k))
            alpha += population.d * b * slope * slope / 2
            beta -= population.d * b * slope
        found.append((alpha, beta))
    return found
