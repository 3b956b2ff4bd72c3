"""Tokens with negative samples: exact means over all of them.

A token of type i with negatives of types j_1, .., j_K is one type of a larger
population, with the value W_V x_i - mean W_V x_j.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import sympy as sp

from theorems.ren2024.bound import tokens
from theorems.ren2024.bound.moments import UNIFORM, mean_of
from theorems.ren2024.bound.notation import (
    M2,
    RANGE,
    S2,
    kappa2,
    rho,
    root_log,
    tau2,
)
from theorems.ren2024.bound.steps import equal, rational
from theorems.ren2024.bound.tokens import Population
from verify import Cause, Claim, Inconclusive, Outcome, Refuted
from verify.recheck import decide
from verify.search import Search
from verify.symbolic import tree


@dataclass(frozen=True)
class Pool:
    """Tokens and, drawn independently of them, their negatives.

    Attributes:
        values: W_V x of each type, integers (d_o = 1).
        keys: W_K x of each type.
        weights: Probabilities of the types, up to a factor.
        others: W_V of the negatives' types.
        chances: Their probabilities, up to a factor.
        n: N.
        negatives: K.
    """

    values: tuple[int, ...]
    keys: tuple[int, ...]
    weights: tuple[int, ...]
    others: tuple[int, ...]
    chances: tuple[int, ...]
    n: int
    negatives: int

    @cached_property
    def joint(self) -> Population:
        """One type for each token with its negatives."""
        types = range(len(self.values))
        draws = list(product(range(len(self.others)), repeat=self.negatives))
        values, keys, weights = [], [], []
        for i, drawn in product(types, draws):
            mean = Fraction(sum(self.others[j] for j in drawn), self.negatives)
            values.append((self.values[i] - mean,))
            keys.append((self.keys[i],))
            weight = self.weights[i]
            for j in drawn:
                weight *= self.chances[j]
            weights.append(weight)
        return Population(
            tuple(values),
            tuple(keys),
            tuple(weights),
            self.n,
            length=2,
            negatives=self.negatives,
        )

    @property
    def at(self) -> dict[sp.Symbol, sp.Rational]:
        """Values of the symbols of the claimed mean."""
        q = [Fraction(x, sum(self.chances)) for x in self.chances]
        mu = tokens.dot(q, self.others)
        spread = tokens.dot(q, [(x - mu) ** 2 for x in self.others])
        centred = Population(
            tuple((x - mu,) for x in self.values),
            tuple((k,) for k in self.keys),
            self.weights,
            self.n,
        )
        p = centred.chances
        kernel = [centred.kernel[i][i] for i in range(len(p))]
        known = {
            S2: tokens.dot(p, [centred.gram[i][i] for i in range(len(p))]),
            M2: centred.form(p, p),
            tau2: spread,
            kappa2: tokens.dot(p, kernel),
        }
        return {name: rational(x) for name, x in known.items()} | self.joint.at()


PINNED = (
    Pool((1, -1), (1, -1), (1, 1), (1, -1), (1, 1), 1, 2),
    Pool((2, -1), (1, 0), (2, 1), (2, -1), (1, 2), 2, 2),
    Pool((0, 0), (1, 0), (1, 1), (2, -1), (1, 2), 1, 3),
)


def record(claim: Claim, pool: Pool) -> dict[str, Any]:
    """The mean square gap over all samples, unequal to the claimed one."""
    return {
        "kind": "formula",
        "says": f"N = {pool.n}, K = {pool.negatives}: the mean square of the gap is "
        "not the claimed one",
        "inputs": {},
        "relation": [
            "!=",
            mean_of(UNIFORM, pool.joint),
            tree(claim.mean.subs(pool.at), {}),
        ],
    }


def contradicts(claim: Claim, pool: Pool) -> bool:
    """Whether the exact mean square differs from the claimed one."""
    return decide(record(claim, pool)).valid is True


def first_contradiction(claim: Claim) -> Outcome:
    """Refute with the first pinned pool that contradicts, if one does."""
    for pool in PINNED:
        if contradicts(claim, pool):
            found = record(claim, pool)
            return Refuted(str(found["says"]), witness=found)
    return Inconclusive("no proof, and no pool contradicts", cause=Cause.NO_PROOF)


def hunt(claim: Claim, search: Search) -> Outcome:
    """Search small pools; every sample is enumerated."""
    from hypothesis import strategies as st

    def two(low: int, high: int) -> Any:
        return st.tuples(*[st.integers(low, high)] * 2)

    pools = st.builds(
        Pool,
        two(-3, 3),
        two(-1, 1),
        two(1, 5),
        two(-3, 3),
        two(1, 5),
        st.just(1),
        st.integers(1, 3),
    ) | st.builds(
        Pool,
        two(-3, 3),
        two(-1, 1),
        two(1, 5),
        two(-3, 3),
        two(1, 5),
        st.just(2),
        st.integers(1, 2),
    )
    return search.for_all(
        pools,
        lambda pool: contradicts(claim, pool),
        lambda pool: record(claim, pool),
        searched="2 types of tokens, 2 of negatives, N ≤ 2, K ≤ 3",
        pinned=PINNED,
        scale=0.05,
    )


def twice_as_long() -> str:
    """Values less the mean of their negatives are at most 2ρ long."""
    return equal(
        "‖W_V x - mean W_V x_ij‖ ≤ 2ρ: range 4ρ² and twice of everything below",
        2 * rho * rho - (-2 * rho * rho),
        2 * RANGE + 0 * root_log(1),
    )


def failing_coin(claim: Claim, coins: tuple[Population, ...]) -> Outcome:
    """Refute with the first population whose failures are likelier than δ."""
    for population in coins:
        found = tokens.table(population)
        bound = tokens.bounds(claim.bound, population, found)
        if tokens.quantile(population, found, bound) > 1 + tokens.GUARD:
            record_ = tokens.failure(claim, population)
            return Refuted(str(record_["says"]), witness=record_)
    return Inconclusive("no proof, and no coin fails", cause=Cause.NO_PROOF)
