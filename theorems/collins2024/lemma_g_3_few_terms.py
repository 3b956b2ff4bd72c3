"""Lemma G.3 for few terms: γ(d, α, m) is close to its last term.

Collins et al. (NeurIPS 2024), Lemma G.3: for m < (d + √d)/α

    m^d e^{-αm} ≤ γ(d, α, m) ≤ √e m^{d+1} e^{-αm}.

Deviations from the text:
    1. The display is lost; it is rebuilt from the end of its proof, which cites
       Lemma G.7.
    2. d is any positive real number: the text has half-integers in use.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import sympy as sp

from theorems.collins2024.caps import sums
from theorems.collins2024.caps.bounds import Bound, hunt, settle
from theorems.collins2024.caps.sums import NEVER, SOURCE, THRESHOLD, TWO, alpha, d, i, m
from verify import Assumption, Claim, Mutant, Outcome, Wording, check
from verify.search import Search

PARTIAL = Claim(
    id="collins2024/lemma-g.3/partial",
    title="order of the sums, few terms",
    says=(
        "If m is below (d + √d)/α the sum is at least m^d e^{-αm} and at most "
        "√e m^{d+1} e^{-αm}."
    ),
    latex=(
        r"m < \frac{d + \sqrt d}{\alpha} \implies m^d e^{-\alpha m} \le "
        r"\gamma(d, \alpha, m) \le \sqrt e\, m^{d+1} e^{-\alpha m}"
    ),
    quantifiers="for all real d, α > 0 and integers 1 ≤ m < (d + √d)/α",
    source=SOURCE,
    wording=Wording.DERIVED,
    assumes=(Assumption("positive", "d > 0 and α > 0"), Assumption("short", "m small")),
    parameters={
        "below": sp.S.One,
        "above": sp.sqrt(sp.E) * m,
        "threshold": THRESHOLD,
    },
    mutants=(
        Mutant("√e m^d above", why="m terms", above=sp.sqrt(sp.E)),
        Mutant("twice below", why="at m = 1 there is one term", below=TWO),
        Mutant("m/2 above", why="at m = 1 there is one term", above=m / 2),
        Mutant("any m", why="γ ≥ e^{-α} stays, the bound tends to 0", threshold=NEVER),
    ),
)


def of_few(claim: Claim, size: int, rate: Fraction, last: int) -> list[Bound]:
    """Both bounds, over the last term."""
    says = f"sum over its last term, d = {size}, α = {rate}, m = {last}"
    ratio = sp.Sum((i / m) ** d * sp.exp(alpha * (m - i)), (i, 1, m))
    sizes, at = {d: size, m: last}, {alpha: rate}
    return [
        Bound(claim.below, ratio, at, says, sizes),
        Bound(ratio, claim.above, at, says, sizes),
    ]


def few_terms(claim: Claim) -> Iterator[Bound]:
    """Sums just below the threshold."""
    for size, last in ((1, 1), (1, 3), (4, 6), (100, 50), (4, 40)):
        rate = (size + Fraction(int(size**0.5))) / last * Fraction(99, 100)
        rate = 2 * rate if claim.threshold is NEVER else rate
        yield from of_few(claim, size, rate, last)


@check(PARTIAL, grade="symbolic", scope="all")
def as_many_terms(claim: Claim) -> Outcome:
    """Count the terms, each by Lemma G.7."""
    fits = claim.threshold == THRESHOLD and bool(claim.below <= 1)
    share = sp.simplify(claim.above / (sp.sqrt(sp.E) * m))
    fits = fits and share.is_number and bool(share >= 1)
    return settle(
        sums.partial() if fits else None,
        few_terms(claim),
        says="proved for all d, α and m",
        certificate=of_few(claim, 2, Fraction(1), 3)[1].certificate(),
    )


@check(PARTIAL, grade="property", scope="integers d ≤ 64, m ≤ 64, rational α")
def few_terms_in_balls(claim: Claim, search: Search) -> Outcome:
    """Hunt below the threshold for a sum outside its bounds."""
    from hypothesis import strategies as st

    def bounds(drawn: tuple[int, int, int]) -> Sequence[Bound]:
        size, last, part = drawn
        rate = (size + Fraction(int(size**0.5))) / last * Fraction(part, 128)
        if claim.threshold is NEVER:
            rate *= 4
        return of_few(claim, size, rate, last)

    return hunt(
        search,
        st.tuples(st.integers(1, 64), st.integers(1, 64), st.integers(1, 127)),
        bounds,
        searched="d, m ≤ 64, α = j/128 of (d + ⌊√d⌋)/m",
        pinned=((1, 1, 127), (4, 40, 127), (64, 64, 127), (1, 64, 1)),
        scale=0.15,
    )
