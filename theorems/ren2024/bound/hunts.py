"""Searches for counterexamples to the bounds among small populations of tokens."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from theorems.ren2024.bound import signs, tokens
from theorems.ren2024.bound.coins import FINE
from theorems.ren2024.bound.tokens import Population
from verify import Claim, Outcome, Tightness, Verdict
from verify.search import Search
from verify.slack import slack

RISKS = (Fraction(1, 2), Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**4))


def coin(n: int, rho: int, bias: str, risk: Fraction) -> Population:
    """The tokens of `coins`: one key, values ρ and -ρ."""
    up = int(FINE * (1 + Fraction(bias)))
    return Population(((rho,), (-rho,)), ((0,), (0,)), (up, 2 * FINE - up), n, risk)


COINS = (
    coin(61, 100, "0.3", Fraction(1, 1000)),
    coin(61, 10, "0.3", Fraction(1, 100)),
    coin(61, 10, "0.495", Fraction(1, 10**6)),
)
"""Replayed first: they break the bounds without ρ², without log(1/δ), with 1/N."""


def populations(sizes: tuple[int, int], *, long: bool = False) -> Any:
    """Two or three types of tokens; ``long``: values less the mean of negatives."""
    from hypothesis import strategies as st

    @st.composite
    def draw(draw: Any) -> Population:
        types, width = draw(st.integers(2, 3)), draw(st.integers(1, 2))
        most = sizes[1] if types == 2 else max(sizes[0], sizes[1] // 3)

        def vectors(low: int, high: int, length: int) -> Any:
            one = st.tuples(*[st.integers(low, high)] * length)
            return draw(st.tuples(*[one] * types))

        values: Any = vectors(-3, 3, width)
        negatives = draw(st.integers(1, 3)) if long else 1
        if long:
            others = [vectors(-3, 3, width) for _ in range(negatives)]
            values = tuple(
                tuple(
                    v[t] - Fraction(sum(other[i][t] for other in others), negatives)
                    for t in range(width)
                )
                for i, v in enumerate(values)
            )
        return Population(
            values,
            vectors(-1, 1, draw(st.integers(1, 2))),
            draw(st.tuples(*[st.integers(1, 6)] * types)),
            draw(st.integers(sizes[0], most)),
            draw(st.sampled_from(RISKS)),
            2 if long else 1,
            negatives,
        )

    return draw()


def excess_beyond_bound(
    claim: Claim, search: Search, pinned: tuple[Population, ...], *, long: bool = False
) -> Outcome:
    """Hunt for a population on which the bound fails with a probability above δ."""
    reached: list[float] = []

    def violated(population: Population) -> bool:
        if not any(map(any, population.gram)):
            search.discard("all values are 0")
        found = tokens.table(population)
        bound = tokens.bounds(claim.bound, population, found)
        reach = tokens.quantile(population, found, bound)
        reached.append(min(reach, 1.0))
        search.aim(reach, "excess over bound, its quantile at δ")
        return reach > 1 + tokens.GUARD

    outcome = search.for_all(
        populations((16, 60), long=long),
        violated,
        lambda population: tokens.failure(claim, population),
        searched="2 or 3 types of tokens, integer values and keys, N ≤ 60, δ ≥ 1e-4: "
        "every sample counted",
        pinned=pinned,
        scale=0.25,
    )
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    says = "excess over bound, quantile at δ"
    return outcome.but(
        tightness=(Tightness(says, max(reached, default=0.0)),),
        figures=(slack({says: reached}, title="Slack of the generalisation bound"),),
    )


def averages(claim: Claim, search: Search, pinned: tuple[Population, ...]) -> Outcome:
    """Hunt for a sample whose Rademacher average exceeds the claimed bound."""
    from hypothesis import strategies as st

    reached: list[float] = []

    @st.composite
    def drawn(draw: Any) -> Population:
        n, width = draw(st.integers(1, 4)), draw(st.integers(1, 3))

        def vectors(high: int, length: int) -> Any:
            one = st.tuples(*[st.integers(-high, high)] * length)
            return draw(st.tuples(*[one] * n))

        return Population(vectors(2, width), vectors(1, 2), (1,) * n, n)

    def violated(sample: Population) -> bool:
        ratio = signs.ratio(claim, sample)
        reached.append(min(ratio, 1.0))
        return ratio > 1 + signs.GUARD

    outcome = search.for_all(
        drawn(),
        violated,
        lambda sample: signs.witness(claim, sample),
        searched="samples of at most 4 tokens, d_o ≤ 3, integer values and keys",
        pinned=pinned,
        scale=0.25,
    )
    if outcome.verdict is not Verdict.HOLDS:
        return outcome
    says = "average over bound"
    return outcome.but(
        tightness=(Tightness(says, max(reached, default=0.0)),),
        figures=(slack({says: reached}, title="Slack of the Rademacher bound"),),
    )
