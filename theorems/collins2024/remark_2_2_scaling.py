"""Remark 2.2: scaling M moves the window of softmax attention, not that of linear.

Collins et al. (NeurIPS 2024), Remark 2.2. The weights of two labels are

    linear    s_i = x_i.M x                  ratio s_1/s_2
    softmax   e^{s_i}/sum_j e^{s_j}          ratio e^{s_1 - s_2}

and M -> c M turns them into s_1/s_2 and e^{c (s_1 - s_2)}.

Deviations from the text:
    1. Ratios of two weights stand for "relative weights".
Not decided here: what linear attention can reach at all (theorem_3_6_linear.py).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp
from hypothesis import strategies as st

from theorems.collins2024 import PAPER
from theorems.collins2024.classes.decide import Equal, all_of
from verify import Claim, Kind, Mutant, Outcome, Wording, check
from verify.search import Search
from verify.symbolic import formula

c, s_1, s_2, rest = sp.symbols("c s_1 s_2 rest", positive=True)

CLAIM = Claim(
    id="collins2024/remark-2.2",
    kind=Kind.PROOF_STEP,
    title="relative weights under a scaling of M",
    says=(
        "Scaling M changes no ratio of weights of linear attention; those of softmax "
        "attention become powers of themselves."
    ),
    latex=(
        r"\frac{c\,s_1}{c\,s_2} = \frac{s_1}{s_2}, \qquad "
        r"\frac{e^{c s_1}}{e^{c s_2}} = e^{c (s_1 - s_2)}"
    ),
    quantifiers="for all scores, all c > 0",
    source=PAPER.at("Remark 2.2"),
    wording=Wording.PRINTED,
    parameters={"linear": s_1 / s_2, "softmax_log": c * (s_1 - s_2)},
    mutants=(
        Mutant("softmax unchanged", why="c enters", softmax_log=s_1 - s_2),
        Mutant("linear scaled", why="c cancels", linear=c * s_1 / s_2),
        Mutant("softmax inverted", why="c narrows", softmax_log=(s_1 - s_2) / c),
        Mutant("linear squared", why="c cancels", linear=(s_1 / s_2) ** 2),
    ),
)

INSTANCE = {"c": 2, "s_1": 1, "s_2": 3, "rest": 1}


@check(CLAIM, grade="symbolic", scope="all")
def ratios_of_weights(claim: Claim) -> Outcome:
    """Divide the literal weights; the sum over all tokens cancels from either ratio."""
    total = sp.Symbol("total", positive=True)
    logs = sp.expand_log(sp.log(sp.exp(c * s_1) / total), force=True)
    logs -= sp.expand_log(sp.log(sp.exp(c * s_2) / total), force=True)
    return all_of(
        Equal("linear", claim.linear, (c * s_1) / (c * s_2), (INSTANCE,)),
        Equal("logarithm for softmax", claim.softmax_log, sp.expand(logs), (INSTANCE,)),
    )


@check(CLAIM, grade="property", scope="three scores in [1/4, 3], c in [1/2, 3]")
def ratios_at_rational_scores(claim: Claim, search: Search) -> Outcome:
    """Compare ratios numerically; exponentials are enclosed again by the witness."""
    numbers = st.fractions(Fraction(1, 4), Fraction(3), max_denominator=4)
    strategy = st.fixed_dictionaries({
        "c": st.fractions(Fraction(1, 2), Fraction(3), max_denominator=2),
        "s_1": numbers,
        "s_2": numbers,
        "rest": numbers,
    })
    literal = {
        "linear": (c * s_1) / (c * s_2),
        "softmax": sp.exp(c * s_1) / sp.exp(c * s_2),
    }
    claimed = {"linear": claim.linear, "softmax": sp.exp(claim.softmax_log)}
    names = (c, s_1, s_2, rest)
    functions = {
        name: sp.lambdify(names, claimed[name] / literal[name], "math")
        for name in literal
    }

    def broken(at: dict[str, Any]) -> str:
        values = [float(at[s.name]) for s in names]
        # exponents up to 6: relative rounding below 1e-13 in each ratio
        return next((k for k, g in functions.items() if abs(g(*values) - 1) > 1e-9), "")

    return search.for_all(
        strategy,
        lambda at: bool(broken(at)),
        lambda at: _differ(claimed[broken(at)], literal[broken(at)], at),
        searched="rational scores and factors",
        scale=0.2,
    )


def _differ(left: sp.Expr, right: sp.Expr, at: dict[str, Any]) -> dict[str, Any]:
    return formula(left, "!=", right, at, "the ratio of weights differs")
