"""The loss under a finite law as a trapezoid sum, and what that sum leaves out.

With a_i = exp(-w u_i), u_i = 1 - t_i, and 1/S^2 = int s e^{-sS} ds, independence turns
every expectation into powers of B_j[g](s) = s^j E a^j g e^{-sa}; in y = log s

    L  = int n B_2[q] B_0^{n-1} + n(n-1) B_0^{n-2} sum_k c_k B_1[D_k]^2 dy,
    q  = 2 sum_k c_k D_k + v,

and L' is its derivative under the integral sign. The integrands are analytic in
|Im y| < pi/2 and decay at both ends, so that the trapezoid rule converges like
exp(-2 pi phi/h) with phi near pi/2. With h = log 2/nu, s doubles every nu steps, and
e^{-2sa} is a square: exponentials are needed for the first nu rows only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import mul
from typing import TYPE_CHECKING

from theorems.collins2024.enclosure.discrete import Column, harmonics, law
from theorems.collins2024.enclosure.population import Population, ball

if TYPE_CHECKING:
    from flint import arb, arb_mat


@dataclass(frozen=True)
class Stage:
    """What does not depend on w: the law on N points, and the discrepancies there.

    Attributes:
        population: The loss.
        size: Number N of points.
        top: Largest degree.
        bits: Precision.
    """

    population: Population
    size: int
    top: int
    bits: int

    @cached_property
    def points(self) -> Column:
        """u_i = 1 - t_i."""
        return [1 - t for t in law(self.population.d, self.size, self.bits)[0]]

    @cached_property
    def mass(self) -> Column:
        """Probabilities p_i."""
        return law(self.population.d, self.size, self.bits)[1]

    @cached_property
    def noise(self) -> arb:
        """Weight of V: v = sigma^2 + (L^2/6) m_K."""
        return ball(self.population.sigma2) + self.population.rest(self.top)

    @cached_property
    def discrepancies(self) -> dict[int, Column]:
        """D_k = 1 - P_k at the points; for k = 1 as the loss has it."""
        first = {
            "1 - t": list,
            "1 + t": lambda us: [2 - u for u in us],
            "1 - t^2": lambda us: [u * (2 - u) for u in us],
        }[self.population.first]
        found = {1: first(self.points)}
        if self.population.kind == "relu":
            values = harmonics(self.population.d, self.size, self.top, self.bits)
            found |= {k: [1 - x for x in xs] for k, xs in values.items()}
        return found

    @cached_property
    def kernel(self) -> tuple[arb_mat, arb, arb]:
        """Midpoints of p_i p_j sum_k c_k D_k(i) D_k(j), largest radius and row sum."""
        from flint import arb_mat

        weights, p = self.population.weights(self.top), self.mass
        scaled = [
            [weights[k].sqrt() * x * y for x, y in zip(xs, p, strict=True)]
            for k, xs in self.discrepancies.items()
        ]
        columns = arb_mat(scaled)
        table = (columns.transpose() * columns).tolist()
        radius = max(x.rad() for row in table for x in row)
        norm = max(sum(map(abs, row), ball(0.0)).abs_upper() for row in table)
        return arb_mat([[x.mid() for x in row] for row in table]), radius, norm

    @cached_property
    def diagonal(self) -> Column:
        """q_i = 2 sum_k c_k D_k(i) + v."""
        weights = self.population.weights(self.top)
        total = [self.noise] * self.size
        for k, column in self.discrepancies.items():
            total = [x + 2 * weights[k] * y for x, y in zip(total, column, strict=True)]
        return total


@lru_cache(maxsize=8)
def stage(population: Population, size: int, top: int, bits: int) -> Stage:
    """A stage, kept for the next scale."""
    return Stage(population, size, top, bits)


@dataclass(frozen=True)
class Grid:
    """s = 2^{k/nu} for first <= k <= last.

    Attributes:
        nu: Points per octave; the step is h = log 2/nu.
        first: Smallest k.
        last: Largest k.
    """

    nu: int
    first: int
    last: int

    @property
    def step(self) -> arb:
        """Step h."""
        return ball(2.0).log() / self.nu

    def at(self, k: int) -> arb:
        """Value of s at a point."""
        octave, part = divmod(k, self.nu)
        return ball(2.0) ** octave * (self.step * part).exp()


def exponentials(grid: Grid, a: Column, small: arb) -> list[Column]:
    """e^{-sa} for all s of the grid and all a, from squares.

    Below sa = 1 it is 1 - z that is squared: z = 1 - e^{-x} doubles by z (2 - z) with
    its relative accuracy kept. What falls below ``small`` becomes 0 up to ``small``.

    Args:
        grid: The values of s.
        a: Positive numbers.
        small: Below what e^{-sa} is not computed.

    Returns:
        A row per s.
    """
    starts = [grid.at(grid.first + i) for i in range(grid.nu)]
    octaves = math.ceil((grid.last - grid.first + 1) / grid.nu)
    columns = [
        column
        for x in a
        for column in [[_doubled(s * x, octaves, small) for s in starts]]
    ]
    return [
        [column[k % grid.nu][k // grid.nu] for column in columns]
        for k in range(grid.last - grid.first + 1)
    ]


def _doubled(x: arb, octaves: int, small: arb) -> Column:
    """e^{-x}, e^{-2x}, e^{-4x}, ..."""
    z, found = -(-x).expm1(), []
    middle = ball(0.5)
    while len(found) < octaves and z < middle:
        found.append(1 - z)
        z = z * (2 - z)
    e = 1 - z
    while len(found) < octaves and not e < small:
        found.append(e)
        e = e * e
    rest = ball(0.0).union(small)
    return found + [rest] * (octaves - len(found))


def power(x: arb, exponent: int) -> arb:
    """x^exponent for a number in [0, 1]; the ball may reach below 0."""
    if exponent == 0:
        return ball(1.0)
    if x > 0:
        return x**exponent
    return ball(0.0).union(x.abs_upper() ** exponent)


def _columns(stage: Stage, a: Column) -> arb_mat:
    """Columns p a^j g, as the sums of the integrand need them."""
    from flint import arb_mat

    u, p, q = stage.points, stage.mass, stage.diagonal
    pa = list(map(mul, p, a))
    pua = list(map(mul, pa, u))
    paa = list(map(mul, pa, a))
    paaq = list(map(mul, paa, q))
    paaqu = list(map(mul, paaq, u))
    columns = [p, pua, paaq, paaqu, list(map(mul, paaqu, a))]
    if stage.population.kind == "affine":
        root = stage.population.weights(1)[1].sqrt()
        pair = [root * x for x in stage.discrepancies[1]]
        columns += [list(map(mul, c, pair)) for c in (pa, pua, map(mul, pua, a))]
    return arb_mat(columns).transpose()


def _rank_one(sums: list[Column], s: Column) -> tuple[Column, Column]:
    """:func:`_pair_sums` for one degree, from the columns of :func:`_columns`."""
    triples = [row[5:8] for row in sums]
    squares = [(x * y[0]) ** 2 for x, y in zip(s, triples, strict=True)]
    return squares, [
        x * y[0] * (x * x * y[2] - x * y[1]) for x, y in zip(s, triples, strict=True)
    ]


def _pair_sums(
    stage: Stage, a: Column, rows: list[Column], s: Column
) -> tuple[Column, Column]:
    """sum_k c_k B_1[D_k]^2 and sum_k c_k B_1[D_k] (B_2[u D_k] - B_1[u D_k]).

    Both are quadratic in sa e^{-sa}. The product of matrices is taken of midpoints,
    with one bound for all radii: entries are of order 1, and 0 replaces what, times the
    factor 1 or sa that follows, is below 2^-bits.
    """
    from flint import arb, arb_mat, ctx

    tiny, one, zero = ball(2.0) ** -ctx.prec, ball(1.0), ball(0.0)
    first = []
    for x, row in zip(s, rows, strict=True):
        line = []
        for y, e in zip(a, row, strict=True):
            z = x * y
            value = z * e
            if z < one:
                value = arb(0, tiny) if value < tiny else value
            elif z * value < tiny:
                value = arb(0, tiny / z)
            line.append(value)
        first.append(line)
    kernel, radius, norm = stage.kernel
    largest = max(y.rad() for line in first for y in line)
    total = max(sum(line, zero).abs_upper() for line in first)
    blur = zero.union(largest * norm + (total + stage.size * largest) * radius)
    half = arb_mat([[y.mid() for y in line] for line in first]) * kernel
    blur -= blur
    both = arb_mat([
        [(y + blur) * z for y, z in zip(ys, line, strict=True)]
        for ys, line in zip(half.tolist(), first, strict=True)
    ])
    ua = list(map(mul, stage.points, a))
    ends = arb_mat([[one] * len(ua), stage.points, ua]).transpose()
    dots = (both * ends).tolist()
    return [y[0] for y in dots], [x * y[2] - y[1] for x, y in zip(s, dots, strict=True)]


def trapezoid(stage: Stage, a: Column, grid: Grid, small: arb) -> tuple[arb, arb]:
    """The finite trapezoid sums of L and L' in balls.

    Args:
        stage: The finite law.
        a: e^{-w u_i}.
        grid: Values of s.
        small: See :func:`exponentials`.

    Returns:
        Both sums.
    """
    from flint import arb_mat

    rows = exponentials(grid, a, small)
    sums = (arb_mat(rows) * _columns(stage, a)).tolist()
    starts = [grid.at(grid.first + i) for i in range(grid.nu)]
    s = [starts[k % grid.nu] * ball(2.0) ** (k // grid.nu) for k in range(len(rows))]
    if stage.population.kind == "affine":
        squares, mixed = _rank_one(sums, s)
    else:
        squares, mixed = _pair_sums(stage, a, rows, s)
    n, loss, slope = stage.population.n, ball(0.0), ball(0.0)
    for x, row, square, mix in zip(s, sums, squares, mixed, strict=True):
        b0, xx = row[0], x * x
        b1u, b2q, b2uq, b3uq = x * row[1], xx * row[2], xx * row[3], xx * x * row[4]
        last = power(b0, n - 2)
        loss += n * last * (b2q * b0 + (n - 1) * square)
        inner = b0 * (b3uq - 2 * b2uq) + (n - 1) * (b2q * b1u + 2 * mix)
        slope += n * last * inner
        if n > 2:
            slope += n * (n - 1) * (n - 2) * power(b0, n - 3) * b1u * square
    return grid.step * loss, grid.step * slope
