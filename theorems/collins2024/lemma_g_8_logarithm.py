"""Lemma G.8: d log(1 + 1/√d) is at least √d - 1/2.

Collins et al. (NeurIPS 2024), Appendix G, the last statement before Appendix H, used
for the end of the range of Lemma G.3. It holds for every real d > 0, since
log(1 + x) ≥ x - x²/2 for x ≥ 0.

Deviations from the text:
    1. The display is lost; it is rebuilt from its proof, which takes logarithms and
       keeps two terms of a Taylor series.
    2. The text bounds the logarithm "from above" by these terms. From below is meant
       and proved: the series alternates and its terms shrink.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from fractions import Fraction

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.caps.bounds import Bound, hunt, settle
from theorems.collins2024.caps.steps import equal, rising
from verify import Assumption, Claim, Mutant, Outcome, Verdict, Wording, check
from verify.search import Search

d, x = sp.symbols("d x", positive=True)

CLAIM = Claim(
    id="collins2024/lemma-g.8",
    title="an inequality for the logarithm",
    says="d log(1 + 1/√d) is at least √d - 1/2.",
    latex=r"d \log\Bigl(1 + \frac{1}{\sqrt d}\Bigr) \ge \sqrt d - \tfrac12",
    quantifiers="for all real d > 0",
    source=PAPER.at("Lemma G.8", "Appendix G, before Appendix H"),
    wording=Wording.DERIVED,
    assumes=(Assumption("positive", "d > 0"),),
    parameters={"lower": sp.sqrt(d) - sp.Rational(1, 2)},
    mutants=(
        Mutant("√d", why="the second term is -1/2", lower=sp.sqrt(d)),
        Mutant(
            "√d - 9/20",
            why="the difference tends to 1/2",
            lower=sp.sqrt(d) - sp.Rational(9, 20),
        ),
        Mutant(
            "third term, halved",
            why="at d = 1 the left side is log 2 < 3/4",
            lower=sp.sqrt(d) - sp.Rational(1, 2) + 1 / (4 * sp.sqrt(d)),
        ),
        Mutant("d/2 in place of √d", why="too large for d > 4", lower=(d - 1) / 2),
    ),
)


@functools.cache
def two_terms() -> tuple[str, ...]:
    """The proof for all d > 0."""
    kept = x - x**2 / 2
    return (
        rising("log(1 + x) ≥ x - x²/2 for x ≥ 0", sp.log(1 + x) - kept, x),
        equal(
            "d times it at x = 1/√d",
            d * kept.subs(x, 1 / sp.sqrt(d)),
            sp.sqrt(d) - sp.Rational(1, 2),
        ),
    )


def bound(claim: Claim, value: Fraction) -> Bound:
    """The inequality at one d."""
    left = sp.sympify(claim.lower)
    says = f"claimed lower bound against d log(1 + 1/√d) at d = {value}"
    return Bound(left, d * sp.log(1 + 1 / sp.sqrt(d)), {d: value}, says)


def grid(claim: Claim) -> Iterator[Bound]:
    """From d = 1/100 to 1e8."""
    return (bound(claim, Fraction(10) ** k) for k in (0, 1, 2, 4, 8, -1, -2))


@check(CLAIM, grade="symbolic", scope="all")
def taylor_with_remainder(claim: Claim) -> Outcome:
    """Keep two terms of the series; what is left is not negative."""
    slack = sp.expand(sp.sqrt(d) - sp.Rational(1, 2) - sp.sympify(claim.lower))
    proved = slack.is_number and bool(slack >= 0)
    return settle(
        two_terms() if proved else None,
        grid(claim),
        says="proved for all d > 0",
        certificate=bound(claim, Fraction(1)).certificate(),
    )


@check(CLAIM, grade="property", scope="rational d from 1/64 to 2^40")
def inequality_on_rationals(claim: Claim, search: Search) -> Outcome:
    """Hunt over d for a violation, in balls."""
    from hypothesis import strategies as st

    values = st.builds(
        lambda k, n: Fraction(2) ** k * n / 64, st.integers(0, 30), st.integers(1, 1024)
    )
    outcome = hunt(
        search,
        values,
        lambda value: [bound(claim, value)],
        searched="d = 2^k n/64, k ≤ 30, n ≤ 1024",
        pinned=(Fraction(1), Fraction(10**4), Fraction(10**8)),
        scale=0.3,
    )
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    tight = bound(claim, Fraction(2**40)).tightness("√d - 1/2, at d = 2^40")
    return outcome.but(tightness=(tight,))
