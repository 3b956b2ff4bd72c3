"""The scale of the minimiser, with constants: what Theorem 3.4 comes to.

L = 1, Lambda = n/sigma² (L only rescales sigma). With p = 2 for affine and 3/2 for ReLU
tasks, whose bias² falls like w^-p, and m = (d-1)/2, the order of the variance:

    ORDER  = 1/(m + p)               2/(d+3), 2/(d+2)
    EDGE   = (m + p)/(m + p - 1)     (d+3)/(d+1), (d+2)/d

1. Noise-dominated, 1 <= Lambda <= n^EDGE: every minimiser has w* >= LOW Lambda^ORDER,
   with LATE for LOW once Lambda^ORDER >= AFTER; w* <= HIGH Lambda^ORDER if n >= ENOUGH.
   E.2 asks for Lambda <= n^{(d+4)/(d+2)} and E.1 for Lambda <= n^{(d+2)/d}, up to
   logarithms that make both smaller.
2. Sample-dominated, Lambda >= n^EDGE and d >= 4: w* <= CAP n^{1/(m+p-1)} for n > MANY,
   whatever the noise.

All constants are closed formulas in d; none is sharp.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import sympy as sp

from theorems.collins2024.bounds import estimator, harmonics, neighbour, tilt
from theorems.collins2024.bounds.estimator import START
from theorems.collins2024.bounds.neighbour import FLOOR
from theorems.collins2024.bounds.notation import PEAK, d, k, m
from theorems.collins2024.bounds.steps import equal, need, positive
from theorems.collins2024.bounds.tilt import R_HIGH, R_LOW

omega = sp.Symbol("omega", positive=True)  # Lambda^ORDER
WHOLE = sp.Rational(13, 6)
C_SUM = sp.Integer(2304)


@dataclass(frozen=True)
class Law:
    """One class of tasks.

    Attributes:
        name: ``affine`` or ``relu``.
        p: Its bias² is of order w^-p.
        share: Weight of E_1 in its bias².
        bias: 4 (bias² of infinitely many tokens) is at most this times w^-p, w >= 1.
        tail: (j/e)^j 8^j, rounded up, j = p/(p - 1).
    """

    name: str
    p: sp.Rational
    share: sp.Expr
    bias: sp.Expr
    tail: int

    @functools.cached_property
    def order(self) -> sp.Expr:
        """ORDER."""
        return sp.cancel(1 / (m + self.p))

    @functools.cached_property
    def edge(self) -> sp.Expr:
        """EDGE."""
        return sp.cancel((m + self.p) / (m + self.p - 1))

    @functools.cached_property
    def crowded(self) -> sp.Expr:
        """The exponent of n in the sample-dominated regime."""
        return sp.cancel(1 / (m + self.p - 1))

    @functools.cached_property
    def moment(self) -> sp.Expr:
        """J = p/(p - 1): e^-x is bounded by a multiple of x^-j."""
        return self.p / (self.p - 1)

    @functools.cached_property
    def top(self) -> sp.Expr:
        """TOP: the least loss is at most TOP omega^-p."""
        tail = 5 * self.tail * R_HIGH**self.moment / (3 * d)
        return self.bias + 2 * R_HIGH / 3 + tail + 7 * R_HIGH

    @functools.cached_property
    def pull(self) -> sp.Expr:
        """The factor s of the proofs: bias at w* against TOP."""
        if self.name == "affine":
            return sp.sqrt(self.share / self.top)
        return (PEAK / (C_SUM * self.top)) ** sp.Rational(1, 3)

    @functools.cached_property
    def after(self) -> sp.Expr:
        """AFTER."""
        return 2 / self.pull if self.name == "affine" else ((d + 2) / self.pull) ** 2

    @functools.cached_property
    def late(self) -> sp.Expr:
        """LATE."""
        return m * self.pull / 2 if self.name == "affine" else self.pull**2 / 8

    @functools.cached_property
    def low(self) -> sp.Expr:
        """LOW."""
        return START / self.after

    @functools.cached_property
    def high(self) -> sp.Expr:
        """HIGH."""
        return (5 * self.top / R_LOW) ** (1 / m)

    @functools.cached_property
    def enough(self) -> sp.Expr:
        """ENOUGH."""
        return (15 * self.top / R_LOW) ** ((m + self.p - 1) / (self.p - 1))

    @functools.cached_property
    def cap(self) -> sp.Expr:
        """CAP."""
        most = 16 * (1 + d / 2) * self.top / (self.share * m * R_LOW)
        return sp.Max(1, most) ** (1 / (m - 1))

    @functools.cached_property
    def many(self) -> sp.Expr:
        """MANY."""
        power = m * (m + self.p - 1) / ((self.p - 1) * (m - 1))
        return (self.top / (self.share * FLOOR)) ** power


AFFINE = Law("affine", sp.Integer(2), 1 / (3 * d), d / 3, 35)
RELU = Law(
    "relu",
    sp.Rational(3, 2),
    1 / (6 * d),
    sp.Rational(2, 3) * (d / 4 + WHOLE * (d + 1) ** 2 * PEAK),
    689,
)
LAWS = {law.name: law for law in (AFFINE, RELU)}


@functools.cache
def infinite_tokens() -> tuple[str, ...]:
    """Steps to 4 (bias² of infinitely many tokens) <= ``Law.bias`` w^-p, w >= 1."""
    close = 2 * (d + 1) * (k - 1) ** 2 - k * (k + d - 1)
    third = sp.Rational(1, 2) + sp.Rational(1, 6)
    return (
        *harmonics.drops(),
        *harmonics.weights(),
        "affine: 4 d_1²/(3d) ≤ (d/3) w^-2",
        positive("k(k+d-1) ≤ 2(d+1)(k-1)², k ≥ 2", close, {k: 2, d: 2}),
        "ReLU: d_k ≤ min(1, (j/κ)²), j = k - 1 odd, κ² = w/(d+1)",
        "Σ_{j odd} j^-4 min(1, (j/κ)^4) ≤ κ^-4 (κ+1)/2 + κ^-4 + κ^-3/6",
        equal("coefficients of κ^-3 and κ^-4", third + sp.Rational(3, 2), WHOLE),
        "so Σ b_k d_k² ≤ B_d (13/6)(d+1)² w^{-3/2}, and d_1²/d ≤ (d/4) w^{-3/2}",
    )


@functools.cache
def upper(law: Law) -> tuple[str, ...]:
    """Steps to: the loss at w = omega = Lambda^ORDER is at most TOP omega^-p."""
    j, least = law.moment, m + law.p - 1
    tail = (8 * j / sp.E) ** j
    return (
        *infinite_tokens(),
        *tilt.ratio(),
        *estimator.bias(),
        equal("Λ = ω^{m+p} ≤ n^EDGE: n ≥ ω^{m+p-1}", 1 / law.order / law.edge, least),
        "E_k ≤ 4d_k² + 8(R/n)d_k(2ω) + 5e^{-n/(8R)}, d_1(2ω) ≤ d/(4ω)",
        "ReLU: Σ b_k d_k(2ω) ≤ d_1(2ω)/d ≤ 1/(4ω), as much as d_1(2ω)/d itself",
        equal("cross term, affine", 8 * d / (4 * omega) / (3 * d), 2 / (3 * omega)),
        equal("cross term, ReLU", 8 * 2 / (4 * omega) / 6, 2 / (3 * omega)),
        equal("weights of the tail, ReLU and affine", 2 / d / 6, 1 / (3 * d)),
        equal("cross term: (R/n)/ω ≤ R_HIGH ω^-p", m - 1 - least, -law.p),
        need(f"e^-x ≤ ({j}/e)^{j} x^-{j}, (8·{j}/e)^{j} ≤ {law.tail}", tail < law.tail),
        equal("tail: n/R ≥ ω^{p-1}/R_HIGH, to the power j", (law.p - 1) * j, law.p),
        equal("noise: nV/Λ ≤ 7R/Λ ≤ 7 R_HIGH ω^-p", m - 1 / law.order, -law.p),
        "TOP collects bias, cross term, tail and noise",
    )


@functools.cache
def lower(law: Law) -> tuple[str, ...]:
    """Steps to w* >= LOW Lambda^ORDER."""
    inner = 1 + d / 2
    common = (
        *upper(law),
        *estimator.start(),
        *estimator.left(),
        "w* > START, as L' < 0 on [0, START] and L(-w) > L(w)",
    )
    if law is AFFINE:
        return (
            *common,
            "E_1 ≥ d_1² ≥ (m/(w+m))² for all n: (w*+m)/m ≥ s ω, s = √(share/TOP)",
            "s ω ≥ 2: w* ≥ m(sω - 1) ≥ (m s/2) ω; else w* ≥ START ≥ (START s/2) ω",
            positive("START ≤ m", m - START, {d: 2}),
        )
    half = (2 * inner) ** 2 / 8 - sp.Rational(1, 8) * (d + 2) ** 2
    return (
        *common,
        "w ≤ ω (else nothing is to be shown: s³ ≤ 1/2304 as TOP ≥ B_d, so LATE ≤ 1): "
        "nA ≥ n ω^-m/3 ≥ 1/3, (1 + 1/(nA))² ≤ 16",
        "d_k ≥ 1/2 where k(k+d-2) ≥ 2w, so from an even k_0 ≤ √(2w) + 2 on",
        "Σ_{k even ≥ k_0} (k + d/2 - 1)^-4 ≥ (k_0 + d/2 - 1)^-3/6",
        equal("1/6 · 1/16 · 1/4 · 1/6", sp.Rational(1, 6 * 16 * 4 * 6), 1 / C_SUM),
        "bias² ≥ (B_d/2304)(√(2w) + 1 + d/2)^-3: √(2w*) + 1 + d/2 ≥ s √ω, "
        "s³ = B_d/(2304 TOP)",
        "s√ω ≥ d + 2: √(2w*) ≥ s√ω/2, w* ≥ (s²/8) ω; else ω ≤ ((d+2)/s)²",
        equal("(2(1 + d/2))²/8", half, sp.S.Zero),
        positive("START ≤ (d+2)²/8", (d + 2) ** 2 / 8 - START, {d: 2}),
    )


@functools.cache
def higher(law: Law) -> tuple[str, ...]:
    """Steps to w* <= HIGH Lambda^ORDER for n >= ENOUGH."""
    kept = 1 - m / (m + law.p - 1)
    return (
        *upper(law),
        "at w_1 = Tω, T^m = 5 TOP/R_LOW: nA ≥ n ω^-m T^-m/3",
        equal("n ω^-m ≥ n^{(p-1)/(m+p-1)}", kept, (law.p - 1) / (m + law.p - 1)),
        "n ≥ ENOUGH = (3T^m)^{(m+p-1)/(p-1)}: nA ≥ 1, nV(w_1) ≥ R/4 ≥ R_LOW T^m ω^m/4",
        "V rises with w: beyond w_1 the loss is at least (5/4) TOP ω^-p > TOP ω^-p; so "
        "a minimiser exists, and none is beyond w_1",
    )


@functools.cache
def window(law: Law) -> tuple[str, ...]:
    """Part 1: both sides."""
    return (*lower(law), *higher(law))


@functools.cache
def crowded(law: Law) -> tuple[str, ...]:
    """Part 2: steps to w* <= CAP n^{1/(m+p-1)}, d >= 4, Lambda >= n^EDGE, n > MANY."""
    w, p = estimator.w, law.p
    least = m + p - 1
    gap = p / least - 1 / m
    near = m / (w * (1 + d / 2))
    power = (1 - p / least) / (m - 1)
    return (
        *upper(law),
        *neighbour.floor(),
        "at w = n^{1/(m+p-1)}: noise σ²V ≤ 7 R_HIGH w^m/Λ ≤ 7 R_HIGH w^-p, the rest "
        "as before: the least loss is at most TOP n^{-p/(m+p-1)}",
        equal("w^m/n^EDGE", m / least - law.edge, -p / least),
        equal("p/(m+p-1) - 1/m", gap, (p - 1) * (m - 1) / (m * least)),
        "so no minimiser is at w ≥ n^{1/m} (neighbour) once n > MANY",
        "1 ≤ w ≤ n^{1/m}: nA ≥ 1/3, E_1 ≥ (R/n) g_1(2w)/16, g_1(2w) ≥ m/(w + d/2)",
        positive(
            "m/(w + d/2) ≥ m/(w(1 + d/2))",
            estimator.NEAR_LOW - near,
            {w: 1, d: 4},
        ),
        "share · R_LOW m w^{m-1}/(16(1 + d/2) n) ≤ TOP n^{-p/(m+p-1)}",
        equal("(1 - p/(m+p-1))/(m-1)", power, 1 / least),
    )


@functools.cache
def below(expr: sp.Expr, dimension: int) -> sp.Rational:
    """A rational number of three digits, at most a positive constant.

    Args:
        expr: A closed formula in d.
        dimension: The value of d.

    Returns:
        The number; the formula is evaluated to 30 digits and lowered by a thousandth.
    """
    value = sp.N(expr.subs(d, dimension), 30)
    unit = sp.Integer(10) ** (int(sp.floor(sp.log(value, 10))) - 3)
    return (sp.floor(sp.Rational(str(value)) / unit) - 1) * unit


@functools.cache
def above(expr: sp.Expr, dimension: int) -> sp.Rational:
    """A rational number of three digits, at least a positive constant."""
    return 1 / below(1 / expr, dimension)
