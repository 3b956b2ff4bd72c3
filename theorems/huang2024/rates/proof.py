"""Bounds on stage 2 that hold, derived in steps that are each machine-checked.

One optimal token type o in a sentence, other tokens j; phi_+ and phi_- their attention,
Phi_i the attention on tokens followed by i, y the label, A_e = (x_o - x_j) q^T.

    1. The descent direction is a positive combination of edges (Lemma 4):
           -grad L = Delta sum_n pi_n sum_j phi_j B_j A_(o,j),
           B_j = sum_{i != y} [T]_i (phi_+ - Phi_i) + [T]_n(j).
       With grouped counts phi_+ >= Phi_i at the start; then every B_j > 0, scores of
       optimal tokens never fall, others never rise, and phi_+ / Phi_i, phi_+ and
       phi_+ - Phi_i never fall: by induction all of this holds for all t, any eta.
    2. Write the weights as s_e = exp(c_e - A_e.W), p = s / sum s. For multipliers q of
       problem (3), scaled to sum 1, sum q A = u / ||W*||, u = W*/||W*||; by Gibbs
           sum p A.W <= log sum e^c - min c + <u, W> / ||W*||.
    3. 1/L_max <= phi_+ / C_o and [T]_n(j) >= 1/(e^Delta + V - 1) give
           log sum e^c - min c <= G = K + Delta + log(2L(L - 1)(1 + (V - 1)e^-Delta)).
    4. Let a = <u, W> and b = ||W - a u||. Each step has <u, step> >= eta/(sqrt2 ||W*||)
       and b^2 grows by at most 2 eta G ||W*|| + eta^2. Hence the bound.
"""

import functools

import sympy as sp

from theorems.huang2024.rates.notation import (
    AFTER,
    C_0T,
    LOSS_AFTER,
    PRICE,
    PRINTED_AFTER,
    SPREAD,
    WITH_FREQUENCIES,
    Delta,
    K,
    L,
    N,
    S,
    V,
    eta,
    phi,
    t,
)
from theorems.huang2024.stage_one.closed import equal, positive
from theorems.huang2024.stage_one.signs import nonnegative, rising
from verify import Cause, Undecided

LOW = {t: 1, L: 2, V: 2, S: 0, N: 1, eta: 0, Delta: 0, K: 0, C_0T: 0, phi: 0}

plus, T_y, M, share, T_j = sp.symbols("phi_+ T_y M phi_j T_j", positive=True)
x, z, a = sp.symbols("x z a", positive=True)


def need(says: str, proved: bool) -> str:
    """Keep a step that was proved, and refuse one that was not."""
    if not proved:
        raise Undecided(f"not proved: {says}", Cause.NO_PROOF)
    return says


def factor(following: sp.Expr = T_j) -> sp.Expr:
    """B_j; M stands for sum_{i != y} [T]_i Phi_i, ``following`` for [T]_n(j)."""
    return (1 - T_y) * plus - M + following


@functools.cache
def edges() -> tuple[str, ...]:
    """Step 1: the gradient of Lemma 4 in differences of tokens, for any sentence."""
    mean = plus * (T_y - 1) + M  # sum_l phi_l ([T]_In(x_l) - 1{In(x_l) = y})
    # sum_j phi_j B_j with sum_j phi_j = 1 - phi_+ and sum_j phi_j [T]_n(j) = M
    total = (1 - plus) * factor(sp.S.Zero) + M
    return (
        equal("-grad at another token j", -share * (T_j - mean), -share * factor()),
        equal("-grad at the optimal token", -plus * (T_y - 1 - mean), total),
        equal("sum_j phi_j B_j", total, (1 - plus) * plus * (1 - T_y) + plus * M),
    )


@functools.cache
def gibbs() -> tuple[str, ...]:
    """Step 2: log x <= x - 1, from which sum q log(s/q) <= log sum s for any q."""
    above = rising(x - 1 - sp.log(x), x, {x: 1})
    below = rising(1 / x - 1 + sp.log(x), x, {x: 1})  # at 1/x <= 1
    return (
        need("log x ≤ x - 1 for x ≥ 1", above),
        need("log x ≤ x - 1 for x ≤ 1", below),
        "Σ q log(s/(q Σ s)) ≤ Σ q (s/(q Σ s) - 1) ≤ 0: log Σ s ≥ Σ q log(s/q)",
        "with Σ q A = u/‖W*‖ (KKT: W* = Σ λ A, Σ λ = ‖W*‖²) and q = p: "
        "Σ p A·W ≤ log Σ e^c - min c + ⟨u, W⟩/‖W*‖",
    )


@functools.cache
def spread() -> tuple[str, ...]:
    """Step 3: how far the constants c_e lie apart."""
    chord = 1 + x * (sp.exp(Delta) - 1) - sp.exp(Delta * x)
    ends = [sp.simplify(chord.subs(x, end)) for end in (0, 1)]
    concave = sp.simplify(-sp.diff(chord, x, 2) / sp.exp(Delta * x))
    largest = 2 * (L - 1)  # Σ_j C_j/C_o ≤ L - 1, phi_+ ≤ 1, B ≤ 2 (1 - [T]_y) ≤ 2
    least = sp.exp(-K) / L / (sp.exp(Delta) + V - 1)
    return (
        need("e^{Δx} ≤ 1 + x(e^Δ - 1) on [0, 1]: equal at the ends", ends == [0, 0]),
        need("the difference is concave there", concave == Delta**2),
        "Σ_i e^{ΔΦ_i} ≤ e^Δ + |V| - 1 since Σ_i Φ_i = 1: [T]_j ≥ 1/(e^Δ + |V| - 1)",
        equal("B_j less [T]_j", factor() - T_j, (1 - T_y) * plus - M),
        equal("Σ e^c / min e^c", largest / least, sp.exp(K + Delta) * SPREAD),
    )


@functools.cache
def growth() -> tuple[str, ...]:
    """Step 4: along W* the norm grows like t, across it like sqrt t."""
    along = t * eta / (sp.sqrt(2) * S)
    across = t * (2 * eta * PRICE * S + eta**2)  # its square
    r = a + z  # sqrt(a^2 + b^2), so that b^2 = r^2 - a^2
    slack = (r**2 - a**2) / (2 * a**2) - (1 - a / r)
    return (
        "‖A_e‖ = √2, ⟨u, A_e⟩ ≥ 1/‖W*‖: ⟨u, step⟩ ≥ η/(√2 ‖W*‖), ‖Σ p A‖ ≥ 1/‖W*‖",
        "⟨W - a u, Σ p A⟩ ≤ G, so b² grows by at most 2ηG‖W*‖ + η² a step",
        positive("1 - a/r ≤ (r² - a²)/(2a²) for r ≥ a", slack, {a: 0, z: 0}),
        equal("b²/(2a²)", across / (2 * along**2), WITH_FREQUENCIES),
    )


@functools.cache
def direction() -> tuple[str, ...]:
    """All steps to 1 - cos(W, W*) ≤ ``WITH_FREQUENCIES``."""
    return (*edges(), *gibbs(), *spread(), *growth())


@functools.cache
def weights() -> tuple[str, ...]:
    """From ``AFTER`` on every edge has A.W ≥ ηt/(8‖W*‖²)."""
    ratio = 1 / sp.sqrt(2) - 1 / sp.sqrt(3)
    least = sp.sqrt(2 * (1 + 2 * S * PRICE / eta) / AFTER)
    return (
        *direction(),
        "A_e·W ≥ a/‖W*‖ - √2 b on every edge, a ≥ ηt/(√2‖W*‖), b² as above",
        equal("√2 b/(ηt) when t is AFTER", least**2, 1 / (3 * S**4)),
        need("1/√2 - 1/√3 ≥ 1/8", bool(ratio > sp.Rational(1, 8))),
        "φ_-/φ_+ ≤ Σ_j C_j/C_o e^{-A·W} ≤ (L_max - 1) e^{-ηt/(8‖W*‖²)}",
    )


@functools.cache
def strict() -> tuple[str, ...]:
    """1 - cos ≤ C/t² on strictly complementary data, with C exhibited.

    W = a u + W_T + W_B: W_T in the span of the tight A_e and across u, W_B across that
    span, so that tight edges do not see it.
    """
    price, kappa, pull = sp.symbols("G kappa v", positive=True)
    radius = (price + eta * pull / 2) / kappa
    change = 2 * eta * (price - kappa * radius) / pull + eta**2
    along = t * eta / (sp.sqrt(2) * S)
    b = sp.Symbol("b", positive=True)
    return (
        *direction(),
        "an edge with slack σ has p ≤ exp(G - aσ/‖W*‖ + √2 b) with a ≥ ηt/(√2‖W*‖) and "
        "b = O(√t): summable, so that ‖W_B‖ ≤ B = √2 η‖W*‖ Σ_t Σ_e p",
        "κ = min over unit W_T of -min_tight A·W_T is positive: Σ q A·W_T = 0 with "
        "q > 0 on all tight edges, and A·W_T = 0 on all of them only for W_T = 0",
        "Gibbs with q on one tight edge: ⟨W - a u, Σ p A⟩ ≤ G - κ‖W_T‖",
        equal("growth of b² at ‖W_T‖ = (G + η|Σ p A|/2)/κ", change, sp.S.Zero),
        "so b ≤ √(ρ² + B²) + η for all t, ρ = (G + η/√2)/κ, as |Σ p A| ≤ √2",
        equal("b²/(2a²)", b**2 / (2 * along**2), b**2 * S**2 / (eta**2 * t**2)),
    )


@functools.cache
def never_faster() -> tuple[str, ...]:
    """L - L_min is at least c e^{-tη/‖W*‖} on all data."""
    return (
        "Σ q A·W = ⟨u, W⟩/‖W*‖ ≤ tη/‖W*‖: a tight edge has A·W ≤ tη/‖W*‖",
        "its sentence has φ_-/φ_+ ≥ e^{-tη/‖W*‖}/L_max and loses at least "
        "log(1 + (|V|-1)e^{-Δφ_+}) - log(1 + (|V|-1)e^{-Δ}), rising with φ_-",
        equal(
            "the slope of the loss in φ_- at Φ_j = 0",
            sp.diff(sp.log(1 + (V - 1) * sp.exp(-Delta * (1 - x))), x),
            Delta * (V - 1) / (sp.exp(Delta * (1 - x)) + V - 1),
        ),
    )


@functools.cache
def loss() -> tuple[str, ...]:
    """From ``LOSS_AFTER`` on L ≤ log(1 + (|V| - 1) e^{-h}), h = C_0 T, Δ ≥ 4h.

    Whatever the frequencies: a sample that is rare counts little, and one that counts
    has the larger gradient once the others are learnt.
    """
    parts = sp.Symbol("parts", positive=True)
    rare = sp.log(V) * (1 - sp.exp(-x)) - x * (1 - 1 / V)  # x = loss of a sample
    concave = sp.simplify(-sp.diff(rare, x, 2) / sp.exp(-x))
    ends = [sp.simplify(rare.subs(x, end)) for end in (0, sp.log(V))]
    last = 4 * S**3 * parts / eta + 2 * S**2
    return (
        *edges(),
        "step 1: φ_+ - Φ_i never falls, so no sample's loss ever rises, for any η",
        "call a sample learnt when φ_+ ≥ 7/8: its loss is at most (|V|-1) e^{-3h}",
        "were L > log(1 + z), z = (|V|-1)e^{-h} ≤ 1, at step t, then the samples not "
        "learnt would have Σ π ℓ ≥ z/2 - z e^{-2h} ≥ z/4 at all steps before",
        need("1 - e^{-ℓ} ≥ ℓ(1 - 1/|V|)/log|V| on [0, log|V|]", ends == [0, 0]),
        need("it is concave there", bool(concave == sp.log(V))),
        "weights Σ φ_j B_j ≥ φ_-φ_+(1 - [T]_y) ≥ ℓ/(16 L log|V|): at least "
        "z/(64 L log|V|) in all",
        "not learnt: A_j·W ≤ log(1/φ_j), weights q_j ≤ 16Lφ_j: Σ q A·W ≤ log(16L²)",
        "learnt: Σ φ_j B_j A_j·W ≤ 2(|V|-1)e^{-3h} L/e, at most L² of the whole as "
        "64 log|V| e^{-2h} ≤ 1",
        "so ⟨W, Σ p A⟩ ≤ log(16L²) + L², ‖W‖² grows by 2η‖W*‖ of it + η² a step, "
        "while ‖W‖ ≥ ηt/(√2‖W*‖): t < LOSS_AFTER",
        equal("LOSS_AFTER", last.subs(parts, sp.log(16 * L**2) + L**2), LOSS_AFTER),
    )


@functools.cache
def late_enough() -> tuple[str, ...]:
    """Theorem 2's threshold is later than ``LOSS_AFTER`` when η ≤ ‖W*‖/e, t ≥ 2."""
    root = 1 / sp.sqrt(2)  # ||W*|| is at least that of one pair
    first = 1696 * 16 * root**5 * sp.E * sp.log(2) ** 2
    kept = PRINTED_AFTER.subs(sp.log(t), 8).subs(N, 1) * eta / S**3
    parts = sp.log(16 * L**2)
    room = 1696 * 64 * L**4 * root**3 - 13 * L**2
    return (
        need("t ≥ 1696·16‖W*‖^5 e log²2 > e^8, so log t ≥ 8", bool(first > sp.exp(8))),
        equal("threshold · η/‖W*‖³ with log t = 8", kept, 1696 * 64 * L**4 * S**3),
        need("log(16L²) ≤ 2L² at L = 2", bool(parts.subs(L, 2) < 8)),
        positive("and its slope for L ≥ 2", sp.diff(2 * L**2 - parts, L), {L: 2}),
        positive("4·3L² + 2/e ≤ 13L² ≤ 1696·64 L⁴ 2^{-3/2}", room, {L: 2}),
        need("424·log²2 ≥ 200: h ≥ 200(|V|-1)", bool(424 * sp.log(2) ** 2 > 200)),
    )


def at_most(left: sp.Expr, right: sp.Expr) -> bool:
    """Prove left ≤ right for all data and steps; False says nothing."""
    difference = sp.expand(sp.expand_log(right - left, force=True))
    return bool(difference == 0) or nonnegative(difference, LOW)
