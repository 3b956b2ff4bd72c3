"""Proofs behind the bounds, in steps that are each machine-checked.

Named theorems: McDiarmid's and Hoeffding's inequalities; Theorem 3.3 of Mohri,
Rostamizadeh and Talwalkar (symmetrisation and McDiarmid), which is Eq. (27); Cauchy,
Schwarz, Jensen, Parseval.
"""

from __future__ import annotations

import functools
from itertools import product

import sympy as sp

from theorems.ren2024.bound.notation import (
    COMPLEXITY,
    DEVIATION,
    M2,
    RANGE,
    S2,
    SHARP_DEVIATION,
    SHARP_MEAN,
    K,
    N,
    R,
    delta,
    rho,
    root_log,
    trace,
    w,
)
from theorems.ren2024.bound.steps import equal, need

kappa = sp.Symbol("kappa", positive=True)  # bound on ‖φ‖, wκ = ρ

SEGMENT = (
    "|h(x) - h(x')| ≤ ‖x - x'‖ sup ‖∇h‖ over the segment (mean value theorem), and "
    "products of balls are convex"
)


def over_signs(expr: sp.Expr, signs: tuple[sp.Symbol, ...]) -> sp.Expr:
    """The mean of an expression over independent signs."""
    values = [
        expr.subs(dict(zip(signs, at, strict=True)))
        for at in product((-1, 1), repeat=len(signs))
    ]
    return sp.expand(sum(values) / len(values))


@functools.cache
def quadratic_form() -> str:
    """E σᵀGσ = tr G, for three signs with a symbolic G; in general by E σ_iσ_j = 0."""
    signs = sp.symbols("s1:4")
    G = sp.Matrix(3, 3, lambda i, j: sp.Symbol(f"g{min(i, j)}{max(i, j)}"))
    form = (sp.Matrix([signs]) * G * sp.Matrix(signs))[0, 0]
    return equal("E σᵀGσ, N = 3", over_signs(form, signs), G.trace())


@functools.cache
def rademacher() -> tuple[str, ...]:
    """R_S(G) ≤ wρ √Tr K_S, with no dimension."""
    return (
        "Σ σ_i g(x_i) = -⟨W, Σ σ_i v_iφ_iᵀ⟩, whose supremum over ‖W‖ ≤ w is "
        "w‖Σ σ_i v_iφ_iᵀ‖ (Cauchy-Schwarz, attained)",
        quadratic_form(),
        "with G_ij = ⟨v_i, v_j⟩K_ij and Jensen: R_S(G) ≤ w √(Σ ‖v_i‖² K_ii)",
        equal("‖v_i‖ ≤ ρ", w * sp.sqrt(rho**2 * trace), w * rho * sp.sqrt(trace)),
    )


@functools.cache
def class_average() -> tuple[str, ...]:
    """Eq. (31): R_S(F̃) ≤ w √(d_o Tr K_S)."""
    s, b = sp.symbols("s b")
    return (
        "the part W_V x of f̃ is the same for all W:",
        equal("its signs average to 0", over_signs(s * b, (s,)), sp.S.Zero),
        "Σ_it σ_it f_t(x_i) = ⟨W, Σ_i σ_i φ_iᵀ⟩ with σ_i in {±1}^{d_o}: the supremum "
        "is w √(Σ_t σ_tᵀ K_S σ_t) (Cauchy-Schwarz, attained)",
        quadratic_form(),
        equal(
            "d_o forms, Jensen", w * sp.sqrt(sum([trace] * 3)), w * sp.sqrt(3 * trace)
        ),
    )


@functools.cache
def lipschitz() -> tuple[str, ...]:
    """h(a, b) = -⟨a, b⟩ is √2ρ-Lipschitz where ‖a‖, ‖b‖ ≤ ρ."""
    a, b = sp.symbols("a b")
    slopes = [sp.diff(-a * b, x) for x in (a, b)]
    return (
        SEGMENT,
        need("the gradient of -⟨a, b⟩ is -(b, a), term by term", slopes == [-b, -a]),
        equal("‖b‖² + ‖a‖² at most", rho**2 + rho**2, 2 * rho**2),
    )


@functools.cache
def lipschitz_negatives() -> tuple[str, ...]:
    """h(f, v, v_1, .., v_K) = -⟨f, v - mean v_j⟩ on the product of balls."""
    f, v, x, y = sp.symbols("f v x y")
    h = -f * (v - (x + y) / 2)  # K = 2, term by term
    slopes = [sp.expand(sp.diff(h, z)) for z in (f, v, x, y)]
    return (
        SEGMENT,
        need(
            "the parts of the gradient, K = 2",
            slopes == [(x + y) / 2 - v, -f, f / 2, f / 2],
        ),
        equal(
            "‖v - mean v_j‖² + ‖f‖² + K‖f/K‖² at most",
            (2 * rho) ** 2 + rho**2 + K * (rho / K) ** 2,
            (5 + 1 / K) * rho**2,
        ),
    )


@functools.cache
def khintchine() -> tuple[str, ...]:
    """‖u‖ ≤ √2 E|Σ ε_t u_t| (Szarek; this proof is Latała's and Oleszkiewicz's)."""
    n, s, first, second = sp.symbols("n s m1 m2", positive=True)
    return (
        "f(ε) = |Σ ε_t u_t|; flipping ε_i gives f_i ≥ 0",
        equal("Σ_i of the flipped sums", n * s - 2 * s, (n - 2) * s),
        "so Σ_i f_i ≥ (n - 2) f, and Δf := Σ_i (f - f_i)/2 ≤ f",
        equal("Δf/f when Σ_i f_i = (n - 2) f", (n - (n - 2)) / sp.Integer(2), sp.S.One),
        "f is even: its Walsh expansion has degrees 0, 2, 4, ..., so that E f Δf ≥ "
        "2(E f² - (E f)²) (Parseval)",
        equal("2(m2 - m1²) ≤ m2 is m2 ≤ 2 m1²",
              second - 2 * (second - first**2), 2 * first**2 - second),
    )  # fmt: skip


@functools.cache
def contraction() -> tuple[str, ...]:
    """Lemma C.2 (Maurer): one point z_i after the other."""
    s, a, b, x = sp.symbols("s a b x")
    pair = over_signs(s * x, (s,))
    return (
        *khintchine(),
        "condition on all signs but σ_1; Ψ(f) is the rest of the sum",
        need("E σ_1 = 0", pair == 0),
        "E sup_f [σ_1 h(f(z_1)) + Ψ(f)] = ½ sup_{f,f'} [h(f(z_1)) - h(f'(z_1)) + Ψ(f) "
        "+ Ψ(f')] ≤ ½ sup_{f,f'} [L‖f(z_1) - f'(z_1)‖ + Ψ(f) + Ψ(f')]",
        "≤ ½ E_ε sup_{f,f'} [√2 L |Σ_t ε_t (f - f')_t(z_1)| + Ψ(f) + Ψ(f')] "
        "(Khintchine, and sup E ≤ E sup)",
        equal(
            "swapping f and f' keeps Ψ(f) + Ψ(f') and flips the sign", a - b, -(b - a)
        ),
        "so the modulus may go: = ½ E_ε sup_f [√2 L Σ ε_t f_t + Ψ] + ½ E_ε sup_f' "
        "[-√2 L Σ ε_t f'_t + Ψ] = E_ε sup_f [√2 L Σ_t ε_t f_t(z_1) + Ψ(f)], as -ε is "
        "distributed like ε",
        "repeat for i = 2, .., M: the other points' signs are never touched",
    )


@functools.cache
def rescaled() -> tuple[str, ...]:
    """Eq. (27) for a class with values in [-ρ², ρ²]."""
    g = sp.Symbol("g")
    scaled = (g + rho**2) / RANGE
    return (
        "standard (Mohri et al., Theorem 3.3): for G with values in [0, 1], with "
        "probability at least 1 - δ/2, E g ≤ mean g + 2R_S(G)/N + 3√(log(4/δ)/(2N))",
        "|g| ≤ ‖W_V x‖ ‖Wφ‖ ≤ ρ² (Cauchy-Schwarz)",
        equal("(g + ρ²)/(2ρ²) at -ρ²", scaled.subs(g, -(rho**2)), sp.S.Zero),
        equal("(g + ρ²)/(2ρ²) at ρ²", scaled.subs(g, rho**2), sp.S.One),
        "a constant adds E Σ σ_i c = 0 to R_S: it only scales, by 1/(2ρ²)",
        equal(
            "2ρ² times the bound",
            RANGE * (2 * R / RANGE / N + 3 * root_log(4)),
            2 * R / N + 3 * RANGE * root_log(4),
        ),
    )


@functools.cache
def hoeffding() -> tuple[str, ...]:
    """L̂(f*) ≤ L(f*) + 2ρ² √(log(2/δ)/(2N)), with probability at least 1 - δ/2."""
    t = RANGE * root_log(2)
    return (
        equal(
            "standard (Hoeffding), range 2ρ²: -2Nt²/(2ρ²)²",
            -2 * N * t**2 / RANGE**2,
            -sp.log(2 / delta),
        ),
    )


@functools.cache
def repaired() -> tuple[str, ...]:
    """L(f̂) - L(f*) ≤ 2wρ√Tr K_S/N + 2ρ²(3√(log(4/δ)/2N) + √(log(2/δ)/2N))."""
    total = 2 * (w * rho * sp.sqrt(trace)) / N + 3 * RANGE * root_log(4)
    return (
        *rescaled(),
        *rademacher(),
        *hoeffding(),
        "L(f̂) ≤ L̂(f̂) + .. ≤ L̂(f*) + .. ≤ L(f*) + .. as f̂ minimises L̂",
        equal("union of both risks", delta / 2 + delta / 2, delta),
        equal("sum", total + RANGE * root_log(2), COMPLEXITY + DEVIATION),
    )


@functools.cache
def sharp() -> tuple[str, ...]:
    """L(f̂) - L(f*) ≤ 2ρ²/√N + 4ρ²√(log(1/δ)/(2N)): McDiarmid's inequality alone."""
    change = w * (2 * rho * kappa) / N
    t = RANGE * root_log(1)
    return (
        "L(f̂) - L(f*) ≤ 2 sup_f |L - L̂| = 2w‖M̂ - M‖",
        equal("changing one token, wκ = ρ", change.subs(w, rho / kappa), RANGE / N),
        equal(
            "standard (McDiarmid): -2t²/Σ(2ρ²/N)²",
            -2 * t**2 / (N * (RANGE / N) ** 2),
            -sp.log(1 / delta),
        ),
        *second_moment(),
        "E‖M̂ - M‖ ≤ √E‖M̂ - M‖² ≤ ρκ/√N (Jensen)",
        equal(
            "twice mean and deviation",
            2 * (rho**2 / sp.sqrt(N) + t),
            SHARP_MEAN + SHARP_DEVIATION,
        ),
    )


@functools.cache
def second_moment() -> tuple[str, ...]:
    """E‖M̂ - M‖² = (E‖vφᵀ‖² - ‖M‖²)/N."""
    p, x, y = sp.symbols("p x y")
    mean = p * x + (1 - p) * y
    moments = [p * p, p * (1 - p), (1 - p) * p, (1 - p) ** 2]
    means = [x, (x + y) / 2, (x + y) / 2, y]
    literal = sum(q * (z - mean) ** 2 for q, z in zip(moments, means, strict=True))
    single = p * x**2 + (1 - p) * y**2 - mean**2
    return (
        "deviations of iid terms are orthogonal in the mean: N of them over N²",
        equal("two draws from two values, entry by entry", literal, single / 2),
        equal("E‖vφᵀ‖² less ‖M‖² over N", N * (S2 - M2) / N**2, (S2 - M2) / N),
    )


@functools.cache
def no_complexity_term() -> tuple[str, ...]:
    """The deviation alone exceeds the sharp bound, for δ ≤ 1."""
    log4, log2 = sp.log(4) / 2, sp.log(2) / 2
    spare = 2 * sp.sqrt(log4) + 2 * sp.sqrt(log2) - 2
    return (
        *sharp(),
        "with l = log(1/δ) ≥ 0 and in units of ρ²/√N: 6√((l + log 4)/2) + "
        "2√((l + log 2)/2) ≥ 4√(l/2) + 2√(log 4/2) + 2√(log 2/2)",
        need("2√(log 4/2) + 2√(log 2/2) ≥ 2", bool(spare > 0)),
    )


@functools.cache
def up_to_a_constant(reach: sp.Expr) -> tuple[str, ...]:
    """Excess ≤ 6 t ρ²√(log(1/δ)/N) for δ ≤ 1/2, values as long as t ρ."""
    least = sp.log(2)
    there = 2 + 4 * sp.sqrt(least / 2) <= 6 * sp.sqrt(least)
    return (
        *sharp(),
        f"values are at most {reach} ρ long: all of it times {reach}",
        need("2 + 4√(l/2) ≤ 6√l at l = log(1/δ) = log 2", bool(there)),
        need("and the slopes in √l", bool(4 / sp.sqrt(2) <= 6)),
    )


@functools.cache
def fast() -> tuple[str, ...]:
    """E excess ≤ 2w(S2 - M2)/(N√M2), when M ≠ 0."""
    a, b, cos = sp.symbols("a b cos", real=True)
    apart = a**2 + b**2 - 2 * a * b * cos  # ‖M - M̂‖² with norms a, b
    return (
        "excess = w‖M‖(1 - cos), cos of the angle between M and M̂ (any f̂ if M̂ = 0)",
        equal("‖M - M̂‖²", apart, (b - a * cos) ** 2 + a**2 * (1 - cos**2)),
        equal("(1 - cos²) - (1 - cos)", (1 - cos**2) - (1 - cos), cos * (1 - cos)),
        "the last is ≥ 0 for cos ≥ 0, and for cos < 0: ‖M - M̂‖² ≥ ‖M‖² and 1 - cos ≤ 2",
        "so excess ≤ 2w‖M̂ - M‖²/‖M‖ in both cases",
        *second_moment(),
    )  # fmt: skip


@functools.cache
def negatives() -> tuple[str, ...]:
    """E‖v - mean of K negatives‖² = E‖v - μ‖² + τ²/K."""
    v, x, y, p = sp.symbols("v x y p")
    mu = p * x + (1 - p) * y
    tau = p * (x - mu) ** 2 + (1 - p) * (y - mu) ** 2
    literal = sum(
        q * (v - z) ** 2
        for q, z in (
            (p * p, x),
            (2 * p * (1 - p), (x + y) / 2),
            ((1 - p) ** 2, y),
        )
    )
    return (
        *second_moment(),
        equal("K = 2 negatives of two values", literal, (v - mu) ** 2 + tau / 2),
        "in general: K independent deviations, each orthogonal to v - μ in the mean",
        "E(v - v̄)φᵀ does not depend on K, as E v̄ = μ given x",
    )
