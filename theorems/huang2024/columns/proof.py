"""Proofs for columns of any size: written steps, each decided by a machine.

Three kinds of step. A *contradiction* lists linear expressions that were assumed not to
be negative, one of them perhaps positive; if they add up to a number that then cannot
be, they do not all hold. An *identity* is brought to zero. A *tautology* is decided by
satisfiability of its negation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.logic.boolalg import Boolean
from sympy.logic.inference import satisfiable

from theorems.huang2024.columns.column import Column
from theorems.huang2024.columns.decide import gap, k, m
from verify import Cause, Claim, Holds, Inconclusive, Outcome, Refuted
from verify.symbolic import prove_equal

w_o, w_p, w_m, w_n = sp.symbols("w_o w_p w_m w_n", real=True)
y = sp.Symbol("y", positive=True)
"""A positive multiplier; o and p are optimal tokens, m and n non-optimal ones."""

STANDARD = (
    "standard: problem (3) is feasible (w = 1 on optimal tokens, 0 elsewhere), with a "
    "solution w and multipliers y >= 0 that vanish where w_o - w_m > 1: w_o = sum of "
    "the y of its constraints, w_m = minus that sum, w = 0 without one; and any w with "
    "such y is the only solution"
)


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes:
        says: What it shows.
        holds: Whether the machine agrees.
    """

    says: str
    holds: bool


def contradiction(
    says: str, *at_least_zero: sp.Expr, positive: sp.Expr | None = None
) -> Step:
    """Decide that expressions cannot all be >= 0, one of them > 0 if it is given."""
    total = sp.cancel(sum(at_least_zero, positive or sp.Integer(0)))
    fails = total.is_number and (total < 0 or (total == 0 and positive is not None))
    added = " + ".join(
        f"({one})" for one in (*at_least_zero, *filter(None, [positive]))
    )
    return Step(f"{says}: {added} = {total}", bool(fails))


def identity(says: str, left: sp.Expr, right: sp.Expr) -> Step:
    """Decide that two expressions are equal."""
    proof = prove_equal(sp.sympify(left), sp.sympify(right))
    return Step(f"{says}: {left} = {right}", proof.proved)


def tautology(says: str, formula: Boolean) -> Step:
    """Decide that a formula of propositional logic is always true."""
    return Step(f"{says}: {formula}", satisfiable(sp.Not(formula)) is False)


def unproved(steps: Iterable[Step]) -> list[str]:
    """The steps that do not hold."""
    return [step.says for step in steps if not step.holds]


def decide(
    steps: Sequence[Step] | None,
    columns: Sequence[Column],
    violated: Callable[[Column], bool],
    witness: Callable[[Column], Mapping[str, Any]],
) -> Outcome:
    """Decide a claim about all columns of a domain by its proof, or by a small column.

    Args:
        steps: The proof, which may fail; None if there is none.
        columns: Small columns of the domain, where a violation is looked for.
        violated: Whether the claim is false on a column.
        witness: Record of a violation.

    Returns:
        HOLDS with the steps, REFUTED with the first violation, or INCONCLUSIVE.
    """
    gaps = ["no proof is known"] if steps is None else unproved(steps)
    if not gaps:
        last = columns[-1].margin.certificate(f"a solution: {columns[-1]}")
        said = [STANDARD, *(step.says for step in steps or ())]
        return Holds("proved for columns of any size", steps=said, certificate=last)
    for column in columns:
        if violated(column):
            found = witness(column)
            return Refuted(str(found["says"]), witness=found)
    return Inconclusive(f"not proved: {gaps[0]}", cause=Cause.NO_PROOF)


def complete(claim: Claim, optimal: sp.Expr | int = k) -> list[Step]:
    """Complete columns of any size have the scores of a claim.

    Args:
        claim: With ``optimal``, ``non_optimal`` and ``non_comparable``.
        optimal: k, or the number of optimal tokens.
    """
    high, low = (
        sp.sympify(x).subs(k, optimal) for x in (claim.optimal, claim.non_optimal)
    )
    multiplier = 1 / (optimal + m)
    return [
        Step(
            f"all multipliers are {multiplier}, which is positive",
            multiplier.is_positive,
        ),
        identity("an optimal token has m of them", m * multiplier, high),
        identity("a non-optimal one has k, with a minus", -optimal * multiplier, low),
        identity("every constraint is tight", high - low, sp.Integer(1)),
        identity(
            "without a constraint the score is 0", claim.non_comparable, sp.Integer(0)
        ),
    ]


def blocks(claim: Claim) -> list[Step]:
    """Blocks of tight constraints have the scores of a claim, in any column."""
    a, b, total = sp.symbols("a b total", real=True)
    found = sp.solve(
        [k * a - total, m * b + total, a - b - 1], [a, b, total], dict=True
    )
    return [
        Step(
            "constraints that join a block are tight, so that only these have a "
            f"multiplier: {claim.joined}",
            claim.joined == sp.Eq(gap, 1),
        ),
        identity(
            "two optimal tokens that share one below have one score",
            (w_o - w_m - 1) - (w_p - w_m - 1),
            w_o - w_p,
        ),
        identity(
            "two non-optimal tokens that share one above have one score",
            (w_o - w_n - 1) - (w_o - w_m - 1),
            w_m - w_n,
        ),
        Step(
            "a block with scores a and b = a - 1 and multipliers of sum L has k a = L "
            f"and m b = -L, only solved by {found}",
            len(found) == 1,
        ),
        identity("hence an optimal score", found[0][a], claim.optimal),
        identity("and a non-optimal one", found[0][b], claim.non_optimal),
        identity(
            "without a constraint the score is 0", claim.non_comparable, sp.Integer(0)
        ),
    ]


def signs() -> list[Step]:
    """Optimal scores lie in (0, 1), non-optimal ones in (-1, 0), in any column."""
    none = "then some multiplier of it is positive, for else its score is 0"
    over = w_o - w_m - 1  # constraint of o above m
    at_p, at_n = -(w_p - w_m - 1), -(w_o - w_n - 1)  # tight: p above m, o above n
    return [
        contradiction(
            f"suppose w_o <= 0, and take m below o; {none} (m)", -w_o, over, w_m
        ),
        contradiction("if p has it, w_p >= y", -w_o, over, at_p, w_p - y, positive=y),
        contradiction(
            f"suppose w_m >= 0, and take o above m; {none} (o)", w_m, over, -w_o
        ),
        contradiction("if n has it, w_n <= -y", w_m, over, at_n, -w_n - y, positive=y),
        contradiction(f"suppose w_o >= 1; {none}", w_o - 1, -w_o),
        contradiction("if n has it, w_n <= -y", w_o - 1, at_n, -w_n - y, positive=y),
        contradiction(f"suppose w_m <= -1; {none}", -1 - w_m, w_m),
        contradiction("if p has it, w_p >= y", -1 - w_m, at_p, w_p - y, positive=y),
    ]


def one_optimal_token() -> list[Step]:
    """Prefix-closed data with n injective: a query has one optimal token.

    Tokens of a text are written as n^a(x_1), 0 <= a < c; n is a permutation of V and c
    the length of the cycle of x_1.
    """
    return [*_intervals(), *_nested(), *_one_carrier()]


def _intervals() -> list[Step]:
    a, c, j = sp.symbols("a c j", integer=True, nonnegative=True)
    return [
        contradiction(
            "the tokens of a prefix are {0..j}, by induction: x_1 is 0, and the next "
            "token follows one of them, a <= j, so that a + 1 <= j + 1",
            j - a,
            a + 1 - (j + 2),
        ),
        contradiction(
            "if a + 1 = c, the next token is 0, among them; then a = j = c - 1",
            j - a,
            a + 1 - c,
            c - 2 - j,
        ),
        contradiction(
            "if it is new, a + 1 > j, it is the end of the interval {0..j+1}: a = j",
            a + 1 - (j + 1),
            j - 1 - a,
        ),
    ]


def _nested() -> list[Step]:
    c, d, e, i, j, x = sp.symbols("c d e i j x", integer=True, nonnegative=True)
    return [
        contradiction(
            "let a sample of query q have two different tokens, and let q not be x_1. "
            "Where q is new, it is the end of {0..j+1}: the prefix up to there, also a "
            "sample of q, has the tokens {0..i}, q = i >= 1, all in the longer sample",
            i - (j + 1),
            j,
            -i,
        ),
        contradiction(
            "let q be x_1 = 0. Its first return follows c - 1, so this sample of q has "
            "all tokens {0..c-1}, and c >= 2 since two differ, j >= 1",
            j - 1,
            c - 1 - j,
            1 - c,
        ),
        contradiction(
            "so each such sample of q contains the tokens q, n^-1(q), .., n^-d(q) of a "
            "sample of q that has no others, with d = i or d = c - 1, at least 1; for "
            "d <= e those of d are among those of e: x <= d gives x <= e",
            d - x,
            e - d,
            x - e - 1,
        ),
    ]


def _one_carrier() -> list[Step]:
    least, same = sp.symbols("carrier_of_least_in_X same_carrier")
    above, below = sp.symbols("above_some_token below_the_carrier_of_X")
    return [
        tautology(
            "take such a sample with the least d: its carrier, one token as n is "
            "injective, is above the others, and stands in every such sample X of q; "
            "if another token were the carrier of X, it would be below that one, hence "
            "confused. So all of them have one carrier: a complete order with k = 1",
            sp.Implies(
                sp.And(
                    least,
                    above,
                    sp.Implies(sp.And(least, sp.Not(same)), below),
                    sp.Not(sp.And(above, below)),
                ),
                same,
            ),
        ),
    ]
