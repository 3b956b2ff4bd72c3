"""Lemma G.7: near its maximum i^d e^{-αi} has not fallen by more than √e.

Collins et al. (NeurIPS 2024), Appendix G, as the proof of Lemma G.3 cites it: if
m < (d + √d)/α then m^d e^{-αm} ≥ e^{-1/2} i^d e^{-αi} for all i ≤ m.

Deviations from the text:
    1. The display is lost; it is rebuilt from that citation. As a statement about d
       alone, (1 + 1/√d)^d ≥ e^{√d - 1/2}, it is Lemma G.8.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isqrt

import sympy as sp

from theorems.collins2024 import PAPER
from theorems.collins2024.caps.balls import At, evaluate
from theorems.collins2024.caps.bounds import Bound, hunt, settle
from theorems.collins2024.caps.steps import equal, positive, rising
from verify import Assumption, Claim, Mutant, Outcome, Verdict, Wording, check
from verify.search import Search

d, alpha, i, m, c, x = sp.symbols("d alpha i m c x", positive=True)

CLAIM = Claim(
    id="collins2024/lemma-g.7",
    title="the last term of the sum",
    says=(
        "If m is below (d + √d)/α, then m^d e^{-αm} is at least e^{-1/2} times "
        "i^d e^{-αi} for every i up to m."
    ),
    latex=(
        r"m < \frac{d + \sqrt d}{\alpha},\ i \le m \implies "
        r"m^d e^{-\alpha m} \ge \tfrac{1}{\sqrt e}\, i^d e^{-\alpha i}"
    ),
    quantifiers="for all real d, α > 0 and integers 1 ≤ i ≤ m",
    source=PAPER.at("Lemma G.7", "Appendix G, cited in the proof of Lemma G.3"),
    wording=Wording.DERIVED,
    assumes=(
        Assumption("positive", "d > 0 and α > 0"),
        Assumption("short", "m < (d + √d)/α"),
    ),
    parameters={
        "factor": sp.exp(-sp.Rational(1, 2)),
        "threshold": (d + sp.sqrt(d)) / alpha,
    },
    mutants=(
        Mutant(
            "e^{-1/4}", why="at d = 1 the fall is 2/e", factor=sp.exp(-sp.S.One / 4)
        ),
        Mutant(
            "e^{-9/20}",
            why="for large d the fall tends to e^{-1/2}",
            factor=sp.exp(-sp.Rational(9, 20)),
        ),
        Mutant("no fall", why="m may lie beyond the maximum", factor=sp.S.One),
        Mutant(
            "m up to (d + 2√d)/α",
            why="there the fall tends to e^{-2}",
            threshold=(d + 2 * sp.sqrt(d)) / alpha,
        ),
        Mutant("m up to 2d/α", why="it falls to (2/e)^d", threshold=2 * d / alpha),
    ),
)


@functools.cache
def fall() -> tuple[str, ...]:
    """The proof for all d, α > 0, also for real i and m."""
    exponent = d * sp.log(x) - alpha * x
    at_end = d * (c / sp.sqrt(d) - (c / sp.sqrt(d)) ** 2 / 2) - c * sp.sqrt(d)
    return (
        equal("slope of log(x^d e^{-αx})", sp.diff(exponent, x), d / x - alpha),
        positive(
            "it is ≥ 0 for d = αx + c",
            (d / x - alpha).subs(d, alpha * x + c),
            {alpha: 0, c: 0, x: 0},
        ),
        "so the maximum is at d/α; if m ≤ d/α no earlier term is larger",
        equal(
            "at m = (d + c√d)/α, against the maximum: log of the ratio",
            sp.expand_log(
                exponent.subs(x, d * (1 + c / sp.sqrt(d)) / alpha)
                - exponent.subs(x, d / alpha)
            ),
            d * sp.log(1 + c / sp.sqrt(d)) - c * sp.sqrt(d),
        ),
        rising("log(1 + x) ≥ x - x²/2", sp.log(1 + x) - x + x**2 / 2, x),
        equal("hence it is at least", at_end, -(c**2) / 2),
        positive("at least -1/2 for c = 1/(1 + x) ≤ 1: 1 - c", 1 - 1 / (1 + x), {x: 0}),
    )


def terms(claim: Claim, at: At) -> Bound:
    """Compare logarithms at one instance."""
    left = sp.log(claim.factor)
    right = d * sp.log(m) - alpha * m - d * sp.log(i) + alpha * i
    shown = ", ".join(f"{name} = {value}" for name, value in at.items())
    return Bound(left, right, at, f"log of the fall to term m: {shown}")


def allowed(claim: Claim, at: At) -> bool:
    """Whether m is below the claimed threshold."""
    return Bound(m, sp.sympify(claim.threshold), at, "", strict=True).holds()


def grid(claim: Claim) -> Iterator[Bound]:
    """The maximum against the last term below the threshold, for d = 1 to 1e8.

    With i = d/α the last m is close to i threshold(d, d), as the threshold scales like
    1/α.
    """
    for root in (1, 2, 4, 10, 100, 10_000):
        size, first = Fraction(root**2), 1000 * root
        rate = size / first
        here: dict[sp.Symbol, Fraction] = {d: size, alpha: rate}
        last = int(float(evaluate(sp.sympify(claim.threshold), here)))
        at = {**here, i: Fraction(first), m: Fraction(max(last - 1, first))}
        if allowed(claim, at):
            yield terms(claim, at)


@check(CLAIM, grade="symbolic", scope="all")
def second_order_at_the_maximum(claim: Claim) -> Outcome:
    """Compare with the maximum at d/α; Lemma G.8 with c/√d in place of 1/√d."""
    reach = sp.simplify((alpha * claim.threshold - d) / sp.sqrt(d))
    spare = sp.simplify(-sp.log(claim.factor) - reach**2 / 2)
    proved = reach.is_number and bool(reach <= 1) and bool(spare >= 0)
    return settle(fall() if proved else None, grid(claim), says="proved for all d, α")


@check(CLAIM, grade="property", scope="d ≤ 400, m ≤ 64, rational α")
def terms_of_drawn_sums(claim: Claim, search: Search) -> Outcome:
    """Hunt over d, α, i and m for a term that is larger."""
    from hypothesis import strategies as st

    def bounds(drawn: tuple[int, int, int, int]) -> Sequence[Bound]:
        size, last, before, step = drawn
        rate = (size + Fraction(isqrt(size) * step, 8)) * Fraction(999, 1000 * last)
        first = max(1, last - before)
        at = {d: Fraction(size), alpha: rate, i: Fraction(first), m: Fraction(last)}
        if not allowed(claim, at):
            search.discard("m is not below the threshold")
        return [terms(claim, at)]

    outcome = hunt(
        search,
        st.tuples(
            st.integers(1, 400),
            st.integers(1, 64),
            st.integers(0, 16),
            st.integers(-4, 16),
        ),
        bounds,
        searched="d ≤ 400, m ≤ 64, α = 0.999 (d + k√d/8)/m, i ≥ m - 16",
        pinned=((1, 2, 1, 8), (400, 63, 3, 8), (400, 66, 6, 16), (4, 16, 8, 16)),
        scale=0.3,
    )
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    at = {d: Fraction(10**4), alpha: Fraction(1), i: Fraction(10**4)}
    at |= {m: Fraction(10**4 + 99)}
    tight = Bound(
        claim.factor, (m / i) ** d * sp.exp(alpha * (i - m)), at, "the last term"
    )
    return outcome.but(tightness=(tight.tightness("e^{-1/2}"),))
