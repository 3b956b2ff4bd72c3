r"""Scores keep their sign and grow linearly in t, whatever T is: written proof.

Let Assumption 1 hold, and Assumption 3 with tokens counted by their next token (for
injective n this is Assumption 3). After stage 1 the logits of a sample n are
Delta * Phi_i + const, Phi_i its attention on tokens followed by i. Its carriers P are
the tokens followed by the label y, phi_+ = Phi_y their attention, the others J. With
a_x = T_{In(x)} - 1{x in P} and abar = sum_x phi_x a_x, one step changes the column of
its query by

    -c pi phi_x (a_x - abar),     c = eta Delta / ||grad L||,                    (1)

    -abar = sum_{i != y} (phi_+ - Phi_i) T_i.                                   (2)

SIGNS. While Phi_i <= phi_+ for all i != y, abar <= 0 by (2): every j in J falls by
s_nj = c pi phi_j (a_j - abar) > 0, the carriers rise by sum_j s_nj, shared out like
their attention. Then Phi_i / phi_+ falls, so that the condition persists in all
samples; at t = 0 it is the assumption on counts. Without confused tokens a token is in
P, or in J, in all samples of a query that compare it. Hence strictly, for T, t >= 1,

    w_optimal > 0 = w_non-comparable > w_non-optimal, monotone in t.

GROWTH. E counts the pairs (n, j) with j in J, L = L_max, kappa = max pi / min pi,
rho_nj = log(phi_+ / phi_j) >= 0 (nondecreasing), rho_n the least of a sample, rho of
all; R = 2 kappa |V|^4, H = ||W*_kq||; sigma = sum of all s_nj in one step.

    (3) eta / sqrt2 <= sigma <= eta H: the step is sum s_nj (p_n - x_j) x_q^T with p_n
        a mean of carriers; ||p_n - x_j||^2 <= 2, <W*, (p_n - x_j) x_q^T> >= 1.
    (4) s_e <= R exp(-(rho_e - rho_n)) sigma for every pair e = (n', j') and sample n.
        Either rho_n' >= rho_n + 2 log|V|: then phi'_+ >= phi_+, all Phi'_i are at most
        the largest Phi_i, hence 1 - T'_y <= (|V|-1)(1 - T_y), s_e <= c pi' e^-rho_e
        2 (1 - T'_y), and the largest token of the largest Phi_i has s >= c pi
        e^-rho_n (1 - T_y) / (|V| (|V|-1)^2). Or not: then compare within n', where
        the largest token of the largest Phi'_i has the largest a.
    (5) F_e, the sum of s_e up to t, is at most -w_j' <= rho_e. After the last time at
        which rho_e < rho + K, s_e <= R e^-K eta H. So F_e <= rho(t) + K + eta + t R
        e^-K eta H. Sum over e, use (3), take K = K_1 = log(2 sqrt2 E R H):
            rho(t) >= t eta / (2 sqrt2 E) - K_1 - eta.
    (6) Fix a non-optimal m, a sample n with it, G = log sum_P C_o e^w_o, Y = -w_m:
        G + Y >= rho(t). In a step G rises by at most e^eta sum_o p_o dw_o, p_o the
        share of o in n. A pair e = (n', j') adds p_o s_e at most; where
        -w_j' >= Y + K, rho_e >= rho_nm + log p_o - 2 log L + K, so by (4)
        p_o s_e <= R L^2 e^-K sigma; the rest is F_e <= Y + K + eta. Hence
            log L + e^eta E (Y + K + eta + t R L^2 e^-K eta H) + Y >= rho(t)
        and with K = K_2 = log(4 sqrt2 E^2 e^eta R L^2 H)
            Y >= SPEED t - LAG.
    (7) If each sample has one optimal token o, change the roles in (6): o in n with m,
        -w_m is the sum of F_e over e = (n', m) with carriers o'; where w_o' >= w_o + K,
        rho_e >= rho_nm + K - log L. The same bound follows for w_o, with 1 for e^eta.

SPEED and LAG do not depend on T or t. Theorem 1 and Proposition 2 are not used, nor is
any bound on eta.
"""

from __future__ import annotations

import functools

import sympy as sp

from theorems.huang2024.stage_one.closed import equal, positive
from theorems.huang2024.stage_one.signs import rising
from verify import Cause, Undecided

eta, t = sp.symbols("eta t", positive=True)
E = sp.Symbol("E", positive=True)  # pairs (sample, token that its label follows not)
L = sp.Symbol("L", positive=True)  # L_max
H = sp.Symbol("H", positive=True)  # ||W*_kq||
V = sp.Symbol("V", positive=True)  # |V|
kappa = sp.Symbol("kappa", positive=True)  # largest over smallest frequency

R = 2 * kappa * V**4
K_1 = sp.log(2 * sp.sqrt(2) * E * R * H)
K_2 = sp.log(4 * sp.sqrt(2) * E**2 * sp.exp(eta) * R * L**2 * H)
SPEED = eta / (4 * sp.sqrt(2) * E * (1 + sp.exp(eta) * E))
LAG = (K_1 + eta + sp.log(L) + sp.exp(eta) * E * (K_2 + eta)) / (1 + sp.exp(eta) * E)

w, x = sp.symbols("w x", real=True)
u, r, delta, T, a, phi, plus = sp.symbols("u r Delta T a phi phi_+", positive=True)
A, B, X, Z = sp.symbols("A B X Z", positive=True)


@functools.cache
def signs() -> tuple[str, ...]:
    """The steps of SIGNS, each proved; ``Undecided`` where one is not."""
    attention = u * sp.exp(w) / (u * sp.exp(w) + r)
    elsewhere = r / (u * sp.exp(w) + r)
    output = u * sp.exp(delta * x) / (u * sp.exp(delta * x) + r)
    other, wrong = sp.symbols("other wrong", positive=True)
    return (
        equal(
            "attention, own score",
            sp.diff(attention, w),
            attention * (1 - attention),
        ),
        equal(
            "attention, another score", sp.diff(elsewhere, w), -attention * elsewhere
        ),
        equal("output, own mass", sp.diff(output, x), delta * output * (1 - output)),
        equal(
            "(1): a term of the chain rule, x' = x and x' != x",
            a * phi * (1 - phi) - other * phi * T,
            phi * (a - (phi * a + T * other)),
        ),
        equal("(2): a term", plus * T - phi * T, (plus - phi) * T),
        positive("a token of J falls", phi * (a + wrong), {phi: 0, a: 0, wrong: 0}),
        positive(
            "a carrier rises", phi * other * (a + T), {phi: 0, other: 0, a: 0, T: 0}
        ),
        positive(
            "Phi_i / phi_+ falls as carriers rise and others fall",
            A / B - A / (B * X * Z),
            {A: 0, B: 0, X: 1, Z: 1},
        ),
    )


@functools.cache
def growth() -> tuple[str, ...]:
    """The steps of GROWTH, each proved; ``Undecided`` where one is not."""
    return (*signs(), *_flows(), *_comparison(), *_passage())


def _flows() -> tuple[str, ...]:
    share = A / (A + B)
    return (
        positive("(3): p^2 <= p for a share p", share - share**2, {A: 0, B: 0}),
        positive(
            "phi_+ >= 1/|V|, all ratios to phi_+ at most 1",
            1 / (1 + (V - 1) / (1 + X)) - 1 / V,
            {V: 2, X: 0},
        ),
    )


def _comparison() -> tuple[str, ...]:
    small = r / (V**2 * (1 + X))  # e^-rho of the sample with the larger margin
    low = {V: 2, r: 0, X: 0}
    quotient = B / (A + B)
    bound = (V - 1) * B / (A + B) - (V - 1) * B / (A + (V - 1) * B)
    each = 2 * (V - 1) * V * (V - 1) ** 2 * kappa
    return (
        positive("(4): phi'_- / phi'_+ <= phi_- / phi_+", r - (V - 1) * small, low),
        positive("(4): Phi'_i <= max Phi", r / V - (V - 1) * small, low),
        positive("(4): 1 - T_y rises with B", sp.diff(quotient, B), {A: 0, B: 0}),
        positive("(4): 1 - T_y falls with A", -sp.diff(quotient, A), {A: 0, B: 0}),
        positive("(4): 1 - T'_y <= (|V|-1)(1 - T_y)", bound, {A: 0, B: 0, V: 2}),
        positive("(4): between samples", R - each, {V: 2, kappa: 1}),
        positive("(4): within a sample", R - (V - 1) * V**2, {V: 2, kappa: 1}),
    )


def _passage() -> tuple[str, ...]:
    low = {eta: 0, E: 1}
    flow = t * eta / sp.sqrt(2)
    rho, Y = flow / (2 * E) - K_1 - eta, SPEED * t - LAG
    small_1 = t * R * sp.exp(-K_1) * eta * H
    small_2 = t * R * L**2 * sp.exp(-K_2) * eta * H
    rest = sp.exp(eta) * E * (Y + K_2 + eta + small_2)
    if not rising(x * sp.exp(x) - sp.exp(x) + 1, x, {x: 0}):
        raise Undecided("e^x - 1 <= x e^x is not proved", Cause.NO_PROOF)
    return (
        "(6): e^x - 1 <= x e^x for x >= 0, by its derivative x e^x",
        _same("(5)", E * (rho + K_1 + eta + small_1), flow),
        _same("(6)", sp.log(L) + rest + Y, rho),
        positive(
            "(7): slower by no more than in (6)", sp.exp(eta) * E - E, {E: 1, eta: 0}
        ),
        positive("SPEED is positive", SPEED, low),
    )


def _same(says: str, left: sp.Expr, right: sp.Expr) -> str:
    """An identity with logarithms of products."""
    difference = sp.expand(sp.expand_log(sp.expand(left - right), force=True))
    if sp.simplify(difference) != 0:
        raise Undecided(f"not proved: {says}", Cause.NO_PROOF)
    return f"{says}: equality at the bound, for the constants chosen"
