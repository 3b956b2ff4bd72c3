"""Theorem H.5 from Lemmas H.3 and H.4, for general M, step by step.

Write A = c_u B^T M x and Q = c_v B_perp^T M x for a query x = c_u B u + c_v B_perp v.

    1. Scores are u_i.A + v_i.Q; averaging over tasks leaves (c_u^2/k)|sum gamma_i u_i
       - u|^2 + sigma^2 sum gamma_i^2.
    2. E sum gamma_i u_i = kappa A/|A| with kappa > 0, and everything else depends on
       |A| and |Q| alone: turning A to u lowers the loss by 2 kappa (1 - cos) (c_u^2/k).
    3. With weights alpha_i = e^{v_i.Q}, the conditional loss H(c, alpha), c = |A|, is
       invariant under scaling alpha, and by Lemmas H.3, H.4 it grows with each largest
       alpha_i. Lower all largest ones together to the next level: at most n - 1 times,
       until all are equal. So H is least at alpha = 1, at Q = 0, and only there.
    4. What is left is h(|A|), h(c) the loss at M = (c/c_u^2) BB^T; h'(0) < 0.
    5. Equality for almost all x: Q = 0, A = c u with c > 0: M = c BB^T/c_u^2.

Step 3 needs |A| <= 2, and |A| <= 1 with noise. |B^T M B| <= C/c_u^2 does not give it:
A = c_u^2 (B^T M B) u + c_u c_v (B^T M B_perp) v.
"""

from __future__ import annotations

import functools

import sympy as sp

from theorems.collins2024.pairs.steps import equal, need

k, n = sp.symbols("k n", positive=True, integer=True)


@functools.cache
def scores() -> tuple[str, ...]:
    """Step 1, in coordinates with B = (I, 0)^T."""
    names = "f11 f12 f22 t11 t12 t21 t22 g11 g12 g22 c_u c_v"
    f11, f12, f22, t11, t12, t21, t22, g11, g12, g22, c_u, c_v = sp.symbols(names)
    F, T = sp.Matrix([[f11, f12], [f12, f22]]), sp.Matrix([[t11, t12], [t21, t22]])
    G = sp.Matrix([[g11, g12], [g12, g22]])
    M = F.row_join(T).col_join(T.T.row_join(G))
    parts = [sp.Matrix(sp.symbols(f"{name}1:3")) for name in ("ui", "vi", "u", "v")]
    token = (c_u * parts[0]).col_join(c_v * parts[1])
    query = (c_u * parts[2]).col_join(c_v * parts[3])
    A = c_u * (M * query)[:2, :]
    Q = c_v * (M * query)[2:, :]
    split = parts[0].dot(A) + parts[1].dot(Q)
    whole = A - c_u**2 * F * parts[2] - c_u * c_v * T * parts[3]
    return (
        need(
            "x_i.Mx = u_i.A + v_i.Q",
            sp.expand((token.T * M * query)[0] - split) == 0,
        ),
        need(
            "A = c_u² (B^T M B) u + c_u c_v (B^T M B⊥) v",
            sp.expand(whole) == sp.zeros(2, 1),
        ),
        "E_a (a.w)² = |w|²/k, as E a a^T = I/k; noise is independent with mean 0",
    )


@functools.cache
def turning() -> tuple[str, ...]:
    """Step 2: parts across A average out, and attention leans towards A."""
    e1, e2, u1, u2 = sp.symbols("e1 e2 u1 u2", real=True)
    along = e1 * u1 + e2 * u2
    moved = (2 * along * e1 - u1) * e1 + (2 * along * e2 - u2) * e2
    s, c, rest = sp.symbols("s c rest", positive=True)
    rise = sp.diff(sp.exp(c * s) / (sp.exp(c * s) + rest), s)
    shown = c * rest * sp.exp(c * s) / (sp.exp(c * s) + rest) ** 2
    square, kappa, cosine = sp.symbols("square kappa cosine", real=True)
    loss = square - 2 * kappa * cosine + 1
    return (
        need(
            "u -> 2(e.u)e - u keeps e.u for |e| = 1: scores stay, parts across flip",
            sp.expand(moved - along * (2 * (e1**2 + e2**2) - 1)) == 0,
        ),
        equal("dγ_1/d(u_1.e), positive: γ_1 increases in u_1.e", rise, shown),
        "κ = n E γ_1 (u_1.e) = n E (γ_1(s) - γ_1(-s)) s; s > 0, so κ > 0 for |A| > 0",
        equal(
            "loss at A less that at |A| u is 2κ(1 - cos) ≥ 0",
            loss - loss.subs(cosine, 1),
            2 * kappa * (1 - cosine),
        ),
    )


@functools.cache
def levelling() -> tuple[str, ...]:
    """Step 3: from the lemmas to alpha = 1."""
    a1, a2, a3, scale = sp.symbols("a1 a2 a3 scale", positive=True)
    e, s = sp.symbols("e1:4", positive=True), sp.symbols("s1:4", real=True)

    def ratio(weights: tuple[sp.Expr, ...]) -> sp.Expr:
        masses = [w * x for w, x in zip(weights, e, strict=True)]
        top = sum(m * (z - 1) for m, z in zip(masses, s, strict=True)) ** 2
        return (top + sum(m**2 for m in masses)) / sum(masses) ** 2

    one, other = (a1, a2, a3), (scale * a1, scale * a2, scale * a3)
    level = sp.Symbol("level", positive=True)
    H = sp.Function("H")
    path = H(level, level, a3).diff(level).doit()
    partial = path.has(sp.Subs) and len(sp.Add.make_args(path)) == 2
    return (
        need(
            "H(c, λα) = H(c, α)",
            sp.cancel(sp.together(ratio(other) - ratio(one))) == 0,
        ),
        need(
            "lowering all largest α_i together: dH = Σ ∂H/∂α_i over them, each > 0",
            partial,
        ),
        "each time one more weight joins the largest: after n - 1 levels all are equal",
        "α_i = e^{v_i.Q} are equal for almost all v_i only for Q = 0, as n ≥ 2",
    )


@functools.cache
def starting() -> tuple[str, ...]:
    """Step 4: h'(0) = -(2/k)(1 - 1/n)/k c_u^2, so that c = 0 is no minimiser."""
    own = 1 / k  # E s_i^2; E s_i s_j = 0
    lean = own * (1 - 1 / n)  # d kappa/dc = E (s_1 - mean s) s_1
    return (
        "c -> -c mirrors the query: P and V are even, dκ/dc = E (s_1 - s̄) s_1 at c = 0",
        equal("dκ/dc at 0", own - (own + (n - 1) * 0) / n, lean),
        need(
            "1 - 1/n > 0 for n ≥ 2",
            bool((1 - 1 / n).subs(n, n + 1).simplify().is_positive),
        ),
    )


@functools.cache
def equality() -> tuple[str, ...]:
    """Step 5: what an M with Q = 0 and A = c u for almost all x looks like."""
    names = "f11 f12 f22 t11 t12 t21 t22"
    f11, f12, f22, t11, t12, t21, t22 = sp.symbols(names)
    F, T = sp.Matrix([[f11, f12], [f12, f22]]), sp.Matrix([[t11, t12], [t21, t22]])
    across = []
    for u in ((1, 0), (0, 1), (1, 1)):
        image = F * sp.Matrix(u)
        across.append(image[0] * u[1] - image[1] * u[0])
    alike = sp.solve(across, (f12, f22), dict=True) == [{f12: 0, f22: f11}]
    axes = (sp.Matrix([1, 0]), sp.Matrix([0, 1]))
    zero = sp.solve([entry for u in axes for entry in T.T * u], (t11, t12, t21, t22))
    return (
        "Q = c_u c_v (B⊥^T M B) u + c_v² (B⊥^T M B⊥) v = 0 for v and -v, c_v ≠ 0",
        need(
            "T^T u = 0 for all u: B^T M B⊥ = 0, as M is symmetric; G v = 0: G = 0",
            set(zero.values()) == {sp.S.Zero},
        ),
        need("F u ∥ u for all u: F is a multiple of I", alike),
        "c_v enters through Q alone: M* and its loss do not depend on it",
    )


@functools.cache
def steps() -> tuple[str, ...]:
    """All steps but the two lemmas."""
    return (*scores(), *turning(), *levelling(), *starting(), *equality())


@functools.cache
def falling() -> tuple[str, ...]:
    """h'(c) < 0 for 0 < c <= 2 without noise: the constraint always binds.

    With p = gamma_i, q = gamma_j, a = s_i, b = s_j and parts across u averaged by sign,
    h'/2 = E sum_{i<j} p q (a - b) (p (1 - a^2) - q (1 - b^2) - (a - b)(1 - s)),
    s = sum gamma_l s_l, and 1 - s >= p (1 - a) + q (1 - b): each term is at most
    p q (a - b) (p (1 - a)(1 + b) - q (1 - b)(1 + a)).
    """
    p, q, a, b, c, x = sp.symbols("p q a b c x", real=True)
    bracket = p * (1 - a**2) - q * (1 - b**2)
    pair = bracket - (a - b) * (p * (1 - a) + q * (1 - b))
    shown = p * (1 - a) * (1 + b) - q * (1 - b) * (1 + a)
    psi = sp.exp(c * x) * (1 - x) / (1 + x)
    rate = sp.exp(c * x) * (c * (1 - x**2) - 2) / (1 + x) ** 2
    return (
        *_slope(),
        equal("the bracket at 1 - s = p(1 - a) + q(1 - b)", pair, shown),
        "1 - s = Σ γ_l (1 - s_l) ≥ p(1 - a) + q(1 - b), times (a - b)² ≥ 0",
        "p/q = e^{c(a - b)}: for a > b the term is negative iff ψ(a) < ψ(b)",
        equal("ψ' for ψ(x) = e^{cx}(1 - x)/(1 + x)", sp.diff(psi, x), rate),
        "c(1 - x²) ≤ 2 for c ≤ 2, equal only at x = 0: ψ decreases strictly",
    )


def _slope() -> tuple[str, ...]:
    """h'/2 as a sum over pairs, for n = 3 tokens."""
    gamma = sp.symbols("gamma1:4", real=True)
    s = sp.symbols("s1:4", real=True)
    mean = sum(x * y for x, y in zip(gamma, s, strict=True))
    turn = [x * (y - mean) for x, y in zip(gamma, s, strict=True)]  # dγ_i/dc
    # |Σ γ u - u|² with parts across u averaged by sign: (mean - 1)² + Σ γ² (1 - s²)
    direct = (mean - 1) * sum(x * y for x, y in zip(turn, s, strict=True)) + sum(
        x * y * (1 - z**2) for x, y, z in zip(gamma, turn, s, strict=True)
    )
    pairs = sp.S.Zero
    for i in range(3):
        for j in range(i + 1, 3):
            inner = gamma[i] * (1 - s[i] ** 2) - gamma[j] * (1 - s[j] ** 2)
            gap = s[i] - s[j]
            pairs += gamma[i] * gamma[j] * gap * (inner - gap * (1 - mean))
    total = {gamma[2]: 1 - gamma[0] - gamma[1]}
    return (
        "dγ_i/dc = γ_i (s_i - s̄); parts across u are independent with mean 0",
        need(
            "h'/2 is the sum over pairs (n = 3; both are sums over pairs for every n)",
            sp.expand((direct - pairs).subs(total)) == 0,
        ),
    )
