"""Gram matrices of the softmax kernel, in exact arithmetic, and features made of them.

At the tokens ``√(ln 2) z`` with integer ``z`` the kernel is ``e^{xᵀy} = 2^{z·z'}``, a
rational number: ranks are decided, not estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

Rows = list[list[Fraction]]
Token = Sequence[int]


def gram(tokens: Sequence[Token]) -> Rows:
    """The kernel between all tokens.

    Args:
        tokens: Integer vectors ``z``.

    Returns:
        ``2^{z·z'}`` as a symmetric matrix.
    """
    return [
        [Fraction(2) ** sum(a * b for a, b in zip(one, other, strict=True))
         for other in tokens]
        for one in tokens
    ]  # fmt: skip


def factored(kernel: Rows) -> tuple[Rows, list[Fraction]]:
    """Factor a symmetric matrix without pivoting, ``G = L diag(D) Lᵀ``.

    Args:
        kernel: Symmetric, n x n.

    Returns:
        L with ones on its diagonal, and D. Row i of ``L √D`` is a feature vector of
        token i when no entry of D is negative.

    Raises:
        ZeroDivisionError: A pivot is zero: the leading rows are dependent.
    """
    n = len(kernel)
    lower = [[Fraction(i == j) for j in range(n)] for i in range(n)]
    pivots: list[Fraction] = []
    for i in range(n):
        for j in range(i):
            known = sum(lower[i][k] * lower[j][k] * pivots[k] for k in range(j))
            lower[i][j] = (kernel[i][j] - known) / pivots[j]
        pivots.append(
            kernel[i][i] - sum(lower[i][k] ** 2 * pivots[k] for k in range(i))
        )
    return lower, pivots


def reproduces(kernel: Rows, lower: Rows, pivots: Sequence[Fraction]) -> bool:
    """Whether the features have exactly the given products, and are real."""
    n = range(len(kernel))
    products = all(
        sum(lower[i][k] * lower[j][k] * pivots[k] for k in n) == kernel[i][j]
        for i in n
        for j in n
    )
    return products and min(pivots) >= 0


def inverse(kernel: Rows) -> Rows:
    """The inverse of a positive definite matrix, from its factors."""
    lower, pivots = factored(kernel)
    n = len(kernel)
    solved = []
    for column in range(n):
        b = [Fraction(i == column) for i in range(n)]
        for i in range(n):
            b[i] -= sum(lower[i][k] * b[k] for k in range(i))
        b = [value / pivot for value, pivot in zip(b, pivots, strict=True)]
        for i in reversed(range(n)):
            b[i] -= sum(lower[k][i] * b[k] for k in range(i + 1, n))
        solved.append(b)
    return [list(row) for row in zip(*solved, strict=True)]


def independent(tokens: Sequence[Token], features: int) -> dict[str, Any]:
    """Record that the kernel between tokens has full rank: an inverse of the matrix.

    Args:
        tokens: More of them than features.
        features: How many features were claimed to suffice.

    Returns:
        A record of kind ``formula``.
    """
    kernel = gram(tokens)
    inverted = inverse(kernel)
    return {
        "kind": "formula",
        "says": (
            f"the kernel between {len(tokens)} tokens √(ln 2) z, z in "
            f"{[*map(list, tokens)]}, has an inverse: {features} features give a "
            f"matrix of rank {features} at most"
        ),
        "inputs": {"G": _written(kernel), "B": _written(inverted)},
        "relation": [
            "==", ["matmul", ["in", "B"], ["in", "G"]], ["eye", len(tokens)]
        ],
    }  # fmt: skip


def factors(tokens: Sequence[Token]) -> dict[str, Any]:
    """Record features of tokens that reproduce the kernel: G = L diag(D) Lᵀ."""
    kernel = gram(tokens)
    lower, pivots = factored(kernel)
    n = range(len(pivots))
    diagonal = [[pivots[i] if i == j else Fraction(0) for j in n] for i in n]
    L, G = ["in", "L"], ["in", "G"]
    return {
        "kind": "formula",
        "says": f"features L √D of {len(pivots)} tokens have the kernel's products",
        "inputs": {
            "G": _written(kernel),
            "L": _written(lower),
            "D": _written(diagonal),
        },
        "relation": ["==", ["matmul", L, ["in", "D"], ["transpose", L]], G],
    }


def _written(matrix: Rows) -> list[list[str]]:
    return [[str(value) for value in row] for row in matrix]
