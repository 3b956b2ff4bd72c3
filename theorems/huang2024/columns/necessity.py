"""Problem (3) where an assumption fails."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from theorems.huang2024.columns.decide import k, m
from theorems.huang2024.columns.records import entry
from theorems.huang2024.data.dataset import Dataset, normalised
from verify import Claim
from verify.max_margin import order_margin

CHAIN = Dataset(  # [0 1] -> n(0), [2 1] -> n(1): 0 > 1 > 2 under query 1
    size=3,
    successor=(1, 2, 0),
    sentences=((0, 1), (2, 1)),
    labels=(1, 2),
    frequencies=normalised((1, 1)),
)


def chain(claim: Claim) -> dict[str, Any]:
    """The solution where token 1 is confused, 1, 0, -1, against k = m = 1.

    Args:
        claim: Gives scores to the optimal token 0 and the non-optimal token 2.
    """
    single = {k: 1, m: 1}
    stated = {0: claim.optimal.subs(single), 2: claim.non_optimal.subs(single)}
    return order_margin(CHAIN.edges(1)).certificate(
        "samples [0 1] -> n(0), [2 1] -> n(1): 0 > 1 > 2 under query 1",
        {token: Fraction(str(score)) for token, score in stated.items()},
    )


def oblique(non_comparable: Any) -> dict[str, Any]:
    """A non-comparable token that is not orthogonal to an optimal one has a score.

    The sample is [o q]. In coordinates of W q along x_0, e_2 and q the tokens are
    o = (3/5, 4/5, 0), q = (0, 0, 1) and x_0 = (1, 0, 0), all of norm 1; the constraint
    is a w >= 1 with a = o - q, and w = a/2 the solution, since |a|^2 = 2.

    Args:
        non_comparable: The score that is claimed for x_0.
    """
    axes = range(3)
    stationary = [
        ["abs", ["sub", entry("w", i), ["mul", ["in", "y"], entry("a", i)]]]
        for i in axes
    ]
    product = ["add", *(["mul", entry("a", i), entry("w", i)] for i in axes)]
    distance = ["abs", ["sub", entry("w", 0), str(non_comparable)]]
    least = abs(Fraction(3, 10) - Fraction(str(non_comparable)))
    trees = [*stationary, ["abs", ["sub", product, 1]], ["sub", str(least), distance]]
    return {
        "kind": "formula",
        "says": (
            "sample [o q], o = (3/5, 4/5, 0): the token x_0 = (1, 0, 0) is in no "
            "sample, and its score, the first coordinate of w, is not the one claimed"
        ),
        "inputs": {
            "a": [["3/5"], ["4/5"], [-1]],
            "w": [["3/10"], ["2/5"], ["-1/2"]],
            "y": "1/2",
        },
        "relation": ["<=", ["max", *trees], 0],
    }


def chain_outside(high: Any) -> dict[str, Any]:
    """The solution of the same data, whose optimal token has the score 1.

    Args:
        high: What optimal scores are claimed to be below, at most 1.
    """
    w, y = (
        [entry(name, i) for i in range(size)] for name, size in (("w", 3), ("y", 2))
    )
    trees = [
        ["abs", ["sub", w[0], y[0]]],
        ["abs", ["sub", w[1], ["sub", y[1], y[0]]]],
        ["abs", ["add", w[2], y[1]]],
        *(["neg", multiplier] for multiplier in y),
        *(["abs", ["sub", ["sub", w[i], w[i + 1]], 1]] for i in (0, 1)),
        ["sub", str(high), w[0]],
    ]
    return {
        "kind": "formula",
        "says": (
            "samples [0 1] -> n(0), [2 1] -> n(1): 0 > 1 > 2 under query 1, scores w "
            "with multipliers y, and that of 0 is not below the bound"
        ),
        "inputs": {"w": [[1], [0], [-1]], "y": [[1], [1]]},
        "relation": ["<=", ["max", *trees], 0],
    }
