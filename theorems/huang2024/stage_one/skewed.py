"""Stage 1 under token weights: what survives, proved for all weights and all |V| ≥ 2.

L_0 sums tokens with equal weights. With positive weights a_x the columns stay on their
rays and only the margins differ; m is the vector of margins, and a step adds

    h g / ‖g‖,    g_x = a_x |V| / (e^{m_x} + |V| - 1),    h = η_0 sqrt(|V| / (|V| - 1)).

In terms of m: ‖W‖² = (1 - 1/|V|) ‖m‖², cos(W, W*) = Σm / (sqrt|V| ‖m‖), and the cosine
of -∇L_0 and W* is Σg / (sqrt|V| ‖g‖). ρ is the largest over the smallest weight.
"""

import functools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.huang2024.stage_one.closed import equal, positive, rays, solution
from theorems.huang2024.stage_one.notation import (
    NORM_STAR,
    S,
    V,
    eta,
    explicit,
    rho,
    t,
)
from verify import Cause, Inconclusive, Outcome, Refuted, Undecided, recheck
from verify.symbolic import formula

n = sp.Symbol("n", integer=True, positive=True)
k = sp.Symbol("k", integer=True, positive=True)  # tokens of weight 1
h = eta * sp.sqrt(V / (V - 1))
FACTOR = sp.Rational(11, 10)
COSINE_LEAST = 1 / sp.sqrt(V)
RATE = FACTOR * S**3 * sp.log(2 * V * rho) * sp.log(t) / (eta * t)


@functools.cache
def alignment() -> tuple[str, ...]:
    """The gradient's cosine is at least 1/sqrt|V|, for every positive g."""
    g, one = sp.MatrixSymbol("g", n, 1), sp.OneMatrix(n, 1)
    rest = sp.OneMatrix(n, n) - sp.Identity(n)
    total, square = (one.T * g)[0, 0], (g.T * g)[0, 0]
    ray = 1 - 1 / V  # squared length of a ray
    a, b = sp.symbols("a b", positive=True)  # Σg and ‖g‖
    return (
        *solution(),
        *rays(),
        equal(
            "squared cosine of -∇L_0 and W*",
            (ray * a) ** 2 / (ray * b**2 * NORM_STAR**2),
            (a / b) ** 2 / V,
        ),
        equal(
            "(Σg)² - ‖g‖² sums products of two weights, none negative",
            total**2 - square,
            sp.Trace(g.T * rest * g),
        ),
        "‖W^(t)‖ ≥ ⟨W^(t), W*⟩/‖W*‖, a sum of t such cosines times η_0; "
        "‖W^(t)‖ ≤ tη_0 by the triangle inequality",
    )


@functools.cache
def spread() -> tuple[str, ...]:
    """Margins of two tokens never differ by more than G = log(ρ|V|) + h."""
    r, p, q = sp.symbols("r p q", positive=True)
    low, high = 1 + p, r * V * (1 + p) + q  # e^{m_y}, and any e^{m_x} ≥ ρ|V|e^{m_y}
    return (
        positive(
            "m_x - m_y ≥ log(ρ|V|) gives g_x ≤ g_y, and the difference stops growing",
            (high + V - 1) - r * (low + V - 1),
            {V: 1, r: 1, p: 0, q: 0},
        ),
        "increments lie in [0, h], so that one step changes a difference by at most h",
    )


@functools.cache
def direction() -> tuple[str, ...]:
    """1 - cos ≤ min(1, Z²) ≤ Z ≤ RATE with Z = |V| G / (sqrt8 t h), if 2η_0 ≤ ‖W*‖."""
    x, mu, top, low = sp.symbols("x mu top low", real=True)
    r, z = sp.symbols("r z", positive=True)
    hull = (top - mu) * (mu - low)
    return (
        *alignment(),
        *spread(),
        "Σm ≥ th, since every step adds hΣg/‖g‖ ≥ h; the mean μ is at least th/|V|",
        equal(
            "(top - x)(x - low) ≥ 0 bounds (x - μ)²; the linear term sums to zero",
            hull - (x - mu) ** 2 + (x - mu) * (top + low - 2 * mu),
            (top - x) * (x - low),
        ),
        equal(
            "so the mean of (m - μ)² is at most G²/4",
            (top - low) ** 2 / 4 - hull,
            ((top + low) / 2 - mu) ** 2,
        ),
        positive(
            "1 - 1/r ≤ (r² - 1)/2, r² = ‖m‖²/(|V|μ²): 1 - cos ≤ Z²",
            (r**2 - 1) / 2 - (1 - 1 / r),
            {r: 1},
        ),
        "cosines of vectors without negative entries are not negative: 1 - cos ≤ 1",
        positive("for Z ≥ 1: 1 ≤ Z", z - 1, {z: 1}),
        positive("for Z ≤ 1: Z² ≤ Z, with Z = 1/r", 1 / r - 1 / r**2, {r: 1}),
        *_rate(),
    )


def _rate() -> tuple[str, ...]:
    """Bring Z to the shape of Proposition 1, with 2η_0 ≤ ‖W*‖."""
    ell, log_t, size = sp.symbols("ell log_t size", positive=True)
    a, b = sp.symbols("a b", positive=True)
    return (
        equal("|V|/(sqrt8 th)", V / (sp.sqrt(8) * t * h), _scale()),
        positive("sqrt|V| ≤ sqrt2 ‖W*‖", 2 * size**2 - (size**2 + 1), {size: 1}),
        "h ≤ sqrt|V|/2 by the small step, and log(ρ|V|) ≤ ℓ = log(2|V|ρ)",
        positive(
            "‖W*‖² (ℓ + ‖W*‖/sqrt2)/2 ≤ ‖W*‖³ (ℓ/2 + 1/(2 sqrt2))",
            size**3 * ell / 2 - size**2 * ell / 2,
            {size: 1, ell: 0},
        ),
        _constant(),
        positive(
            "11/10 ℓ log t - ℓ/2 is least at the least ℓ and log t, if log t ≥ 1/2",
            (FACTOR * (log_t + b) - sp.S.Half) * (ell + a)
            - (FACTOR * log_t - sp.S.Half) * ell,
            {log_t: sp.S.Half, ell: 0, a: 0, b: 0},
        ),
    )


def _scale() -> sp.Expr:
    return sp.sqrt(V * (V - 1)) / (sp.sqrt(8) * t * eta)


def _constant() -> str:
    """At t = 2, |V| = 2, ρ = 1: 1/(2 sqrt2) ≤ log 4 (11/10 log 2 - 1/2)."""
    bound = 2 * sp.log(2) * (FACTOR * sp.log(2) - sp.S.Half)
    for left, right in ((1 / (2 * sp.sqrt(2)), bound), (sp.S.Half, sp.log(2))):
        record = formula(left, "<=", right, {}, "the constant of the rate")
        if not recheck.decide(record).valid:
            raise Undecided("not proved: the constant of the rate", Cause.NO_PROOF)
    return "there: 1/(2 sqrt2) ≤ 2 log 2 (11/10 log 2 - 1/2), and log 2 ≥ 1/2"


@functools.cache
def pull() -> tuple[str, ...]:
    """⟨∇L_0, W⟩ ≥ (1 + α)⟨∇L_0, W*⟩ ‖W‖/‖W*‖, α‖W‖/‖W*‖ = Λ = 2 log(2|V|ρ).

    Both products are sums over tokens, so that this says Σ g_x (m_x - s) ≤ Λ Σ g_x.
    """
    p, d, r = sp.symbols("p d r", positive=True)
    square = sp.Symbol("square", positive=True)  # ‖m‖²
    return (
        *rays(),
        equal(
            "s = ‖W‖/‖W*‖ is the root mean square of the margins",
            (1 - 1 / V) * square / NORM_STAR**2,
            square / V,
        ),
        "some token y has m_y ≤ s; its term is not positive",
        "terms with m_x - s ≤ Λ are at most Λ g_x",
        positive(
            "e^{m_y} + |V| - 1 ≤ |V| e^{m_y}: g_x ≤ ρ|V| e^{-d} g_y for m_x = s + d",
            V * (1 + p) - (1 + p) - (V - 1),
            {V: 1, p: 0},
        ),
        positive("d e^{-d} falls for d ≥ 1", -sp.diff(d * sp.exp(-d), d), {d: 1}),
        equal("ρ|V| e^{-Λ} times |V|", r * V / (2 * V * r) ** 2 * V, 1 / (4 * r)),
        positive("terms with d > Λ sum to at most Λ g_y / 4ρ", 1 - 1 / (4 * r), {r: 1}),
    )


# ---------------------------------------------------------------- counterexamples
#
# k tokens of weight 1, the others of weight 1/ρ. The k margins grow alike, by at most
# h/sqrt(k) a step; a light token's share of a step is g_light/‖g‖ ≤ e^{m}/(ρ sqrt(k)).

LIGHT = (h / sp.sqrt(k)) * t * sp.exp(h * (t - 1) / sp.sqrt(k)) / rho  # ≥ light margins
HEAVY = (t * h - (V - k) * LIGHT) / k  # ≤ heavy margins, since Σm ≥ th
GAP_LEAST = (
    1 - sp.sqrt(k / V) - (V - k) * LIGHT / (sp.sqrt(V * k) * HEAVY)
)  # ≤ 1 - cos(W, W*)
COSINE_AT_ZERO = (k + (V - k) / rho) / sp.sqrt(V * (k + (V - k) / rho**2))

PULL_LEAST = HEAVY / (1 + (V - k) / k * sp.exp(h * t / sp.sqrt(k)) / rho)

_a = h / sp.sqrt(1 + 1 / rho**2)  # first margin of the heavy token at |V| = 2
_g = 1 / (sp.exp(_a) + 1), 1 / (rho * (sp.exp(_a / rho) + 1))
TWO_STEPS = eta * sp.sqrt(
    2
    + 2
    * (_g[0] + _g[1] / rho)
    / (sp.sqrt(1 + 1 / rho**2) * sp.sqrt(_g[0] ** 2 + _g[1] ** 2))
)  # norm of W^(2) at |V| = 2, k = 1
_length = sp.sqrt(_g[0] ** 2 + _g[1] ** 2)
_m = _a + h * _g[0] / _length, _a / rho + h * _g[1] / _length
GAP_AT_TWO = 1 - (_m[0] + _m[1]) / sp.sqrt(2 * (_m[0] ** 2 + _m[1] ** 2))


def skewed(
    size: int, heavy: int, steps: int, length: Any, ratio: int
) -> dict[str, Any]:
    """An exact instance of |V|, k, t, η_0 and ρ."""
    return {"V": size, "k": heavy, "t": steps, "eta_0": length, "rho": ratio}


HALF = Fraction(1, 2)
SKEWED: tuple[Mapping[str, Any], ...] = (
    skewed(2, 1, 2, HALF, 50),
    skewed(2, 1, 2, HALF, 10**6),
    skewed(2, 1, 2_000, HALF, 10**650),
    skewed(5, 1, 200, Fraction(1), 10**110),
    skewed(101, 1, 100, Fraction(5), 10**230),
    skewed(10**6 + 1, 500_000, 10_000, Fraction(500), 10**4_000),
)


def counterexample(says: str, left: sp.Expr, op: str, right: sp.Expr) -> Any:
    """The first skewed instance at which a relation is true, as a witness, or None."""
    for instance in SKEWED:
        record = formula(explicit(left), op, explicit(right), instance, says)
        if recheck.decide(record).valid:
            return record
    return None


def refuted_or_open(*tried: tuple[str, sp.Expr, str, sp.Expr]) -> Outcome:
    """Refute by the first relation that some skewed instance makes true."""
    for says, left, op, right in tried:
        witness = counterexample(says, left, op, right)
        if witness is not None:
            return Refuted(says, witness=witness)
    return Inconclusive("no proof and no counterexample", cause=Cause.NO_PROOF)
