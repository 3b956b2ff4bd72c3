"""Example 1: four texts of a small grammar and their partial orders.

Huang, Liang and Yang (NeurIPS 2024), Example 1: tokens S, V, O, P (subject, verb,
object, punctuation), training data {SVOP, VOP, OPP, PSV}. The collocation is S → V → O
→ P → S, and the orders are

    S >_S P,    V >_V S,    O >_O S and O >_O V,    O >_P P.

Deviations from the text:
    1. The samples are the proper prefixes of the texts with their next token. OPP as a
       whole has no next token; with query P its order would lack one.
    2. The text does not count the samples; their number, frequencies and greatest
       length follow from it.
Not decided here: what is learnt from these data (Example 2).
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from sympy import Integer, Rational

from theorems.huang2024 import PAPER
from theorems.huang2024.data.assumptions import violations
from theorems.huang2024.data.dataset import EXAMPLE_1, Dataset, from_texts
from theorems.huang2024.data.literal import Relation, record
from theorems.huang2024.definition_1_partial_order import CLAIM as DEFINITION
from verify import Claim, Holds, Kind, Mutant, Outcome, Refuted, Wording, check
from verify.search import Search

TOKENS = "SVOP"
TEXTS = ("SVOP", "VOP", "OPP", "PSV")

CLAIM = Claim(
    id="huang2024/example-1",
    kind=Kind.EXAMPLE,
    title="orders of four texts",
    says=(
        "The texts SVOP, VOP, OPP and PSV give nine samples of frequency 1/9, the "
        "longest of three tokens, and the orders S > P under S, V > S under V, O > S "
        "and O > V under O, O > P under P; they satisfy Assumptions 1 and 3."
    ),
    latex=r"S >_S P, \quad V >_V S, \quad O >_O S,\; O >_O V, \quad O >_P P",
    quantifiers="for these four texts",
    source=PAPER.at("Example 1"),
    wording=Wording.PRINTED,
    parameters={
        "samples": Integer(9),
        "frequency": Rational(1, 9),
        "longest": Integer(3),
        "order_S": "S>P",
        "order_V": "V>S",
        "order_O": "O>S O>V",
        "order_P": "O>P",
    },
    mutants=(
        Mutant(
            "order under S reversed", why="PS is followed by V = n(S)", order_S="P>S"
        ),
        Mutant(
            "no order under V",
            why="it stems from SV, whose last token counts",
            order_V="",
        ),
        Mutant("O above V only", why="SVO holds S as well", order_O="O>V"),
        Mutant(
            "transitive across queries",
            why="V > S holds under query V, not under O",
            order_O="O>S O>V V>S",
        ),
        Mutant(
            "whole texts as samples",
            why="SVOP ends in P but has no next token",
            order_P="O>P O>S O>V",
        ),
        Mutant(
            "thirteen samples", why="whole texts are no samples", samples=Integer(13)
        ),
        Mutant(
            "one sample in each text counted",
            why="each of the nine prefixes is a sample",
            frequency=Rational(1, 4),
        ),
        Mutant("longest text", why="SVOP itself is no sample", longest=Integer(4)),
    ),
)


def orders(claim: Claim) -> dict[int, frozenset[tuple[int, int]]]:
    """The orders that the claim states, by query."""
    return {
        TOKENS.index(query): frozenset(
            (TOKENS.index(pair[0]), TOKENS.index(pair[2]))
            for pair in getattr(claim, f"order_{query}").split()
        )
        for query in TOKENS
    }


def mistake(claim: Claim, dataset: Dataset, names: tuple[int, ...]) -> dict | None:
    """A stated value that the dataset, whose tokens have other names, does not have."""
    numbers: dict[str, tuple[Any, Any]] = {
        "number of samples": (dataset.N, claim.samples),
        "length of the longest sample": (dataset.max_length, claim.longest),
        "least frequency": (min(dataset.frequencies), claim.frequency),
        "largest frequency": (max(dataset.frequencies), claim.frequency),
        "violated assumptions": (len(violations(dataset)), 0),
    }
    for says, (found, stated) in numbers.items():
        if found != stated:
            inputs = {"found": str(found), "stated": str(stated)}
            return record(says, inputs, "!=", ["in", "found"], ["in", "stated"])
    literal = Relation(DEFINITION, dataset)
    for query, stated in orders(claim).items():
        renamed = frozenset((names[x], names[other]) for x, other in stated)
        for x, other in sorted(renamed ^ literal.order(names[query])):
            says = f"whether one token is above another under query {TOKENS[query]}"
            tree = literal.greater(names[query], x, other)
            return record(says, {}, "!=", tree, int((x, other) in renamed))
    return None


@check(CLAIM, grade="certified", scope="all")
def as_worked_out(claim: Claim) -> Outcome:
    """Cut the texts into samples and compare every value, in exact arithmetic."""
    witness = mistake(claim, EXAMPLE_1, tuple(range(4)))
    if witness:
        return Refuted(f"not so: {witness['says']}", witness=witness)
    return Holds("nine samples and four orders as stated", n=1)


@st.composite
def renamed_texts(draw: st.DrawFn) -> tuple[Dataset, tuple[int, ...]]:
    """The same texts, in another order and with other names of the tokens."""
    names = tuple(draw(st.permutations(range(4))))
    n = dict(zip(names, (*names[1:], names[0]), strict=True))
    texts = draw(st.permutations(TEXTS))
    cut = [[names[TOKENS.index(token)] for token in text] for text in texts]
    return from_texts(4, [n[x] for x in range(4)], cut), names


@check(
    CLAIM, grade="property", scope="all names of the four tokens, any order of texts"
)
def names_do_not_matter(claim: Claim, search: Search) -> Outcome:
    """Rename the tokens and shuffle the texts: the values are those of the example."""
    return search.for_all(
        renamed_texts(),
        lambda instance: mistake(claim, *instance) is not None,
        lambda instance: mistake(claim, *instance) or {},
        searched="permutations of tokens and of texts",
    )
