"""Slow and literal: the same answers by enumerating active sets."""

from fractions import Fraction
from itertools import combinations

from hypothesis import strategies as st


def dense(edges):
    """The constraints of an order as rows over its tokens, ascending."""
    tokens = sorted({token for edge in edges for token in edge})
    return [[(t == o) - (t == m) for t in tokens] for o, m in edges]


def gauss(matrix, right):
    """The only solution of a square system, or None."""
    rows = [
        [*map(Fraction, row), Fraction(b)] for row, b in zip(matrix, right, strict=True)
    ]
    for i in range(len(rows)):
        pivot = next((r for r in range(i, len(rows)) if rows[r][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [x / rows[i][i] for x in rows[i]]
        for r in range(len(rows)):
            if r != i and rows[r][i]:
                rows[r] = [
                    x - rows[r][i] * y for x, y in zip(rows[r], rows[i], strict=True)
                ]
    return [row[-1] for row in rows]


def dot(a, b):
    return sum((Fraction(x) * y for x, y in zip(a, b, strict=True)), Fraction(0))


def candidates(A, b):
    """Every point that minimises under some independent rows taken as equations,
    with its multipliers, if these are nonnegative."""
    for size in range(len(A) + 1):
        for chosen in combinations(range(len(A)), size):
            gram = [[dot(A[i], A[j]) for j in chosen] for i in chosen]
            y = gauss(gram, [b[i] for i in chosen])
            if y is not None and min(y, default=0) >= 0:
                weights = dict(zip(chosen, y, strict=True))
                width = range(len(A[0]))
                x = [sum(w * A[i][j] for i, w in weights.items()) for j in width]
                yield tuple(map(Fraction, x)), weights


def minimum(A, b):
    """The minimiser of |x|²/2 subject to A x >= b; None if nothing is feasible."""
    for x, _ in candidates(A, b):
        if all(dot(row, x) >= bound for row, bound in zip(A, b, strict=True)):
            return x
    return None


def usable(A, b, x):
    """Rows that are positive in some valid set of multipliers.

    The sets form a polytope; its corners live on independent tight rows.
    """
    tight = [i for i, row in enumerate(A) if dot(row, x) == b[i]]
    part = [A[i] for i in tight], [b[i] for i in tight]
    found = set()
    for point, weights in candidates(*part):
        if point == x:
            found |= {tight[i] for i, w in weights.items() if w}
    return set(tight), found


def bipartite(upper=5, lower=5, edges=12):
    """Strategy: nonempty edges from tokens 0, 1, ... to tokens 20, 21, ..."""
    pair = st.tuples(st.integers(0, upper - 1), st.integers(20, 19 + lower))
    return st.lists(pair, min_size=1, max_size=edges, unique=True)


def acyclic(tokens=6, edges=8):
    """Strategy: nonempty edges from lesser tokens to greater ones."""
    pair = st.lists(st.integers(0, tokens - 1), min_size=2, max_size=2, unique=True)
    return st.lists(
        pair.map(lambda two: tuple(sorted(two))),
        min_size=1, max_size=edges, unique=True,
    )  # fmt: skip
