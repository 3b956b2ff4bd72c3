"""Signs on whole intervals, from Chebyshev interpolants with proved remainders.

A function that is analytic and bounded by B on the ellipse E_rho around an interval has
Chebyshev coefficients of at most 2 B rho^-k. Its interpolant at the M zeros of T_M thus
differs from it by at most 4 B rho^-M/(1 - 1/rho) (Trefethen, *Approximation Theory and
Approximation Practice*, Theorem 8.2), and a polynomial's sign is decided by bisection.

Balls never enter a polynomial: coefficients are replaced by their midpoints and the
radii move into the remainder, since expansions of balls blow up exponentially.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import arb

DEPTH = 14


class PanelError(ValueError):
    """An interval whose centre and radius are no exact numbers at this precision."""


@dataclass(frozen=True)
class Panel:
    """A polynomial beside a function on an interval.

    Attributes:
        centre: Midpoint of the interval.
        radius: Half its length.
        coefficients: Of the polynomial in T_k((w - centre)/radius), exact numbers.
        error: Bound on the distance of function and polynomial.
        slope_error: Bound on the distance of their derivatives in w.
    """

    centre: arb
    radius: arb
    coefficients: tuple[arb, ...]
    error: arb
    slope_error: arb

    def sign(self) -> int:
        """1 or -1 if the function has this sign on the whole interval, 0 if open."""
        return constant_sign(self.coefficients, self.error)

    def slope_sign(self) -> int:
        """The same of the function's derivative."""
        return constant_sign(
            derivative(self.coefficients), self.slope_error * self.radius
        )


def interpolate(
    function: Callable[[arb], arb],
    low: Fraction,
    high: Fraction,
    *,
    terms: int,
    rho: arb,
    peak: arb,
) -> Panel:
    """Interpolate a function, and bound what the interpolant misses.

    Args:
        function: Encloses the function on a ball of arguments.
        low: Left end, a dyadic number.
        high: Right end, a dyadic number.
        terms: Number M of coefficients.
        rho: Parameter of an ellipse with foci ``low`` and ``high``, above 1.
        peak: Bound on the function on that ellipse, where it is analytic.

    Returns:
        The panel.

    Raises:
        PanelError: The interval is empty, or its ends are not dyadic.

    >>> from flint import arb
    >>> ends = Fraction(0), Fraction(1)  # the ellipse ends at 1.57, where e^w < 5
    >>> panel = interpolate(arb.exp, *ends, terms=12, rho=arb(4), peak=arb(5))
    >>> panel.sign(), panel.slope_sign(), bool(panel.error < 1e-5)
    (1, 1, True)
    """
    from flint import arb, fmpq

    middle, half = (low + high) / 2, (high - low) / 2
    centre, radius = (arb(fmpq(x.numerator, x.denominator)) for x in (middle, half))
    if not (centre.is_exact() and radius.is_exact() and radius > 0):
        raise PanelError(f"[{low}, {high}]: give two dyadic numbers, in order")
    nodes = [(arb(2 * j + 1) / (2 * terms)).cos_pi() for j in range(terms)]
    values = [function(centre + radius * x) for x in nodes]
    balls = [
        sum((y * _cosine(k * (2 * j + 1), terms) for j, y in enumerate(values)), arb(0))
        * (1 if k == 0 else 2)
        / terms
        for k in range(terms)
    ]
    x, M, radii = 1 / rho, terms, [ball.rad() for ball in balls]
    series = M**2 / (1 - x) + 2 * M * x / (1 - x) ** 2 + x * (1 + x) / (1 - x) ** 3
    return Panel(
        centre,
        radius,
        tuple(ball.mid() for ball in balls),
        error=4 * peak * x**M / (1 - x) + sum(radii, arb(0)),
        # |T_k' - T_j'| <= k^2 + j^2 <= 2 k^2 for the j < M <= k that T_k looks like
        slope_error=(
            4 * peak * x**M * series
            + sum((k * k * r for k, r in enumerate(radii)), arb(0))
        )
        / radius,
    )


def _cosine(numerator: int, terms: int) -> arb:
    """cos(pi numerator/(2 terms))."""
    from flint import arb

    return (arb(numerator % (4 * terms)) / (2 * terms)).cos_pi()


def derivative(coefficients: Sequence[arb]) -> tuple[arb, ...]:
    """Differentiate a Chebyshev series.

    Args:
        coefficients: Of T_0, T_1, ...

    Returns:
        Coefficients of the derivative, one fewer.

    >>> from flint import arb
    >>> [int(float(x)) for x in derivative([arb(0), arb(0), arb(0), arb(1)])]
    [3, 0, 6]
    """
    from flint import arb

    found = [arb(0)] * (len(coefficients) + 1)
    for k in range(len(coefficients) - 1, 0, -1):
        found[k - 1] = found[k + 1] + 2 * k * coefficients[k]
    found[0] /= 2
    return tuple(found[: max(1, len(coefficients) - 1)])


def value(coefficients: Sequence[arb], x: arb) -> arb:
    """A Chebyshev series at a point, by Clenshaw's recurrence."""
    from flint import arb

    now, before = arb(0), arb(0)
    for c in reversed(coefficients[1:]):
        now, before = c + 2 * x * now - before, now
    return coefficients[0] + x * now - before


def constant_sign(coefficients: Sequence[arb], slack: arb) -> int:
    """Decide the sign on [-1, 1] of everything within ``slack`` of a series.

    On [x - r, x + r] the series stays within r |p'(x)| + r^2/2 max |p''| of p(x), with
    |T_k''| <= k^2 (k^2 - 1)/3.

    Args:
        coefficients: Chebyshev coefficients.
        slack: Distance that the sign survives.

    Returns:
        1 or -1, or 0 when it is not constant, or not decided.

    >>> from flint import arb
    >>> constant_sign([arb(2), arb(1)], arb(0)), constant_sign([arb(0), arb(1)], arb(0))
    (1, 0)
    """
    from flint import arb

    slopes = derivative(coefficients)
    bend = sum(
        (abs(c) * (k * k * (k * k - 1) // 3) for k, c in enumerate(coefficients)),
        arb(0),
    )
    cells, signs = [(Fraction(0), 0)], set()
    while cells:
        middle, depth = cells.pop()
        x, r = arb(middle.numerator) / middle.denominator, arb(2) ** -depth
        y = value(coefficients, x)
        if abs(y) > slack + r * abs(value(slopes, x)) + r * r * bend / 2:
            signs.add(1 if y > 0 else -1)
        elif depth == DEPTH:
            return 0
        else:
            step = Fraction(1, 2 ** (depth + 1))
            cells += [(middle - step, depth + 1), (middle + step, depth + 1)]
        if len(signs) > 1:
            return 0
    return signs.pop()
