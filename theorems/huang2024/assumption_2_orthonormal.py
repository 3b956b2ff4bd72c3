"""Assumption 2: orthonormal embeddings.

Huang, Liang and Yang (NeurIPS 2024), Assumption 2: ‖x‖ = 1 and xᵀx' = 0 for distinct
tokens x, x' of V ⊂ R^d. With the tokens as columns of E (d x |V|): EᵀE = I.

What it is for: a matrix W acts on tokens as A = EᵀWE, and the least W with a given A is
E A Eᵀ, of the same Frobenius norm. So problems (2) and (3) are problems about the
matrix A in the basis of the tokens, column by column (used in the proof of
Proposition 4, where a rotation maps the tokens to basis vectors).

Deviations from the text:
    1. d ≥ |V| is not said; there are no such embeddings for smaller d.
Not decided here: which results fail without it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st
from sympy import MatrixExpr, MatrixSymbol, OneMatrix, Rational, Trace

from theorems.huang2024 import PAPER
from verify import Claim, Kind, Mutant, Outcome, Wording, check
from verify.search import Search
from verify.symbolic import Identity, evaluate

d, size = sp.symbols("d size", positive=True, integer=True)
E = MatrixSymbol("E", d, size)
A = MatrixSymbol("A", size, size)

OBLIQUE = Rational(3, 5)  # of the triple 3, 4, 5: such embeddings are rational

CLAIM = Claim(
    id="huang2024/assumption-2",
    kind=Kind.ASSUMPTION,
    title="orthonormal embeddings",
    says=(
        "Embeddings with unit norm and orthogonal tokens exist, and with them the "
        "matrix E A Eᵀ, which acts on tokens as A does on basis vectors, has the norm "
        "of A."
    ),
    latex=r"E^\top E = I \implies \|E A E^\top\|_F = \|A\|_F",
    quantifiers="for all d ≥ |V|, all matrices A",
    source=PAPER.at("Assumption 2", "used in the proof of Proposition 4"),
    wording=Wording.DERIVED,
    parameters={"gram": sp.Identity(size)},
    mutants=(
        Mutant(
            "norm two",
            why="orthogonal tokens of norm 2 make E A Eᵀ four times as long",
            gram=4 * sp.Identity(size),
        ),
        Mutant(
            "norm one half",
            why="shorter tokens make it shorter",
            gram=sp.Identity(size) / 4,
        ),
        Mutant(
            "unit norm only",
            why="tokens at an acute angle weigh entries of A together",
            gram=(1 - OBLIQUE) * sp.Identity(size) + OBLIQUE * OneMatrix(size, size),
        ),
    ),
)


def norms(gram: MatrixExpr) -> Identity:
    """‖E A Eᵀ‖² with EᵀE written as the Gram matrix, and ‖A‖²."""
    return Identity(
        Trace(A * gram * A.T * gram), Trace(A * A.T), says="the norms differ"
    )


def matrix(rows: list[list[Any]]) -> Any:
    """An array of fractions."""
    return np.array([[Fraction(x) for x in row] for row in rows], dtype=object)


@check(CLAIM, grade="symbolic", scope="all")
def norms_agree(claim: Claim) -> Outcome:
    """Prove tr(E A EᵀE Aᵀ Eᵀ) = tr(A Aᵀ) for any d, |V| and A, with EᵀE inserted."""
    return norms(claim.gram).decide([
        {"A": matrix([[1]])},
        {"A": matrix([[1, 2], [0, 1]])},
    ])


FACTORS = (
    [[1, 0], [0, 1]],
    [[2, 0], [0, 2]],
    [["1/2", 0], [0, "1/2"]],
    [[1, "3/5"], [0, "4/5"]],
)


@st.composite
def embeddings(draw: st.DrawFn, gram: Any) -> dict[str, Any]:
    """Two tokens in up to four dimensions with a Gram matrix, and a matrix A.

    A reflection I - 2vvᵀ/vᵀv turns the plane of the tokens.
    """
    rows = draw(st.integers(2, 4))
    entries = st.integers(-3, 3)
    v = matrix([[draw(entries)] for _ in range(rows)])
    squared = (v.T @ v)[0, 0]
    turn = matrix(np.eye(rows, dtype=int).tolist())
    if squared:
        turn = turn - 2 * v @ v.T / squared
    factor = next(f for f in map(matrix, FACTORS) if not np.any(f.T @ f != gram))
    values = [[draw(entries) for _ in range(2)] for _ in range(2)]
    return {"E": turn[:, :2] @ factor, "A": matrix(values)}


@check(CLAIM, grade="property", scope="two rational tokens, d ≤ 4")
def norms_agree_for_embeddings(claim: Claim, search: Search) -> Outcome:
    """Multiply E A Eᵀ out for embeddings with the Gram matrix asked for."""
    literal = Identity(
        Trace(E * A * E.T * E * A.T * E.T), Trace(A * A.T), says="the norms differ"
    )
    gram = np.asarray(evaluate(claim.gram, {"size": 2}, "exact"))
    return literal.search(
        search, embeddings(gram), searched="turned planes, A with entries in [-3, 3]"
    )
