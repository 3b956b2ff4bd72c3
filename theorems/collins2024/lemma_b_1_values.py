"""Lemma B.1: which entries of W_V vanish at an optimum.

Collins et al. (NeurIPS 2024), Lemma B.1: if f and -f are equally likely, any optimum of
(3) has W_V = [0 0; 0 c]. With last row (v, c) and attention b_i the prediction is

    sum_i b_i v.x_i + c sum_i b_i (f(x_i) + e_i),

and E(A + B + C)^2 = E(A + C)^2 + E B^2 with B = v.sum b_i x_i, for noise that is
independent of the rest and centred (symmetry of the noise is not needed). So v = 0.

    whole matrix  false: the first d rows do not enter the loss;
    last row      true: its first d entries vanish.

Deviations from the text:
    1. Attention does not depend on labels (W_K and W_Q end in zeros), as the proof has
       it; scores that read labels are not covered.
    2. "Last column" in Section 2 is the last row.
Not decided here: the value of c, and which classes have f ~ -f
(lemma_b_1_normalisation.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp
from hypothesis import strategies as st

from theorems.collins2024 import PAPER
from theorems.collins2024.classes.decide import Equal, all_of
from theorems.collins2024.classes.tasks import L, d
from verify import (
    Anchor,
    Assumption,
    Claim,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    refuted,
)
from verify.search import Search
from verify.symbolic import formula

ASSUMES = (
    Assumption("symmetric-class", "f and -f are equally likely"),
    Assumption("noise", "noise is centred and independent of tasks and covariates"),
    Assumption("label-free", "attention does not depend on labels"),
)


def rows(*entries: tuple[int, int, int]) -> sp.ImmutableMatrix:
    """A 3 x 3 pattern (d = 2): 1 where an entry vanishes at every optimum."""
    return sp.ImmutableMatrix(entries)


LAST = rows((0, 0, 0), (0, 0, 0), (1, 1, 0))
ALL_BUT_C = rows((1, 1, 1), (1, 1, 1), (1, 1, 0))
MUTANTS = (
    Mutant(
        "c = 0 as well",
        why="labels of other tokens inform about f",
        zero=rows((0, 0, 0), (0, 0, 0), (1, 1, 1)),
    ),
    Mutant(
        "the first row as well",
        why="it does not enter the loss",
        zero=rows((1, 1, 1), (0, 0, 0), (1, 1, 0)),
    ),
    Mutant(
        "the last column instead",
        why="its first d entries do not enter the loss",
        zero=rows((0, 0, 1), (0, 0, 1), (0, 0, 0)),
    ),
)

WHOLE = Claim(
    id="collins2024/lemma-b.1@whole-matrix",
    title="zero blocks of the value weights",
    says="At every optimum all entries of W_V but the last one vanish.",
    latex=(
        r"W_V = \begin{pmatrix} 0_{d \times d} & 0_{d \times 1} \\ "
        r"0_{1 \times d} & c \end{pmatrix}"
    ),
    quantifiers="for all d, n, all classes with f ~ -f; patterns are shown for d = 2",
    source=PAPER.at("Lemma B.1"),
    wording=Wording.PRINTED,
    assumes=ASSUMES,
    parameters={"zero": ALL_BUT_C},
    anchors=(Anchor("last row only", why="the others are free", zero=LAST),),
    mutants=MUTANTS,
    finding=refuted("the first d rows of W_V do not enter the loss at all"),
    nearest="collins2024/lemma-b.1@last-row",
)

ROW = Claim(
    id="collins2024/lemma-b.1@last-row",
    title="zero block of the value weights",
    says="At every optimum the first d entries of the last row of W_V vanish.",
    latex=r"(W_V)_{d+1, 1:d} = 0",
    quantifiers=WHOLE.quantifiers,
    source=PAPER.at("Lemma B.1", "as Section 2 states it"),
    wording=Wording.DERIVED,
    assumes=ASSUMES,
    parameters={"zero": LAST},
    mutants=(
        *MUTANTS,
        Mutant("whole matrix", why="other rows do not enter the loss", zero=ALL_BUT_C),
    ),
)


def marked(claim: Claim) -> list[tuple[int, int]]:
    """Entries that the claim says vanish."""
    return [(i, j) for i in range(3) for j in range(3) if claim.zero[i, j]]


def free_entry(i: int, j: int) -> Outcome:
    """The prediction, entry d + 1 of W_V z, is the same with and without an entry."""
    with_it, without = (np.zeros((3, 3), dtype=int) for _ in range(2))
    with_it[2, 2] = without[2, 2] = 1
    with_it[i, j] = 1
    first, second = (sp.MatrixSymbol(name, 3, 3) for name in ("W_1", "W_2"))
    token = sp.MatrixSymbol("token", 3, 1)
    says = (
        f"entry ({i + 1}, {j + 1}) of W_V leaves the prediction, so the loss, as it is"
    )
    values = {"W_1": with_it, "W_2": without, "token": np.array([[2], [3], [5]])}
    left, right = ((w * token)[2, 0] for w in (first, second))
    return Refuted(says, witness=formula(left, "==", right, values, says))


# One token, n = 1: the loss is K - 2 c R + c^2 (K + s^2) + |v|^2/d with K = E f^2 and
# R = E f(x) f(x_1) = L^2/3 for affine tasks.
K = L**2 / 3 * (1 + 1 / d)
R = L**2 / 3
c, noise, length = sp.symbols("c noise length", positive=True)
ONE_TOKEN = K - 2 * c * R + c**2 * (K + noise) + length / d


@check(WHOLE, ROW, grade="symbolic", scope="all")
def cross_terms_cancel(claim: Claim) -> Outcome:
    """Average over (f, e) and its mirror image; show entries that are free.

    E A B = 0 since f ~ -f and B, b_i do not depend on f; E C B = 0 since noise is
    centred. v.x̂ = 0 almost surely only for v = 0: on tokens near one point u it is v.u.
    """
    for i, j in marked(claim):
        if i < 2:
            return free_entry(i, j)
        if j == 2:
            says = "one token: the loss at c = 1/4 is below that at c = 0"
            left, right = (ONE_TOKEN.subs({length: 0, c: x}) for x in (sp.S.One / 4, 0))
            values = {"L": Fraction(1), "d": Fraction(2), "noise": Fraction(1)}
            return Refuted(says, witness=formula(left, "<", right, values, says))
    A, B, C = sp.symbols("A B C", real=True)
    mirrored = ((A + B + C) ** 2 + (-A + B - C) ** 2) / 2
    return all_of(
        Equal("the mean over both signs", mirrored, (A + C) ** 2 + B**2),
        steps=["E B² = v.E[x̂ x̂^T] v > 0 unless v = 0"],
    )


UNIT = ((1, 0), (-1, 0), (0, 1), (0, -1))


def counted(weights: tuple[Fraction, ...], s: Fraction) -> Fraction:
    """The loss of a W_V (by rows) with one token, counted: d = 2, L² = 3, affine."""
    v, c_ = np.array(weights[6:8], dtype=object), weights[8]
    total, cases = Fraction(0), 0
    for w in np.array(UNIT):
        for slope in (1, -1):
            f = slope * (np.array(UNIT) @ w)
            for b in (1, -1):
                for k, token in enumerate(UNIT):
                    guess = v @ np.array(token) + c_ * int(f[k] + b)
                    errors = guess - (f + b)
                    total += sum(errors**2) + 4 * (c_ * s) ** 2
                    cases += 4
    return total / cases


@check(WHOLE, ROW, grade="property", scope="n = 1, d = 2, rational W_V")
def zeroing_always_helps(claim: Claim, search: Search) -> Outcome:
    """Set the marked entries of random W_V to 0: the loss must fall strictly."""
    entry = st.fractions(Fraction(-1), Fraction(1), max_denominator=4)
    strategy = st.tuples(
        st.tuples(*[entry] * 9), st.sampled_from((Fraction(0), Fraction(1, 2)))
    )

    def both(instance: Any) -> tuple[Fraction, Fraction, bool]:
        weights, s = instance
        zeroed = list(weights)
        for i, j in marked(claim):
            zeroed[3 * i + j] = Fraction(0)
        changed = tuple(zeroed) != weights
        return counted(weights, s), counted(tuple(zeroed), s), changed

    def violated(instance: Any) -> bool:
        before, after, changed = both(instance)
        return changed and not after < before

    def witness(instance: Any) -> dict[str, Any]:
        before, after, _ = both(instance)
        first, second = sp.symbols("before after")
        says = f"losses with the marked entries and without, W_V = {instance[0]}"
        return formula(second, ">=", first, {"before": before, "after": after}, says)

    def alone(entry: int) -> tuple[Fraction, ...]:
        return tuple(Fraction(int(k == entry), 4) for k in range(9))

    return search.for_all(
        strategy,
        violated,
        witness,
        searched="entries in [-1, 1] of denominator up to 4",
        pinned=[(alone(k), Fraction(1, 2)) for k in (8, 0, 2, 6)],
        scale=0.05,
    )
