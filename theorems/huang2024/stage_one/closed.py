"""The closed form of stage 1, proved for every |V| ≥ 2 and every map n.

Everything happens on rays: column x of W_ov stays a multiple m_x of
``e_{In(x)} - 1/|V|``, whose entries take two values. Two values per column are enough
for proofs at symbolic |V|; each step below is an identity brought to zero.

    g_x = |V| / (e^{m_x} + |V| - 1)        gradient of column x: -a_x g_x (e - 1/|V|)
"""

import functools

import sympy as sp

from theorems.huang2024.stage_one.notation import NORM_STAR, OTHER, OWN, V, eta, t
from theorems.huang2024.stage_one.signs import nonnegative
from verify import Cause, Undecided
from verify.symbolic import prove_equal

B = sp.Symbol("B", positive=True)  # e to the entries outside In(x)
E = sp.Symbol("E", positive=True)  # e^{m}
m, u, R = sp.symbols("m u R", positive=True)
g = sp.Symbol("g", positive=True)

# Stage 1 with equal weights, at step t.
MARGIN = t * eta / NORM_STAR
NORM = t * eta
COSINE = sp.Integer(1)
LOSS = V * sp.log(1 + (V - 1) * sp.exp(-MARGIN))


def equal(says: str, left: sp.Expr, right: sp.Expr) -> str:
    """Prove one identity.

    Args:
        says: The step in words.
        left: One side.
        right: The other side.

    Returns:
        The step, for the record.

    Raises:
        Undecided: It was not proved.
    """
    if not prove_equal(left, right).proved:
        raise Undecided(f"not proved: {says}", Cause.NO_PROOF)
    return f"{says}: {left} = {right}"


def positive(says: str, expr: sp.Expr, low: dict[sp.Symbol, int]) -> str:
    """Prove one sign.

    Args:
        says: The step in words.
        expr: What is not negative.
        low: A lower bound of every symbol.

    Returns:
        The step, for the record.

    Raises:
        Undecided: It was not proved.
    """
    if not nonnegative(expr, low):
        raise Undecided(f"not proved: {says}", Cause.NO_PROOF)
    return f"{says}: {expr} ≥ 0"


@functools.cache
def solution() -> tuple[str, ...]:
    """Solve problem (2): KKT conditions with all multipliers 1/|V|, column by column.

    The objective is strictly convex and the columns decouple (orthonormal embeddings),
    so that the KKT point is the solution.
    """
    multiplier = 1 / V
    return (
        equal("every constraint is active", OWN - OTHER, sp.S.One),
        positive("multipliers are not negative", multiplier, {V: 2}),
        equal("stationarity at In(x)", OWN, (V - 1) * multiplier),
        equal("stationarity elsewhere", OTHER, -multiplier),
        equal("‖W*‖²", V * (OWN**2 + (V - 1) * OTHER**2), NORM_STAR**2),
    )


@functools.cache
def rays() -> tuple[str, ...]:
    """Show that columns stay on their rays, whatever the weights and step lengths."""
    at_own = sp.diff(sp.log(sp.exp(u) + R) - u, u)
    at_own = at_own.subs(sp.exp(u), B * E).subs(R, (V - 1) * B)
    elsewhere = sp.diff(sp.log(sp.exp(u) + R), u)
    elsewhere = elsewhere.subs(sp.exp(u), B).subs(R, B * E + (V - 2) * B)
    slope = V / (E + V - 1)
    return (
        equal("column x has margin m", m * OWN - m * OTHER, m),
        equal("gradient at In(x)", at_own, -slope * OWN),
        equal("gradient elsewhere, one for all i ≠ In(x)", elsewhere, -slope * OTHER),
        equal("squared length of a ray", OWN**2 + (V - 1) * OTHER**2, 1 - 1 / V),
        "induction: W^(0) = 0 lies on the rays, and no step leaves them",
    )


@functools.cache
def equal_weights() -> tuple[str, ...]:
    """Add up the steps of the paper's L_0: all margins grow by η_0/‖W*‖."""
    gradient = g * NORM_STAR  # its norm
    return (
        *solution(),
        *rays(),
        equal("‖∇L_0‖²", V * g**2 * (1 - 1 / V), gradient**2),
        equal("a step adds η_0/‖W*‖ to every margin", eta * g / gradient, MARGIN / t),
        equal("m(0) = 0", MARGIN.subs(t, 0), sp.S.Zero),
        equal("m(t+1) - m(t)", MARGIN.subs(t, t + 1) - MARGIN, eta / NORM_STAR),
        equal("‖W^(t)‖²", V * MARGIN**2 * (1 - 1 / V), NORM**2),
        equal(
            "⟨-∇L_0, W*⟩ = ‖∇L_0‖ ‖W*‖, so that both cosines are 1",
            V * g * (1 - 1 / V),
            gradient * NORM_STAR * COSINE,
        ),
        equal(
            "a token's probability of error over that of n(x), in L_0",
            (B * E + (V - 1) * B) / (B * E),
            1 + (V - 1) / E,
        ),
    )
