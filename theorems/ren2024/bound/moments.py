"""Means over all samples of a small population: uniform gap and excess."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from theorems.ren2024.bound.hunts import populations
from theorems.ren2024.bound.notation import M2, S2
from theorems.ren2024.bound.steps import rational
from theorems.ren2024.bound.tokens import (
    Population,
    dot,
    excess,
    likelihood,
    samples,
    text,
)
from verify import Cause, Claim, Inconclusive, Outcome, Refuted
from verify.recheck import decide
from verify.search import Search
from verify.symbolic import tree

UNIFORM, EXCESS = sp.symbols("uniform_square excess")
"""What a mean is taken of: sup_f |L - L̂|², where = is claimed, or L(f̂) - L(f*), ≤."""


def moments(population: Population) -> dict[sp.Symbol, Fraction]:
    """S2 = E‖v‖²K(x, x) and M2 = ‖M‖²."""
    p = population.chances
    diagonal = [population.gram[i][i] for i in range(len(p))]
    return {S2: dot(p, diagonal), M2: population.form(p, p)}


def uniform_square(population: Population, counts: tuple[int, ...]) -> Fraction:
    """sup_f |L - L̂|² = w²‖M̂ - M‖² on one sample."""
    pairs = zip(counts, population.chances, strict=True)
    off = [Fraction(k, population.n) - p for k, p in pairs]
    return population.radius**2 * population.form(off, off)


def mean_of(what: sp.Symbol, population: Population) -> list[Any]:
    """The mean over all samples, as a tree.

    A sample with M̂ = 0 leaves f̂ open; it counts with the least excess, 0.
    """
    terms: list[Any] = []
    for counts in samples(len(population.weights), population.n):
        share = [Fraction(k, population.n) for k in counts]
        if what == UNIFORM:
            value: Any = text(uniform_square(population, counts))
        elif population.form(share, share):
            value = excess(population, counts)
        else:
            continue
        terms.append(["mul", text(likelihood(population, counts)), value])
    return ["add", 0, *terms]


def record(claim: Claim, population: Population) -> dict[str, Any]:
    """The mean over all samples against the claimed expression, as a contradiction."""
    relation = "!=" if claim.of == UNIFORM else ">"
    known = {name: rational(x) for name, x in moments(population).items()}
    claimed = claim.mean.subs(population.at() | known)
    return {
        "kind": "formula",
        "says": f"N = {population.n}: the mean over all samples {relation} what is "
        "claimed",
        "inputs": {},
        "relation": [relation, mean_of(claim.of, population), tree(claimed, {})],
    }


def contradicts(claim: Claim, population: Population) -> bool:
    """Whether the mean over all samples contradicts the claim."""
    return decide(record(claim, population)).valid is True


def first_contradiction(claim: Claim, pinned: tuple[Population, ...]) -> Outcome:
    """Refute with the first population that contradicts, if one does."""
    for population in pinned:
        if contradicts(claim, population):
            found = record(claim, population)
            return Refuted(str(found["says"]), witness=found)
    return Inconclusive("no proof, and no population fails", cause=Cause.NO_PROOF)


def hunt(claim: Claim, search: Search, pinned: tuple[Population, ...]) -> Outcome:
    """Search small populations; every sample is enumerated."""

    def violated(population: Population) -> bool:
        if not moments(population)[M2]:
            search.discard("M = 0")
        return contradicts(claim, population)

    return search.for_all(
        populations((1, 6)),
        violated,
        lambda population: record(claim, population),
        searched="2 or 3 types of tokens, integer values and keys, N ≤ 6",
        pinned=pinned,
        scale=0.1,
    )


def growth(population: Population, exponent: sp.Expr, times: int) -> dict[str, Any]:
    """The mean square gap at ``times`` as many demonstrations, times^{2 exponent}.

    Args:
        population: A population with sample size n.
        exponent: Claimed exponent of the root mean square.
        times: Factor of the sample size.

    Returns:
        The record that this is not the mean square gap at n.
    """
    more = Population(
        population.values, population.keys, population.weights, times * population.n
    )
    grown = ["mul", mean_of(UNIFORM, more), ["pow", times, tree(2 * exponent, {})]]
    return {
        "kind": "formula",
        "says": f"{times} times the demonstrations: the mean square gap does not fall "
        f"like N^-{2 * exponent}",
        "inputs": {},
        "relation": ["!=", grown, mean_of(UNIFORM, population)],
    }
