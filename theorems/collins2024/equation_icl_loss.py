"""Equation (ICL): the pretraining loss as a function of M.

Collins et al. (NeurIPS 2024), Section 2. With tokens z_i = (x_i, y_i), the query
z = (x, 0) and

    W_V = [0 0; 0 1],    W_K = [M_K 0; 0 0],    W_Q = [M_Q 0; 0 0]

the prediction (h_SA)_{d+1} of the loss (3) is sum_i y_i e^{s_i}/sum_j e^{s_j} with
s_i = x_i.M x and M = M_K^T M_Q, and "without loss of generality" every M is reached.

Deviations from the text:
    1. The display is lost; the sums run over the n labelled tokens, as the proofs do.
    2. "first n columns of W_V" are the first d.
Not decided here: which entries of W_V may be fixed (lemma_b_1_values.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st
from sympy import Identity as Eye
from sympy import MatrixSymbol

from theorems.collins2024 import PAPER
from theorems.collins2024.classes.decide import Equal, all_of
from verify import Claim, Mutant, Outcome, Wording, check
from verify.search import Search
from verify.symbolic import Identity

d = sp.Symbol("d", positive=True, integer=True)
x_i, x, x_j = (MatrixSymbol(name, d, 1) for name in ("x_i", "x", "x_j"))
M, M_K, M_Q = (MatrixSymbol(name, d, d) for name in ("M", "M_K", "M_Q"))
y_i = sp.Symbol("y_i")

CLAIM = Claim(
    id="collins2024/equation-icl",
    title="the loss as a function of M",
    says=(
        "With the reparametrised weights the loss (3) is the loss (ICL) at "
        "M = M_K^T M_Q, and every M is such a product."
    ),
    latex=(
        r"\mathcal{L}(M) = \mathbb{E}\Big[\Big(\frac{\sum_i (f(x_i) + \epsilon_i) "
        r"e^{x_i^\top M x_{n+1}}}{\sum_j e^{x_j^\top M x_{n+1}}} - f(x_{n+1})"
        r"\Big)^2\Big], \quad M = M_K^\top M_Q"
    ),
    quantifiers="for all d, n, all M_K, M_Q; for all M",
    source=PAPER.at("Equation (ICL)", "Section 2, after Equation (3)"),
    wording=Wording.DERIVED,
    parameters={
        "product": M_K.T * M_Q,
        "key": Eye(d),
        "query": M,
        "value": y_i,
    },
    mutants=(
        Mutant(
            "keys and queries exchanged",
            why="that is the transposed M",
            product=M_Q.T * M_K,
        ),
        Mutant("transpose on the right", why="scores differ", product=M_K * M_Q.T),
        Mutant(
            "tied weights",
            why="W^T W is positive semidefinite, M need not be",
            key=M,
        ),
        Mutant(
            "key weights M",
            why="then M_K^T M_Q is the transpose of M",
            key=M,
            query=Eye(d),
        ),
        Mutant("half the label", why="W_V has 1 there", value=y_i / 2),
    ),
)


def literal_score() -> sp.Expr:
    """(W_K z_i).(W_Q z) from the blocks of z_i = (x_i, y_i) and z = (x, 0)."""
    keys = [M_K * x_i, sp.S.Zero * y_i]  # the two blocks of W_K z_i
    queries = [M_Q * x, sp.S.Zero]
    return (keys[0].T * queries[0])[0, 0] + keys[1] * queries[1]


def literal_value() -> sp.Expr:
    """Entry d + 1 of W_V z_i: its last row is (0, ..., 0, 1)."""
    return (sp.ZeroMatrix(1, d) * x_i)[0, 0] + 1 * y_i


def column(*entries: int) -> Any:
    """A column of fractions."""
    return np.array([[Fraction(e)] for e in entries], dtype=object)


def square(rows: list[list[int]]) -> Any:
    """A matrix of fractions."""
    return np.array([[Fraction(e) for e in row] for row in rows], dtype=object)


INSTANCE = {
    "x_i": column(1, 2),
    "x": column(3, -1),
    "M_K": square([[1, 2], [0, 1]]),
    "M_Q": square([[1, 0], [1, 3]]),
    "M": square([[0, 1], [-2, 1]]),
    "y_i": Fraction(3),
}


@check(CLAIM, grade="symbolic", scope="all")
def blocks_multiply_out(claim: Claim) -> Outcome:
    """Multiply the blocks out for any d, and exhibit factors of any M."""
    at = (INSTANCE,)
    score = (x_i.T * claim.product * x)[0, 0]
    reached = (x_i.T * claim.key.T * claim.query * x)[0, 0]
    return all_of(
        Equal("score of a token", score, literal_score(), at),
        Equal("value of a token", claim.value, literal_value(), at),
        Equal("factors of M", reached, (x_i.T * M * x)[0, 0], at),
        steps=["attention and prediction are functions of scores and values alone"],
    )


@st.composite
def tokens(draw: st.DrawFn) -> dict[str, Any]:
    """Two tokens and a query with small integer entries, d = 2, and weights."""
    entry = st.integers(-3, 3)

    def block(rows: int, columns: int) -> Any:
        return square([[draw(entry) for _ in range(columns)] for _ in range(rows)])

    shapes = {"x_i": (2, 1), "x_j": (2, 1), "x": (2, 1)}
    shapes |= dict.fromkeys(("M", "M_K", "M_Q"), (2, 2))
    rest = {"y_i": Fraction(draw(entry)), "y_j": Fraction(draw(entry))}
    return {name: block(*shape) for name, shape in shapes.items()} | rest


D = sp.Symbol("D", positive=True, integer=True)  # d + 1
W_K, W_Q, W_V = (MatrixSymbol(name, D, D) for name in ("W_K", "W_Q", "W_V"))
z_i, z_j, z, last = (MatrixSymbol(name, D, 1) for name in ("z_i", "z_j", "z", "last"))


def padded(matrix: Any, corner: int) -> Any:
    """A 2 x 2 block in the upper left of a 3 x 3 matrix, and its last entry."""
    full = square([[0] * 3 for _ in range(3)])
    full[:2, :2] = matrix
    full[2, 2] = Fraction(corner)
    return full


def full_matrices(instance: dict[str, Any]) -> dict[str, Any]:
    """The instance with tokens and weights of size d + 1 = 3, written out."""
    zero = square([[0, 0], [0, 0]])

    def token(name: str, label: Fraction) -> Any:
        return np.vstack([instance[name], np.array([[label]], dtype=object)])

    return instance | {
        "W_K": padded(instance["M_K"], 0),
        "W_Q": padded(instance["M_Q"], 0),
        "W_V": padded(zero, 1),
        "z_i": token("x_i", instance["y_i"]),
        "z_j": token("x_j", instance["y_j"]),
        "z": token("x", Fraction(0)),
        "last": column(0, 0, 1),
    }


@check(CLAIM, grade="property", scope="two tokens, d = 2, integer entries")
def full_matrices_agree(claim: Claim, search: Search) -> Outcome:
    """Compare differences of scores, and values, with (d+1) x (d+1) matrices.

    Attention depends on differences of scores alone.
    """
    apart, literal = (x_i - x_j).T, (W_K * (z_i - z_j)).T * W_Q * z
    score = Identity(apart * claim.product * x, literal, "scores differ")
    value = Identity(claim.value * Eye(1), last.T * W_V * z_i, "values differ")
    made = apart * claim.key.T * claim.query * x
    factors = Identity(made, apart * M * x, "M is not reached")
    parts = (score, value, factors)

    def broken(instance: dict[str, Any]) -> Identity | None:
        full = full_matrices(instance)
        return next((part for part in parts if part.violated(full)), None)

    def witness(instance: dict[str, Any]) -> dict[str, Any]:
        part = broken(instance)
        return part.witness(full_matrices(instance)) if part else {}

    return search.for_all(
        tokens(),
        lambda instance: broken(instance) is not None,
        witness,
        searched="integer entries in [-3, 3], d = 2",
        scale=0.2,
    )
