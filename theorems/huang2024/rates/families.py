"""Three datasets on which stage 2 is solved, or enclosed, by hand.

PAIR     texts [a, b, b]: the one constraint w_a - w_b >= 1 under query b. By symmetry
         W = x (1, -1)/2 and each step adds sqrt2 eta to x: x_t = sqrt2 eta t.
COLUMNS  texts [a, b, b] and [b, a, a], the first e^R times as often. n swaps a and b.
         Column b is x (1, -1)/2, column a is y (1, -1)/2 up to names, and
             (x, y) += sqrt2 eta (pi_1 s(x), pi_2 s(y)) / |(pi_1 s(x), pi_2 s(y))|,
             s(x) = 2 phi_+ phi_- / (1 + e^{Delta (2 phi_+ - 1)}), phi_+ = 1/(1 + e^-x).
         The solution of (3) has x = y. Both are prefix-closed and satisfy every
         assumption; all samples with a constraint have two tokens.
THREE    the sentence [a, a, b, q] followed by a, n(a) = n(b) = a, n(q) = b. With
         p = 2e^d/(2e^d + 1), d = w_a - w_b, each step is eta (p, 1-p, -1) over its
         norm. The solution of (3) is (1, 1, -2)/3.
"""

import functools

import sympy as sp

from theorems.huang2024.data.dataset import Dataset, from_texts, normalised
from theorems.huang2024.rates.notation import Delta, K, L, N, S, V, eta, t
from theorems.huang2024.rates.proof import M as FOREIGN
from theorems.huang2024.rates.proof import T_y, edges, factor, need, plus
from theorems.huang2024.stage_one.closed import equal, positive
from theorems.huang2024.stage_one.signs import nonnegative
from verify.symbolic import Compiled

R = sp.Symbol("R", positive=True)  # log(pi_1 / pi_2)
X = sp.sqrt(2) * eta * t  # all that x and y together can have moved

z, m, B = sp.symbols("z m B", positive=True)

PAIR_SCORE = X
PAIR = {N: 2, L: 2, S: 1 / sp.sqrt(2), V: 2, K: sp.log(2)}

# y at most, while x has all the frequency behind it.
DELAY = X * (1 + sp.exp(-Delta)) / 2 * sp.exp(X + Delta - R)
COLUMNS_GAP = 1 - (1 + 2 * DELAY / X) / sp.sqrt(2)  # y <= DELAY, x >= X - y
COLUMNS = {N: 4, L: 2, S: 1, V: 2}
COLUMNS_K = R + 2 * sp.log(2)  # at least log(1/min pi) = log(2 e^R + 2)

# x - y for all t >= 1, from below and from above.
APART = sp.Max(
    sp.Min(
        sp.sqrt(2) * eta * (1 - sp.exp(-R)) / sp.sqrt(1 + sp.exp(-2 * R)),
        R / (1 + Delta / 2) - sp.sqrt(2) * eta,
    ),
    0,
)
TOGETHER = R + 2 * sp.log(2) + sp.sqrt(2) * eta
COLUMNS_LOW = APART**2 / (8 * eta**2 * t**2)
COLUMNS_HIGH = TOGETHER**2 / (4 * eta**2 * t**2)

STAYS = sp.sqrt(sp.Rational(2, 3)) * eta / 2 / (1 - sp.exp(-eta / (3 * sp.sqrt(2))))
AT_LEAST = t * eta / sp.sqrt(2)  # w_a + w_b
THREE_GAP = 1 - sp.sqrt(sp.Rational(3, 2)) / sp.sqrt(
    sp.Max(1 - STAYS / AT_LEAST, 0) ** 2 + 1
)
THREE = {N: 1, L: 4, S: sp.sqrt(sp.Rational(2, 3)), V: 3, K: 0}


def pair() -> Dataset:
    """PAIR as a dataset."""
    return from_texts(2, (1, 0), [(0, 1, 1)])


def columns(log2_ratio: int) -> Dataset:
    """COLUMNS as a dataset, with R = log2_ratio log 2."""
    texts = [(0, 1, 1), (1, 0, 0)]
    return from_texts(2, (1, 0), texts, times=[1 << log2_ratio, 1])


def three() -> Dataset:
    """THREE as a dataset: a, b, q are 0, 1, 2."""
    return Dataset(3, (0, 0, 1), ((0, 0, 1, 2),), (0,), normalised([1]))


def _force() -> tuple[str, ...]:
    """s(x) of a two-token sentence, |V| = 2, from the general form of the gradient."""
    minus = 1 - plus
    one = {FOREIGN: (1 - T_y) * minus}
    own = minus * factor(1 - T_y).subs(one)
    phis = z / (1 + z) ** 2  # phi_+ phi_- at e^-x = z <= 1
    return (
        *edges(),
        equal("phi_- B of [a, b]", own, 2 * plus * minus * (1 - T_y)),
        positive("φ_+φ_- ≥ e^{-x}/4", (phis - z / 4).subs(z, 1 / (1 + m)), {m: 0}),
        equal("1/4 - φ_+φ_- is a square", 1 - 4 * phis, ((1 - z) / (1 + z)) ** 2),
    )


@functools.cache
def delayed() -> tuple[str, ...]:
    """Steps to ``COLUMNS_GAP``: the rare column waits for the frequent one."""
    floor = sp.exp(-X) / (2 * (1 + sp.exp(Delta)))
    cosine = (1 + B) / sp.sqrt(2) / sp.sqrt(1 + B**2)  # B = y/x
    return (
        *_force(),
        "0 ≤ 2φ_+ - 1 ≤ 1: s(x) ≥ e^{-x}/(2(1 + e^Δ)), s ≤ 1/4, x ≤ √2ηt",
        equal("ratio of both", sp.Rational(1, 4) / floor * X * sp.exp(-R), DELAY),
        "y ≤ DELAY, and x ≥ √2ηt - y, since each step has length √2η in (x, y): "
        "y/x ≤ 2 DELAY/X while DELAY ≤ X/2, and beyond that nothing is said",
        need("cos ≤ (1 + y/x)/√2", nonnegative((1 + B**2) - 1, {B: 0})),
        equal("cos² (1 + (y/x)²)", cosine**2 * (1 + B**2), (1 + B) ** 2 / 2),
        equal(
            "‖W*‖² for two pairs", 4 * sp.Rational(1, 4), sp.Integer(COLUMNS[S]) ** 2
        ),
    )


@functools.cache
def squared() -> tuple[str, ...]:
    """Steps to ``COLUMNS_LOW ≤ 1 - cos ≤ COLUMNS_HIGH``: exactly the order t^-2."""
    x, y = sp.symbols("x y", positive=True)
    cosine = (x + y) / sp.sqrt(2 * (x**2 + y**2))
    rest = (x - y) ** 2 / (2 * (x**2 + y**2))
    return (
        *_force(),
        equal("1 - cos²", 1 - cosine**2, rest),
        "1 - cos² ≥ 1 - cos ≥ (1 - cos²)/2, and x² + y² = 2‖W‖² ≤ 2η²t²",
        "first step: x - y = √2η(π_1 - π_2)/√(π_1² + π_2²)",
        "x - y falls only where s(y)/s(x) ≥ e^R, and there R ≤ (1 + Δ/2)(x - y): "
        "φφ_-(y)/φφ_-(x) ≤ e^{x-y} and 2Δ(φ_x - φ_y) ≤ Δ(x - y)/2 for x ≥ y",
        "x - y grows only where s(y)/s(x) ≤ e^R, and there x - y ≤ R + log 4",
        positive("((1 + u)/(1 + v))² ≥ 1/4", 2 * (1 + m) - (1 + 1), {m: 0}),
        "across W*: (x - y)²/4; along it at least ηt/√2 (edges, step 4)",
    )


@functools.cache
def stuck() -> tuple[str, ...]:
    """Steps to ``THREE_GAP``: with two optimal types W converges elsewhere."""
    p = 1 - m / (3 + 3 * m)  # m >= 0: all p from 2/3 to 1
    norm = p**2 + (1 - p) ** 2 + 1
    halved = 1 / (2 * z) - (1 - 2 * z / (2 * z + 1))  # z = e^d
    low = {m: 0}
    return (
        equal(
            "v of the foreign next token", plus * (1 - plus) * 2, 2 * plus - 2 * plus**2
        ),
        "every part of -grad is a multiple of φ_a x_a + φ_b x_b - φ_+ x_q (n = 1)",
        positive("norm² ≥ 3/2", norm - sp.Rational(3, 2), low),
        positive("norm² ≤ 2", 2 - norm, low),
        positive(
            "2p - 1 ≥ 1/3: d grows by η/(3√2)", 2 * p - 1 - sp.Rational(1, 3), low
        ),
        positive("1 - p ≤ e^{-d}/2", halved, {z: 1}),
        "w_b ≤ η/√(3/2) Σ_s e^{-sη/(3√2)}/2, a geometric series: STAYS",
        equal("‖W*‖²", sp.Rational(1 + 1 + 4, 9), sp.Rational(2, 3)),
        "cos = (w_a + w_b)/(√(2/3) ‖W‖), w_a ≥ (w_a + w_b) - STAYS, w_a + w_b ≥ ηt/√2",
    )


@functools.lru_cache(maxsize=256)
def _compiled(expr: sp.Expr) -> Compiled:
    return Compiled(expr, "numpy")


def value(expr: sp.Expr, **at: object) -> float:
    """An expression at numbers, in floating point."""
    return float(_compiled(expr)({name: float(x) for name, x in at.items()}))


FIRST_GRADIENT_GAP = 1 - (1 + sp.exp(-R)) / sp.sqrt(2 * (1 + sp.exp(-2 * R))) * (
    1 + TOGETHER / X
)
"""1 - cos(W, first gradient) on COLUMNS, at least: that gradient is (pi_1, pi_2) in the
units of (x, y), which become equal: |x - y| <= TOGETHER, x + y >= X."""
