"""What the claims about stage 1 are written in, and the losses they are about."""

from dataclasses import dataclass

import sympy as sp

from verify import Assumption

V = sp.Symbol("V", integer=True, positive=True)  # |V|, size of the vocabulary
S = sp.Symbol("S", positive=True)  # norm of W*_ov
t = sp.Symbol("t", positive=True)  # step
T = sp.Symbol("T", positive=True)  # number of steps of stage 1
eta = sp.Symbol("eta_0", positive=True)  # step size of stage 1
rho = sp.Symbol("rho", positive=True)  # largest over smallest token weight
norm_W = sp.Symbol("norm_W", positive=True)  # norm of W_ov^(t)

# The solution of problem (2) in every column x: its entry at In(x), and elsewhere.
OWN, OTHER = 1 - 1 / V, -1 / V
NORM_STAR = sp.sqrt(V - 1)


@dataclass(frozen=True)
class Loss:
    """A loss of stage 1.

    Attributes:
        weights: ``equal``, as L_0 has them, or ``any`` positive weights of the tokens.
        mean: Whether 1/|V| stands in front; the lost display may have had it.
    """

    weights: str
    mean: bool = False

    def __str__(self) -> str:
        return (
            "mean" if self.mean else "sum"
        ) + f" over tokens, {self.weights} weights"


EQUAL = Loss("equal")
EQUAL_MEAN = Loss("equal", mean=True)
WEIGHTED = Loss("any")

COLLOCATION = Assumption(
    "collocation", "every token x is followed by exactly one token n(x), and |V| ≥ 2"
)
UNIT_NORM = Assumption("unit-norm", "embeddings have norm 1 (Assumption 2)")
ORTHOGONAL = Assumption("orthogonal", "embeddings are orthogonal (Assumption 2)")
ZERO_START = Assumption("zero-start", "W_ov^(0) = 0")
NORMALISED = Assumption("normalised", "steps are gradients divided by their norm")
SMALL_STEP = Assumption(
    "small-step", "2 η_0 ≤ ‖W*_ov‖, used in the proof of Proposition 3"
)
WHOLE = (COLLOCATION, UNIT_NORM, ORTHOGONAL, ZERO_START, NORMALISED)

EVERY_MAP = "for all |V| ≥ 2, all maps n: V → V, all η_0 > 0"


def explicit(expr: sp.Expr) -> sp.Expr:
    """Write the norm of the solution of problem (2) by the size of the vocabulary."""
    return sp.sympify(expr).subs(S, NORM_STAR)


def by_norm(expr: sp.Expr) -> sp.Expr:
    """Write the size of the vocabulary by the norm of the solution, |V| = S² + 1."""
    return sp.sympify(expr).subs(V, S**2 + 1)
