"""Lemma G.6: Stirling's approximation, with Robbins's two-sided remainder.

Collins et al. (NeurIPS 2024), Appendix G, by reference to Robbins [64]:

    √(2πx) (x/e)^x e^{1/(12x+1)} < Γ(x+1) < √(2πx) (x/e)^x e^{1/(12x)}.

Deviations from the text:
    1. The display is lost; this is the statement of the work it cites. The proof of
       Lemma G.3 needs its consequence √(2πd) (d/e)^d ≤ Γ(d+1).
    2. Robbins has integers; Lemma G.3 uses half-integers, so that it is stated and
       proved for real x ≥ 1.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from fractions import Fraction

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.caps.bounds import Bound, hunt, settle
from theorems.collins2024.caps.steps import equal, positive, rising
from verify import Assumption, Claim, Mutant, Outcome, Verdict, Wording, check
from verify.search import Search

x, y = sp.symbols("x y", positive=True)

CLAIM = Claim(
    id="collins2024/lemma-g.6",
    title="Stirling's approximation",
    says=(
        "Γ(x+1) lies between √(2πx) (x/e)^x e^{1/(12x+1)} and "
        "√(2πx) (x/e)^x e^{1/(12x)}."
    ),
    latex=(
        r"\sqrt{2 \pi x}\, (x/e)^x e^{1/(12x+1)} < \Gamma(x+1) < "
        r"\sqrt{2 \pi x}\, (x/e)^x e^{1/(12x)}"
    ),
    quantifiers="for all real x ≥ 1",
    source=PAPER.at("Lemma G.6", "Appendix G"),
    wording=Wording.DERIVED,
    assumes=(Assumption("from-one", "x ≥ 1"),),
    parameters={
        "main": sp.sqrt(2 * sp.pi * x) * (x / sp.E) ** x,
        "below": 1 / (12 * x + 1),
        "above": 1 / (12 * x),
    },
    mutants=(
        Mutant("equal exponents", why="the series alternates", below=1 / (12 * x)),
        Mutant(
            "no excess",
            why="Γ(2) = 1 is above √(2π)/e",
            above=sp.S.Zero,
        ),
        Mutant(
            "1/(12x + 3/10) below",
            why="at x = 1 the excess is 0.08106 < 1/12.3",
            below=1 / (12 * x + sp.Rational(3, 10)),
        ),
        Mutant(
            "1/(13x) above",
            why="the excess is 1/(12x) to first order",
            above=1 / (13 * x),
        ),
        Mutant(
            "Γ(x) for Γ(x+1)",
            why="a factor x is lost",
            main=sp.sqrt(2 * sp.pi / x) * (x / sp.E) ** x,
        ),
    ),
)


@functools.cache
def robbins() -> tuple[str, ...]:
    """Telescope μ(x) = log Γ(x+1) - (x + 1/2) log x + x - log √(2π)."""
    mu = sp.loggamma(x + 1) - (x + sp.S.Half) * sp.log(x) + x
    fall = (mu - mu.subs(x, x + 1)).subs(
        sp.loggamma(x + 2), sp.loggamma(x + 1) + sp.log(x + 1)
    )
    h = (x + sp.S.Half) * (sp.log(x + 1) - sp.log(x)) - 1
    artanh = (sp.log(1 + y) - sp.log(1 - y)) / 2
    upper, lower = y + y**3 / (3 * (1 - y**2)), y + y**3 / (3 - y**2)
    z = sp.Symbol("z", positive=True)  # y = z/(1 + z) runs through (0, 1)
    whole = {y: z / (1 + z)}
    mean = 1 / (2 * x + 1)
    excess = [
        sp.cancel((side / y - 1).subs(y, mean)) for side in (lower, upper)
    ]  # of h
    steps = [1 / (12 * x + 1) - 1 / (12 * x + 13), 1 / (12 * x) - 1 / (12 * (x + 1))]
    return (
        equal("h(x) = μ(x) - μ(x+1)", sp.expand(fall - h), sp.S.Zero),
        equal(
            "(1+y)/(1-y) at y = 1/(2x+1)",
            ((1 + y) / (1 - y)).subs(y, mean),
            (x + 1) / x,
        ),
        "so h(x) = artanh(y)/y - 1",
        rising("artanh(y) - lower, y = z/(1+z)", (artanh - lower).subs(whole), z),
        rising("upper - artanh(y)", (upper - artanh).subs(whole), z),
        positive("h(x) against Robbins's step below", excess[0] - steps[0], {x: 1}),
        equal("and above", excess[1], steps[1]),
        equal("next term", (1 / (12 * x + 1)).subs(x, x + 1), 1 / (12 * x + 13)),
        "standard: μ(x) tends to log √(2π) (Stirling), so both sides add up",
    )


def bounds(claim: Claim, value: Fraction) -> list[Bound]:
    """Both inequalities at one x, which the formulas take as a size."""
    middle = sp.gamma(x + 1)
    says = f"Γ(x+1) against its claimed bound at x = {value}"
    sides = [claim.main * sp.exp(claim.below), claim.main * sp.exp(claim.above)]
    at = {x: value}
    return [
        Bound(sides[0], middle, {}, says, at, strict=True),
        Bound(middle, sides[1], {}, says, at, strict=True),
    ]


def grid(claim: Claim) -> Iterator[Bound]:
    """A few integers."""
    for value in (1, 2, 3, 10, 40):
        yield from bounds(claim, Fraction(value))


@check(CLAIM, grade="symbolic", scope="all")
def telescoping_sums(claim: Claim) -> Outcome:
    """Bound μ(x) - μ(x+1) on both sides, and add up to infinity."""
    stirling = sp.simplify(claim.main / (sp.sqrt(2 * sp.pi * x) * (x / sp.E) ** x))
    below = sp.simplify(1 / claim.below - 12 * x) if claim.below else sp.S.Zero
    above = sp.simplify(1 / claim.above - 12 * x) if claim.above else sp.S.One
    fits = below.is_number and above.is_number and stirling == 1
    proved = fits and bool(below >= 1) and bool(above <= 0)
    return settle(
        robbins() if proved else None,
        grid(claim),
        says="proved for all real x ≥ 1",
        certificate=bounds(claim, Fraction(1))[0].certificate(),
    )


@check(CLAIM, grade="property", scope="multiples of 1/2 from 1 to 200, in balls")
def gamma_in_balls(claim: Claim, search: Search) -> Outcome:
    """Compare with the gamma function at integers and half-integers."""
    from hypothesis import strategies as st

    outcome = hunt(
        search,
        st.builds(lambda k: Fraction(k, 2), st.integers(2, 400)),
        lambda value: bounds(claim, value),
        searched="x = k/2, 2 ≤ k ≤ 400",
        pinned=[Fraction(value) for value in (1, 2, 40)],
        scale=0.3,
    )
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    lower, upper = bounds(claim, Fraction(1))
    return outcome.but(
        tightness=(
            lower.tightness("lower bound, at x = 1"),
            upper.tightness("upper bound, at x = 1"),
        )
    )
