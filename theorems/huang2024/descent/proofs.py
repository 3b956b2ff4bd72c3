"""The steps of the proofs about stage 2, each machine-checked.

One sample: y its label, T the outputs, a = e_y - T, Phi_i the attention on tokens whose
next token is i, phi_+ = Phi_y, phi_- = 1 - phi_+, E = Σ_i a_i Phi_i. By Lemma 4 the
negative gradient in the score of a token x is Δ phi_x (a_{In(x)} - E). The vectors
``T`` and ``P`` below hold T_i and Phi_i for the next tokens i != y, however many.
"""

from __future__ import annotations

import functools

import sympy as sp

from theorems.huang2024.stage_one.closed import equal, positive
from theorems.huang2024.stage_one.signs import rising
from verify import Cause, Undecided

k = sp.Symbol("k", integer=True, positive=True)
T, P, e = (sp.MatrixSymbol(name, k, 1) for name in ("T", "P", "e_j"))
one = sp.OneMatrix(k, 1)
plus, own, Delta = sp.symbols("phi_plus phi_x Delta", positive=True)
u, v, R, A, B, d, r, c, n = sp.symbols("u v R A B d r c n", positive=True)
Y = sp.Symbol("Y", positive=True)


def _dot(a: sp.MatrixExpr, b: sp.MatrixExpr) -> sp.Expr:
    return (a.T * b)[0, 0]


WRONG = _dot(one, T)  # a_y = 1 - T_y
MEAN = WRONG * plus - _dot(T, P)  # E
OF_CARRIER = WRONG - MEAN  # a_y - E
OF_OTHER = -_dot(e, T) - MEAN  # a_j - E


@functools.cache
def gradient() -> tuple[str, ...]:
    """Differentiate attention and outputs, and write the forces with signs."""
    soft = sp.exp(u) / (sp.exp(u) + sp.exp(v) + R)
    return (
        equal(
            "attention in its own score: φ_x (1 - φ_x)",
            sp.diff(soft, u),
            soft * (1 - soft),
        ),
        equal(
            "attention in another score: -φ_x φ_l",
            sp.diff(soft, v),
            -soft * soft.subs({u: v, v: u}, simultaneous=True),
        ),
        equal("log T_y in its own logit: 1 - T_y", sp.diff(sp.log(soft), u), 1 - soft),
        equal("E = Σ_{i≠y} T_i (φ_+ - Φ_i)", MEAN, _dot(T, plus * one - P)),
        equal(
            "force on a carrier, over Δ φ_x: Σ_{i≠y} T_i (1 - φ_+ + Φ_i)",
            OF_CARRIER,
            _dot(T, (1 - plus) * one + P),
        ),
        equal(
            "force on a token followed by j≠y: -T_j - Σ_{i≠y} T_i (φ_+ - Φ_i)",
            OF_OTHER,
            -_dot(e, T) - _dot(T, plus * one - P),
        ),
    )


@functools.cache
def signs() -> tuple[str, ...]:
    """Show by induction that optimal scores stay >= 0 and non-optimal ones <= 0."""
    risen, fallen = 1 + r, 1 / (1 + u)  # e^w for w >= 0 and for w <= 0
    return (
        *gradient(),
        "W^(0) = 0: every optimal score is ≥ 0, every non-optimal one ≤ 0",
        positive(
            "the carriers, d more than the tokens with next token i, outweigh them",
            (c + d) * risen - c * fallen,
            {c: 0, d: 0, r: 0, u: 0},
        ),
        "hence φ_+ ≥ Φ_i for all i≠y: carriers are pushed up, other tokens down, in "
        "every sample (T_i, Φ_i ≥ 0, φ_+ ≤ 1 in the forces above)",
        "no token is confused, and every sample has a carrier: a token of the column q "
        "is a carrier in all samples of q with a constraint, or in none; the sum over "
        "samples keeps the signs, for steps of any length",
    )


@functools.cache
def weights() -> tuple[str, ...]:
    """Lemma 5: φ_+ never falls below the carriers' share of the sample."""
    return (
        *signs(),
        positive(
            "φ_+ = A/(A + B) does not fall as A rises by d and B falls from B + r to B",
            (A + d) / (A + d + B) - A / (A + B + r),
            {A: 0, B: 0, d: 0, r: 0},
        ),
        "at t = 0 attention is even: φ_+ = |l|/L ≥ 1/L_max",
    )


@functools.cache
def alignment() -> tuple[str, ...]:
    """Lemma 6: the step is a sum of x_o - x_m with weights >= 0."""
    up, down = (sp.MatrixSymbol(name, k, 1) for name in ("p", "r"))
    total = sp.Symbol("total", positive=True)
    return (
        *signs(),
        equal(
            "forces of a sample add up to 0: φ_+ (a_y - E) = Σ_{j≠y} Φ_j (T_j + E)",
            plus * OF_CARRIER,
            _dot(P, T) + MEAN * (1 - plus),
        ),
        equal(
            "σ_om = p_o r_m / Σr gives every o its p_o",
            (up * (down.T * one) / total)[0, 0],
            up[0, 0] * _dot(down, one) / total,
        ),
        "so -∇L = Σ σ_om (x_o - x_m) X_{-1}ᵀ with σ ≥ 0, over edges (o, m) of (3)",
        "‖x_o - x_m‖² = ‖x_o‖² + ‖x_m‖² - 2x_oᵀx_m = 2 (Assumption 2)",
        "⟨-∇L, W*⟩ ≥ Σσ by the constraints of (3), ‖∇L‖ ≤ √2 Σσ by the triangle "
        "inequality: the cosine is at least 1/(√2 ‖W*‖)",
        "‖W^(t)‖ ≥ ⟨W^(t), W*/‖W*‖⟩ = Σ_s η cos_s ≥ tη/(√2 ‖W*‖); ‖W^(t)‖ ≤ Σ_s η",
        "1 ≤ w*_o - w*_m ≤ √2 ‖W*‖ on any edge, so that ‖W*‖ ≥ 1/√2",
    )


@functools.cache
def overlap() -> tuple[str, ...]:
    """Lemma 7, repaired: the gradient weighs margins by e^-margin, up to factors.

    One optimal token type per sample; μ = w_o - w_m ≥ 0 is the margin of a token m,
    M_n the least in sample n, M_* the least of all, s_n = Σ_m σ_nm, L = L_max ≥ 2.
    """
    Lm = sp.Symbol("L", positive=True)
    low = {Lm: 2}
    return (
        *alignment(),
        "M_* ≤ ‖W‖/‖W*‖, or W·‖W*‖/‖W‖ would satisfy (3) with room and W* not be least",
        equal(
            "2a_y - (T_j + E) = Σ_i T_i (1 - φ_+ + Φ_i) + Σ_{i≠j} T_i ≥ 0",
            2 * WRONG + OF_OTHER,
            _dot(T, (1 - plus) * one + P) + _dot(T, one - e),
        ),
        equal(
            "s_n/(π Δ φ_+) = Σ_i T_i (φ_- + Φ_i), between φ_- a_y and 2φ_- a_y",
            OF_CARRIER,
            (1 - plus) * WRONG + _dot(T, P),
        ),
        "a token has c_m ≤ c_o, hence c_m ≤ L/2; φ_+ ≥ 1/L (Lemma 5); σ_nm/s_n ≤ "
        "2φ_m/(φ_+ φ_-) ≤ 2·L·(L/2)·e^{-(μ - M_n)}",
        "in one sample Σ_m (σ_nm/s_n)(μ - M_n) ≤ log L² + entropy ≤ log(L²(L - 1))",
        positive("log(L²(L - 1)) ≤ log L³", Lm**3 - Lm**2 * (Lm - 1), low),
        "φ_-(n) ≤ (L - 1)e^{-M_n}, and e^{-M_*}/L ≤ φ_-(*), its sample attaining M_*",
        "if φ_-(n) > φ_-(*)/(L - 1), then M_n - M_* < log(L(L - 1)²) ≤ log L³",
        positive("L(L - 1)² ≤ L³", Lm**3 - Lm * (Lm - 1) ** 2, low),
        "else some i≠y has Φ_i(*) ≥ φ_-(*)/(L - 1) ≥ φ_-(n): Σ_{i≠y} e^{ΔΦ_i} is at "
        "most e^{Δφ_-(n)} + |V| - 2 in sample n and at least that in *, and e^{Δφ_+} "
        "is at least as large in n",
        positive(
            "e^x + e^y ≤ e^{x+y} + 1",
            (1 + u) * (1 + v) + 1 - (1 + u) - (1 + v),
            {u: 0, v: 0},
        ),
        positive(
            "a_y = A/(A + Y) rises with A and falls with Y, so a_y(n) ≤ a_y(*)",
            (A + d) / (A + d + Y) - A / (A + Y + r),
            {A: 0, d: 0, Y: 0, r: 0},
        ),
        "then s_n/s_* ≤ (π_n/π_*)·2L·φ_-(n)/φ_-(*) ≤ (π_n/π_*)·2L³·e^{-(M_n - M_*)}",
        "with P_n = s_n/Σs these samples give Σ P_n (M_n - M_*) ≤ "
        "Σ P_n (log(2L³/π_min) + log(π_n/P_n)) ≤ log(2L³/π_min) + 1/e, since "
        "Σ P_n log(π_n/P_n) ≤ P log(1/P) ≤ 1/e for P = ΣP_n",
        *_logarithm(),
        "log z ≤ z - 1 at z = 1/(eP): P log(1/P) ≤ 1/e",
        positive("2 e^{1/e} ≤ 3", 3 - sp.Rational(289, 100), {}),
        _certain("e^{1/e} ≤ 289/200", sp.Rational(289, 200) - sp.exp(sp.exp(-1))),
        "altogether Σσμ ≤ (M_* + log(3L⁶/π_min)) Σσ, and Σσ ≤ ⟨-∇L, W*⟩",
    )


def equal_frequencies() -> tuple[str, ...]:
    """The printed α_t is large enough when all samples are equally frequent."""
    Lm = sp.Symbol("L", positive=True)
    return (
        *overlap(),
        "t ≥ t_0: ‖W‖ ≥ t_0 η/(√2‖W*‖) ≥ 8L‖W*‖/√2 ≥ 4L, and π_min = 1/N",
        "log N ≤ N - 1, as before",
        positive(
            "(N + 3) L² (1 + log 8L) ≥ 2 + 6 log L + N - 1 ≥ log(3L⁶N)",
            (n + 3) * Lm**2 * (1 + sp.log(Lm)) - 2 - 6 * sp.log(Lm) - n + 1,
            {n: 1, Lm: 2},
        ),
    )


def _logarithm() -> tuple[str, str]:
    """Prove log z <= z - 1 on both sides of z = 1."""
    for side in (n - 1 - sp.log(n), 1 / n - 1 + sp.log(n)):
        if not rising(side, n, {n: 1}):
            raise Undecided("not proved: log z ≤ z - 1", Cause.NO_PROOF)
    return "log z ≤ z - 1 for z ≥ 1: rising from 0", "for z < 1: the same for 1/z"


def _certain(says: str, expr: sp.Expr) -> str:
    """Decide the sign of a constant by sympy's guarded evaluation."""
    if expr.is_positive is not True:
        raise Undecided(f"not proved: {says}", Cause.NO_PROOF)
    return says
