"""Sums g_p(r) = Σ_i |x_i - x|^p e^{-r|x_i - x|²} of points on the sphere S^{d-1}.

With u = 1 - x_i·x, |x_i - x|² = 2u, and u has the density c (u(2-u))^{(d-3)/2}. Write
s = (d-1+p)/2, μ for the mean of one summand and

    K(d, p) = Γ(d/2)/(2√π) Γ((d-1+p)/2)/Γ((d-1)/2).

Then 2^{-(d-1)/2} K r^{-s} ≤ μ ≤ K r^{-s} for r ≥ (d + √d)/2, and with probability at
least 1 - 1/(2n) the sum is between nμ/2 and 2nμ.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from fractions import Fraction

import sympy as sp

from theorems.collins2024.caps.area import DENSITY, d, u
from theorems.collins2024.caps.balls import evaluate
from theorems.collins2024.caps.bounds import Bound, hunt, settle
from theorems.collins2024.caps.steps import equal, need, positive, rising
from verify import Cause, Claim, Figure, Inconclusive, Outcome, Refuted, Series
from verify.search import Search
from verify.symbolic import family

p = sp.Symbol("p", nonnegative=True)
r, n = sp.symbols("r n", positive=True)

EXACT = (d - 1 + p) / 2
IN_TEXT = (d + p) / 2
START = (d + sp.sqrt(d)) / 2
LEADING = (
    sp.gamma(d / 2) / (2 * sp.sqrt(sp.pi)) * sp.gamma(EXACT) / sp.gamma((d - 1) / 2)
)
SHARE = 2 ** (-(d - 1) / 2)

ABOVE, BELOW = 2 * LEADING, SHARE * LEADING / 2
"""Constants that are proved: BELOW n r^{-s} ≤ g_p(r) ≤ ABOVE n r^{-s}."""

UNNAMED = sp.Symbol("C", positive=True)
"""A constant that the text leaves unnamed."""

SIZES, POWERS = (3, 5, 7), (0, 2)


@functools.cache
def mean(size: int, power: int) -> sp.Expr:
    """μ for odd d and even p, in elementary terms.

    ∫_0^2 u^k e^{-2ru} du = k!/(2r)^{k+1} (1 - e^{-4r} Σ_{j≤k} (4r)^j/j!).

    >>> sp.simplify(mean(3, 0) - (1 - sp.exp(-4 * r)) / (4 * r))
    0
    """
    density = DENSITY.subs(d, size) * (u * (2 - u)) ** ((size - 3) // 2)
    weights = sp.Poly(sp.expand(density * (2 * u) ** (power // 2)), u)
    total = sp.S.Zero
    for (k,), weight in weights.terms():
        tail = sp.Add(*((4 * r) ** j / sp.factorial(j) for j in range(k + 1)))
        part = sp.factorial(k) / (2 * r) ** (k + 1) * (1 - sp.exp(-4 * r) * tail)
        total += weight * part
    return sp.expand(total)


@functools.cache
def means() -> tuple[str, ...]:
    """Bounds on μ, for all d ≥ 3, 0 ≤ p, r ≥ START."""
    m = (d - 1) / 2
    integral = DENSITY * 2 ** (p / 2) * sp.gamma(EXACT) / (2 * r) ** EXACT
    gap = 2 * START - (d + 1) / 2
    root = sp.Symbol("root", positive=True)  # √d
    return (
        "μ = c ∫_0^2 (u(2-u))^{(d-3)/2} (2u)^{p/2} e^{-2ru} du",
        positive("(d-3)/2 ≥ 0, so 1 ≤ (2-u)^{(d-3)/2} for u ≤ 1", (d - 3) / 2, {d: 3}),
        "and (2-u)^{(d-3)/2} ≤ 2^{(d-3)/2} for all u",
        equal(
            "above: 2^{(d-3)/2} times the gamma integral, times r^s",
            sp.powsimp(2 ** (m - 1) * integral * r**EXACT / LEADING),
            sp.S.One,
        ),
        positive(
            "2r ≥ d + √d ≥ (d+1)/2 ≥ s",
            gap.subs(sp.sqrt(d), root).subs(d, root**2),
            {root: 1},
        ),
        "standard (Chen and Rubin 1986): the median of a gamma variable is below its "
        "mean s, so the gamma integral to u = 1 is at least half the whole one",
        equal(
            "below: half the gamma integral, times r^s",
            sp.powsimp(integral / 2 * r**EXACT / (SHARE * LEADING)),
            sp.S.One,
        ),
    )


@functools.cache
def concentration() -> tuple[str, ...]:
    """g_p is between nμ/2 and 2nμ with probability at least 1 - 1/(2n)."""
    y, k = sp.symbols("y k", positive=True)
    peak = sp.diff(p * sp.log(y) - r * y**2, y).subs(y, sp.sqrt(p / (2 * r)))
    rate = 45 * sp.sqrt(d) * SHARE * LEADING.subs(p, 0) * sp.sqrt(START)
    least = [evaluate(rate, {d: size}) for size in (3, 4, 5)]
    growth = sp.gamma(d / 2 + 1) / sp.gamma(d / 2) / 2
    sides = 6 ** -sp.Rational(3, 4) + 6 ** -sp.Rational(11, 3)
    return (
        *means(),
        need("|y|^p e^{-ry²} has its maximum at y² = p/(2r)", sp.simplify(peak) == 0),
        "so a summand is at most B = (p/(2er))^{p/2}, 1 for p = 0",
        "standard (Chernoff): P(g ≥ 2nμ) ≤ e^{-nμ/(3B)}, P(g ≤ nμ/2) ≤ e^{-nμ/(8B)}",
        "n ≥ 45 √d r^{d/2} log n gives nμ/B ≥ F h(d) log n with q = p/2, "
        "F = (e/q)^q Γ((d-1)/2 + q)/Γ((d-1)/2), h = 45 √d 2^{-(d-1)/2} K(d,0) √START",
        "log Γ is convex: Γ((d-1)/2 + q)/Γ((d-1)/2) ≥ Γ(1 + q) ≥ e^{-γ q}, γ = 0.577..",
        need("Euler's γ < 1, so F ≥ e^{q - q log q - γ q} ≥ 1", sp.EulerGamma < 1),
        need("h(3), h(4), h(5) ≥ 14", all(bool(ball > 14) for ball in least)),
        equal("Γ, from d to d + 2, over 2", growth, d / 4),
        "so h(d + 2)/h(d) ≥ d/4 ≥ 1 for d ≥ 4, and h ≥ 14 for all d ≥ 3",
        need("6^{-3/4} + 6^{-11/3} ≤ 1/2", bool(sides < sp.S.Half)),
        rising("k^{-3/4} falls: 3/4 log(1 + k/6)", sp.log(1 + k / 6), k),
        "so n^{-14/8} + n^{-14/3} ≤ 1/(2n) for all n ≥ 6",
    )


def against_mean(claim: Claim, size: int, power: int, rate: Fraction) -> Bound:
    """The claimed side against μ: a sum that keeps it for all n keeps it in the mean.

    g ≤ C n r^{-e} with probability 1 - 1/(2n), and g ≤ n always, give
    nμ ≤ C n r^{-e} + 1/2, hence μ ≤ C r^{-e} as n grows; likewise from below.
    """
    sizes = {d: size, p: power}
    claimed = claim.constant * r**-claim.exponent
    says = f"mean of a summand against the claimed bound, d = {size}, p = {power}"
    sides = (mean(size, power), claimed)
    left, right = sides if claim.above else reversed(sides)
    return Bound(left, right, {r: rate}, says, sizes)


def wrong_power(claim: Claim) -> Outcome | None:
    """Refute an exponent that is wrong as r grows, whatever the constant.

    d = 3, where K = 1/4 for p = 0 and p = 2: a constant above would have to be at least
    r^δ/16, one below at most r^δ/2, with δ the claimed exponent less the exact one.
    """
    for power in POWERS:
        delta = sp.simplify((claim.exponent - EXACT).subs({d: 3, p: power}))
        if (delta > 0) != bool(claim.above) or delta == 0:
            continue
        constant = (BELOW if claim.above else ABOVE).subs({d: 3, p: power})
        ratio = sp.simplify(constant) * r**delta
        toward = "infinity" if claim.above else "0"
        limit = sp.limit(ratio, r, sp.oo)
        says = f"d = 3, p = {power}: bound on any constant, from g/n on both sides"
        steps = (*concentration(), need(f"limit {limit}", limit in {sp.oo, 0}))
        at = [10**k for k in (2, 4, 8, 16)]
        why = f"power {delta} of r; sums within both bounds have positive probability"
        witness = family(ratio, r, at, toward=toward, says=says, limit=why)
        return Refuted("as r grows no constant is enough", witness=witness, steps=steps)
    return None


def grid(claim: Claim) -> Iterator[Bound]:
    """Small d, r from the start to 2^16."""
    for size in SIZES:
        start = evaluate(claim.start, {d: size}) if claim.start != 0 else 0
        first = Fraction(int(float(start) * 64) + 1, 64)
        for power in POWERS:
            for rate in (first, Fraction(16), Fraction(2**16)):
                yield against_mean(claim, size, power, rate)


def order(claim: Claim) -> Outcome:
    """Decide C n r^{-e} as a bound from above or from below, by proof or family."""
    delta = sp.simplify(claim.exponent - EXACT)
    proved = ABOVE if claim.above else BELOW
    proved = UNNAMED if claim.constant == UNNAMED else proved  # any will do
    share = sp.simplify(sp.gammasimp(claim.constant / proved))
    right_side = (delta <= 0) if claim.above else (delta >= 0)
    enough = share.is_number and bool(share >= 1 if claim.above else share <= 1)
    if delta.is_number and bool(right_side) and enough and claim.start == START:
        return settle(
            (
                *concentration(),
                f"r ≥ 1 and e - s = {delta}, which orders r^{{-s}} and r^{{-e}}",
            ),
            (),
            says="proved for all d ≥ 3, 0 ≤ p ≤ 2",
            certificate=against_mean(claim, 3, 0, Fraction(4)).certificate(),
        )
    found = wrong_power(claim)
    return found if found else settle(None, grid(claim), says="")


def drawn(claim: Claim, search: Search) -> Outcome:
    """Hunt over d, p and r with the exact mean, for a named constant."""
    from hypothesis import strategies as st

    if claim.constant == UNNAMED:
        return Inconclusive(
            "no constant is named, and a search cannot refute all", cause=Cause.BUDGET
        )

    def bounds(sample: tuple[int, int, int, int]) -> list[Bound]:
        size, power, k, j = sample
        start = float(evaluate(claim.start, {d: size})) if claim.start != 0 else 0.0
        rate = Fraction(int(start * 64) + 1, 64) + Fraction(j * 2**k, 64)
        return [against_mean(claim, size, power, rate)]

    samples = st.tuples(
        st.sampled_from(SIZES),
        st.sampled_from(POWERS),
        st.integers(0, 16),
        st.integers(0, 64),
    )
    return hunt(
        search,
        samples,
        bounds,
        searched="d in {3, 5, 7}, p in {0, 2}, r up to 2^17",
        pinned=[(3, 0, 0, 0), (3, 2, 0, 0), (3, 0, 16, 64), (3, 2, 16, 64)],
        scale=0.25,
    )


def figure() -> Figure:
    """The mean of a summand over the claimed orders, d = 3, p = 0."""
    rates = [Fraction(2**k) for k in range(2, 17)]
    means = [float(evaluate(mean(3, 0), {r: rate}).mid()) for rate in rates]
    orders = (("(d-1+p)/2", 1.0), ("(d+p)/2", 1.5))
    places = [float(rate) for rate in rates]
    return Figure(
        name="mean",
        title="Mean of a summand of g_p(r), d = 3, p = 0",
        x_label="r",
        y_label="mean times r^e",
        series=tuple(
            Series(
                f"e = {name}",
                places,
                [y * x**e for x, y in zip(places, means, strict=True)],
            )
            for name, e in orders
        ),
        x_log=True,
        y_log=True,
        caption="The mean is of order r^{-(d-1+p)/2}; with d for d - 1 it is not.",
    )
