"""Definition 1: query-dependent partial orders, and the types of tokens.

Huang, Liang and Yang (NeurIPS 2024), Definition 1 and the four types of Section 4.

Let D_0^q be the training samples with last token q. Then

    x >_q x'  if some X = [x_1 .. x_L] in D_0^q contains x and x'
              and n(x) = x_{L+1} ≠ n(x').

A token is optimal if it is above some token and below none, non-optimal if below some
and above none, confused if both, non-comparable if neither.

Deviations from the text:
    1. As printed, a token that is neither above nor below any other is optimal,
       non-optimal and non-comparable at once. The text wants disjoint types and says
       "strict", which is taken to mean: without the non-comparable tokens.
    2. Samples are prefixes with their next token, the query counts as a token of its
       sample: only so is V >_V S in Example 1.
    3. "Well defined" (irreflexive and transitive) follows from "no confused tokens":
       a single sample never says x > x, and x > x' > x'' makes x' confused. It is no
       separate demand.
Not decided here: whether data have confused tokens (assumption_1_realizable.py).
"""

from __future__ import annotations

from hypothesis import strategies as st
from sympy import And, Integer, Not, Or, Xor, false, to_nnf, true

from theorems.huang2024 import PAPER
from theorems.huang2024.data.assumptions import OF_DATA
from theorems.huang2024.data.dataset import Dataset, from_texts
from theorems.huang2024.data.literal import (
    TYPES,
    Relation,
    above,
    below,
    boolean,
    either,
    equal,
    follows,
    other_follows,
    other_seen,
    record,
    seen,
    truth_table,
    value,
)
from theorems.huang2024.data.strategies import datasets, violating_datasets
from verify import (
    Anchor,
    Claim,
    Holds,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
    refuted,
)
from verify.search import Search

GREATER = And(seen, other_seen, follows, Not(other_follows))

ONE_SAMPLE = "the laws are about one sample, whatever its tokens and its query"

CLAIM = Claim(
    id="huang2024/definition-1",
    kind=Kind.DEFINITION,
    title="query-dependent partial orders",
    says=(
        "A token is greater than another under a query when a sample with that query "
        "contains both and is followed by the successor of the first and not of the "
        "second; this never contradicts itself within a sample, and sorts all tokens "
        "into four disjoint types."
    ),
    latex=(
        r"x >_{x_q} x' \iff \exists\, X = [x_1, \ldots, x_L] \in D_0^{x_q} : "
        r"x, x' \in X, \; n(x) = x_{L+1} \ne n(x')"
    ),
    quantifiers="for all finite V, all n: V → V, all samples, all queries",
    source=PAPER.at("Definition 1", "and the four types of Section 4"),
    wording=Wording.PRINTED,
    parameters={
        "greater": GREATER,
        "left_out": Integer(0),
        "per_query": true,
        "optimal": And(above, Not(below)),
        "non_optimal": And(below, Not(above)),
        "confused": And(above, below),
        "non_comparable": And(Not(above), Not(below)),
    },
    mutants=(
        Mutant(
            "all but the last token",
            why="the query is a token of its own sample: V >_V S in Example 1",
            left_out=Integer(1),
            blind={"laws_of_the_order": ONE_SAMPLE},
        ),
        Mutant(
            "samples of every query",
            why="the orders depend on the query",
            per_query=false,
            blind={"laws_of_the_order": ONE_SAMPLE},
        ),
        Mutant(
            "not strict",
            why="then x > x for every token that the label follows",
            greater=And(seen, other_seen, follows),
        ),
        Mutant(
            "label ignored",
            why="then one sample says x > x' and x' > x",
            greater=And(seen, other_seen),
        ),
        Mutant(
            "smaller instead of greater",
            why="the greater token is the one that the label follows",
            greater=And(seen, other_seen, other_follows, Not(follows)),
        ),
        Mutant(
            "the smaller token need not occur",
            why="tokens outside a sample are not compared by it",
            greater=And(seen, follows, Not(other_follows)),
        ),
        Mutant(
            "optimal as printed",
            why="non-comparable tokens are then optimal too; the types overlap",
            optimal=Not(below),
        ),
        Mutant(
            "confused tokens optimal",
            why="a confused token is below another",
            optimal=above,
        ),
    ),
)


def laws(claim: Claim) -> dict[str, object]:
    """What the text says of the relation within one sample, and of the types."""
    greater = claim.greater
    swapped = greater.xreplace({
        seen: other_seen,
        other_seen: seen,
        follows: other_follows,
        other_follows: follows,
    })
    itself = greater.xreplace({other_seen: seen, other_follows: follows})
    types = [getattr(claim, name) for name in TYPES]
    pairs = [(a, b) for i, a in enumerate(types) for b in types[:i]]
    return {
        "no token is greater than itself": Not(itself),
        "no two tokens are greater than each other": Not(And(greater, swapped)),
        "both tokens stand in the sample": Or(Not(greater), And(seen, other_seen)),
        "the greater one is followed by the label": Or(Not(greater), follows),
        "the smaller one is not": Or(Not(greater), Not(other_follows)),
        "all such tokens are compared": Or(
            greater, Not(And(seen, other_seen, follows, Not(other_follows)))
        ),
        "every token has a type": Or(*types),
        "no token has two types": Not(Or(*(And(a, b) for a, b in pairs))),
        "a token in the middle of a chain is confused": Or(
            Not(And(above, below)), claim.confused
        ),
    }


@check(CLAIM, grade="symbolic", scope="all")
def laws_of_the_order(claim: Claim) -> Outcome:
    """Prove each law by the truth table of its atoms.

    A law about one sample has four atoms: whether x and x' stand in it, and whether
    the label follows each. A type has two: above some token, below some token. The last
    law makes an order without confused tokens transitive, since it has no chain.
    """
    steps = []
    for says, law in laws(claim).items():
        atoms = sorted(law.free_symbols, key=str)
        for truth in truth_table(atoms):
            if value(boolean(law, truth)) == 0:
                inputs = {atom.name: bit for atom, bit in truth.items()}
                names = {atom: ["in", atom.name] for atom in atoms}
                broken = record(f"not so: {says}", inputs, "==", boolean(law, names), 0)
                return Refuted(f"not so: {says}", witness=broken)
        steps.append(f"{says}: true in all {2 ** len(atoms)} cases")
    return Holds("every law is a tautology", steps=steps)


ANY_DATA = st.one_of(
    datasets(injective=None, max_size=4, max_length=5),
    datasets(kind="prefixes", injective=None, max_size=4, max_length=5),
    *(violating_datasets(part, injective=None, max_size=4) for part in OF_DATA),
)


def difference(claim: Claim, dataset: Dataset) -> dict | None:
    """A pair or a token that the claim's formulas and the dataset sort differently."""
    literal = Relation(claim, dataset)
    for query in dataset.queries:
        order = dataset.order(query)
        for x, other in sorted(literal.order(query) ^ order):
            says = f"whether {x} > {other} under query {query}, of {dataset}"
            tree = literal.greater(query, x, other)
            return record(says, {}, "!=", tree, int((x, other) in order))
        types = dataset.types(query)
        for name, ours in literal.types(query).items():
            for x in sorted(ours ^ getattr(types, name)):
                says = f"whether {x} is {name} under query {query}, of {dataset}"
                tree = literal.type_of(name, query, x)
                return record(says, {}, "!=", tree, int(x not in ours))
    return None


@check(CLAIM, grade="property", scope="datasets of any kind, |V| ≤ 4, L_max ≤ 6")
def agrees_with_a_literal_reading(claim: Claim, search: Search) -> Outcome:
    """Compare orders and types, used everywhere else, with the formulas word by word.

    Data may violate any assumption: a definition must also say what is wrong with them.
    """
    return search.for_all(
        ANY_DATA,
        lambda dataset: difference(claim, dataset) is not None,
        lambda dataset: difference(claim, dataset) or {},
        searched="sentences and prefixes, with and without violated assumptions",
        scale=0.5,
    )


# ------------------------------------------------- what Section 6 recalls of the types

MIXED = "samples with a token that the label does not follow"
EVERY = "all samples"

ABSENT = Claim(
    id="huang2024/definition-1/absent",
    kind=Kind.PROOF_STEP,
    title="non-comparable tokens are absent",
    says=(
        "Non-comparable tokens under a query never appear in any training sentence "
        "with that query."
    ),
    latex=r"x \in M_{x_q} \implies x \notin X \text{ for all } X \in D_0^{x_q}",
    quantifiers="for all data that satisfy Assumptions 1 and 3, all queries",
    source=PAPER.at("Definition 1", "recalled in Section 6, after Proposition 2"),
    wording=Wording.PRINTED,
    domain=EVERY,
    parameters={"absent": "non_comparable"},
    anchors=(
        Anchor(
            MIXED,
            why="such a sample puts each of its tokens above or below another",
            domain=MIXED,
        ),
    ),
    mutants=(
        Mutant(
            "non-optimal tokens are absent",
            why="they are below a token of the same sample",
            absent="non_optimal",
        ),
        Mutant(
            "optimal tokens are absent",
            why="the label follows one of them in every such sample",
            absent="optimal",
        ),
    ),
    finding=refuted(
        "a sample whose tokens are all followed by its label compares none of them: "
        "the texts ab and ba make a appear with query a, and no order there"
    ),
    nearest="huang2024/definition-1/comparable",
    pinned=(from_texts(2, (1, 0), [(0, 1), (1, 0)]),),
)


def occurring(claim: Claim, dataset: Dataset) -> dict | None:
    """A token of the type in question that stands in a sample of the claim's domain."""
    literal = Relation(CLAIM, dataset)
    n = dataset.successor
    for sentence, label in zip(dataset.sentences, dataset.labels, strict=True):
        if claim.domain == MIXED and all(n[x] == label for x in sentence):
            continue
        query = sentence[-1]
        known = getattr(dataset.types(query), claim.absent)
        for x in sorted(known.intersection(sentence)):
            stands = either(equal(x, token) for token in sentence)
            both = ["mul", stands, literal.type_of(claim.absent, query, x)]
            words = claim.absent.replace("_", "-")
            says = f"{x} is {words} under query {query} and stands in {sentence}"
            return record(says, {}, "==", both, 1)
    return None


VALID = st.one_of(
    datasets(injective=None, max_size=4, max_length=5),
    datasets(kind="prefixes", injective=None, max_size=4, max_length=5),
)


@check(ABSENT, grade="property", scope="sentences and prefixes, |V| ≤ 4, L_max ≤ 5")
def no_such_token_occurs(claim: Claim, search: Search) -> Outcome:
    """Look for a token of the type in the samples of its query."""
    return search.for_all(
        VALID,
        lambda dataset: occurring(claim, dataset) is not None,
        lambda dataset: occurring(claim, dataset) or {},
        searched="data that satisfy Assumptions 1 and 3",
        pinned=claim.pinned,
    )


COMPARABLE = Claim(
    id="huang2024/definition-1/comparable",
    kind=Kind.PROOF_STEP,
    title="which tokens are comparable",
    says=(
        "A token is comparable under a query exactly when it stands in a sample with "
        "that query in which some tokens are followed by the label and some are not."
    ),
    latex=(
        r"x \notin M_{x_q} \iff \exists\, X \in D_0^{x_q},\; x, x' \in X : "
        r"[n(x) = x_{L+1}] \ne [n(x') = x_{L+1}]"
    ),
    quantifiers="for all samples, all queries, with or without the assumptions",
    source=PAPER.at("Definition 1", "repair of what Section 6 recalls"),
    wording=Wording.OURS,
    parameters={"apart": And(seen, other_seen, Xor(follows, other_follows))},
    mutants=(
        Mutant(
            "every token of a sample",
            why="tokens that are all followed by the label are not compared",
            apart=And(seen, other_seen),
        ),
        Mutant(
            "only tokens that the label follows",
            why="the others are below these",
            apart=And(seen, other_seen, follows, Not(other_follows)),
        ),
        Mutant(
            "the other token need not occur",
            why="a sample compares its own tokens",
            apart=And(seen, Xor(follows, other_follows)),
        ),
    ),
)


@check(COMPARABLE, grade="symbolic", scope="all")
def compared_exactly_when_apart(claim: Claim) -> Outcome:
    """Prove by truth table that a sample compares two tokens exactly when told apart.

    A token is comparable if some sample compares it with some token; both sides of the
    claim are this disjunction over samples and tokens.
    """
    atoms = (seen, other_seen, follows, other_follows)
    reverse = dict(zip(atoms, (other_seen, seen, other_follows, follows), strict=True))
    compared = Or(GREATER, GREATER.xreplace(reverse))
    apart = to_nnf(claim.apart)
    for truth in truth_table(atoms):
        if value(boolean(compared, truth)) != value(boolean(apart, truth)):
            names = {atom: ["in", atom.name] for atom in atoms}
            sides = (boolean(compared, names), boolean(apart, names))
            inputs = {atom.name: bit for atom, bit in truth.items()}
            says = "compared is not the same as told apart"
            return Refuted(says, witness=record(says, inputs, "!=", *sides))
    return Holds("equal in all 16 cases", steps=["truth table of four atoms"])


def misjudged(claim: Claim, dataset: Dataset) -> dict | None:
    """A token that is comparable and not told apart from any, or the reverse."""
    literal = Relation(CLAIM, dataset)
    told = Relation(CLAIM.at(greater=to_nnf(claim.apart)), dataset)
    tokens = range(dataset.size)
    for query in dataset.queries:
        apart = {x for x, _ in told.order(query)}
        free = literal.types(query)["non_comparable"]
        for x in sorted(frozenset(tokens) ^ apart ^ free):
            says = f"{x} under query {query}, of {dataset}"
            some = either(told.greater(query, x, other) for other in tokens)
            none = literal.type_of("non_comparable", query, x)
            return record(says, {}, "==", some, none)
    return None


@check(COMPARABLE, grade="property", scope="datasets of any kind, |V| ≤ 4, L_max ≤ 6")
def comparable_tokens_are_told_apart(claim: Claim, search: Search) -> Outcome:
    """Compare both sides for every token and query of a dataset."""
    return search.for_all(
        ANY_DATA,
        lambda dataset: misjudged(claim, dataset) is not None,
        lambda dataset: misjudged(claim, dataset) or {},
        searched="sentences and prefixes, with and without violated assumptions",
        scale=0.5,
    )
