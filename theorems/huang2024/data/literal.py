"""Definition 1 written out literally, for truth values and for witnesses.

Every predicate about tokens is an expression over integers that is 0 or 1, kept as a
JSON tree: it is decided here and again by whoever rechecks a witness. Two integers are
equal when max(0, 1 - |a - b|) is 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import sympy as sp

from theorems.huang2024.data.dataset import Dataset, Pair, Sentence
from verify.claim import Claim

seen, other_seen = sp.symbols("seen other_seen")
follows, other_follows = sp.symbols("follows other_follows")
above, below = sp.symbols("above below")

Tree = Any
ATOMS = (seen, other_seen, follows, other_follows)
TYPES = ("optimal", "non_optimal", "confused", "non_comparable")


def equal(a: Tree, b: Tree) -> Tree:
    """Whether two integers are equal: 1 or 0."""
    return ["max", 0, ["sub", 1, ["abs", ["sub", a, b]]]]


def either(truths: Iterable[Tree]) -> Tree:
    """Whether one of them is 1."""
    return ["max", 0, *truths]


def boolean(formula: sp.Basic, leaves: Mapping[sp.Symbol, Tree]) -> Tree:
    """A formula of propositional logic as arithmetic on 0 and 1."""
    if formula in leaves:
        return leaves[formula]
    parts = [boolean(part, leaves) for part in formula.args]
    match formula:
        case sp.Not():
            return ["sub", 1, parts[0]]
        case sp.And():
            return ["mul", *parts]
        case sp.Or():
            return either(parts)
    if formula in {sp.true, sp.false}:
        return int(formula == sp.true)
    raise TypeError(f"no arithmetic for {formula}: write it with And, Or and Not")


def value(tree: Tree) -> int:
    """The value of a tree of integers."""
    if not isinstance(tree, list):
        return int(tree)
    op, *parts = tree
    numbers = [value(part) for part in parts]
    if op == "sub":
        return numbers[0] - numbers[1]
    if op == "mul":
        return int(all(numbers))
    return {"abs": lambda xs: abs(xs[0]), "max": max, "add": sum}[op](numbers)


@lru_cache(maxsize=256)
def compiled(formula: sp.Basic, atoms: tuple[sp.Symbol, ...]) -> frozenset[tuple]:
    """The assignments of 0 and 1 to the atoms, in their order, that make it true."""
    return frozenset(
        tuple(truth.values())
        for truth in truth_table(atoms)
        if value(boolean(formula, truth))
    )


class Relation:
    """The relation and the types of a claim's own formulas on one dataset.

    Args:
        claim: With parameters ``greater`` (in ``seen``, ``other_seen``, ``follows`` and
            ``other_follows``), ``left_out`` (how many last tokens do not count),
            ``per_query`` (whether only samples of the query count) and the four types
            (in ``above`` and ``below``).
        dataset: Any dataset.
    """

    def __init__(self, claim: Claim, dataset: Dataset) -> None:
        self.claim = claim
        self.dataset = dataset

    def samples(self, query: int) -> Iterator[tuple[Sentence, int]]:
        """The samples that count for a query, without the tokens that do not."""
        dataset, left_out = self.dataset, int(self.claim.left_out)
        for sentence, label in zip(dataset.sentences, dataset.labels, strict=True):
            if sentence[-1] == query or self.claim.per_query is sp.false:
                yield sentence[: len(sentence) - left_out], label

    def order(self, query: int) -> frozenset[Pair]:
        """The pairs (x, x') with x greater than x'."""
        true_at = compiled(self.claim.greater, ATOMS)
        n, tokens = self.dataset.successor, range(self.dataset.size)
        return frozenset(
            (x, other)
            for sentence, label in self.samples(query)
            for x in tokens
            for other in tokens
            if (
                int(x in sentence),
                int(other in sentence),
                int(n[x] == label),
                int(n[other] == label),
            )
            in true_at
        )

    def types(self, query: int) -> dict[str, frozenset[int]]:
        """The tokens of each type, by name."""
        order = self.order(query)
        upper, lower = {x for x, _ in order}, {x for _, x in order}
        return {
            name: frozenset(
                x
                for x in range(self.dataset.size)
                if (int(x in upper), int(x in lower))
                in compiled(getattr(self.claim, name), (above, below))
            )
            for name in TYPES
        }

    def greater(self, query: int, x: int, other: int) -> Tree:
        """Whether some sample of the query makes x greater, for witnesses."""
        n = self.dataset.successor
        return either(
            boolean(
                self.claim.greater,
                {
                    seen: either(equal(x, token) for token in tokens),
                    other_seen: either(equal(other, token) for token in tokens),
                    follows: equal(n[x], label),
                    other_follows: equal(n[other], label),
                },
            )
            for tokens, label in self.samples(query)
        )

    def type_of(self, name: str, query: int, x: int) -> Tree:
        """Whether a token is of the type of that name, for witnesses."""
        tokens = range(self.dataset.size)
        return boolean(
            getattr(self.claim, name),
            {
                above: either(self.greater(query, x, other) for other in tokens),
                below: either(self.greater(query, other, x) for other in tokens),
            },
        )


def truth_table(atoms: Iterable[sp.Symbol]) -> Iterable[dict[sp.Symbol, int]]:
    """All assignments of 0 and 1, in the order of the binary numbers."""
    names = list(atoms)
    for bits in range(2 ** len(names)):
        yield {name: bits >> i & 1 for i, name in enumerate(names)}


def record(says: str, inputs: Mapping[str, Any], *relation: Tree) -> dict[str, Any]:
    """A witness of kind ``formula``."""
    return {
        "kind": "formula",
        "says": says,
        "inputs": dict(inputs),
        "relation": list(relation),
    }
