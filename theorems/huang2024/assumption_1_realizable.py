"""Assumption 1: realizable training data.

Huang, Liang and Yang (NeurIPS 2024), Assumption 1: the data D_0 admit (i) a collocation
{x, n(x)}; (ii) well-defined query-dependent partial orders without confused tokens.

What it is for: attention that prefers optimal tokens finds, in every sample, a token
whose successor is the label. With scores 1 for the optimal tokens of the query and 0
for all others, only tokens followed by the label score highest in each sample; so
these scores solve problem (3), and the loss comes arbitrarily close to its least value.

Deviations from the text:
    1. "Admits a collocation" is taken apart: a sample of one token x is followed by
       n(x); a longer one by the successor of one of its tokens. The text uses both to
       "regenerate the training dataset"; it states neither for the longer samples.
    2. Tokens that begin no text need not occur as samples of one token: n is given.
       Such samples have no constraint and no gradient.
    3. Types are those of an order. Where the relation has a cycle it lies in no order;
       it is then not called confused as well.
Not decided here: what training makes of such data.
"""

from __future__ import annotations

from hypothesis import strategies as st
from sympy import And, Implies, Not, Symbol, false, to_nnf, true

from theorems.huang2024 import PAPER
from theorems.huang2024.data.assumptions import REALIZABLE, violations
from theorems.huang2024.data.dataset import EXAMPLE_1, Dataset, normalised
from theorems.huang2024.data.literal import (
    Relation,
    boolean,
    either,
    equal,
    record,
    truth_table,
    value,
)
from theorems.huang2024.data.strategies import datasets, violating_datasets
from theorems.huang2024.definition_1_partial_order import CLAIM as DEFINITION
from verify import (
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Kind,
    Mutant,
    Outcome,
    Refuted,
    Wording,
    check,
)
from verify.search import Search


def _part(name: str) -> str:
    return name.removeprefix("assumption-1/")


CLAIM = Claim(
    id="huang2024/assumption-1",
    kind=Kind.ASSUMPTION,
    title="realizable training data",
    says=(
        "Data with a collocation and orders without confused tokens exist, and in "
        " each of their samples only tokens followed by the label score "
        "highest when the optimal tokens of the query score 1 and all others 0."
    ),
    latex=(
        r"\emptyset \ne \arg\max_{\ell} \, 1\{x_\ell \text{ is optimal under } "
        r">_{x_L}\} \subseteq l^{(n)} \quad \text{for all } n"
    ),
    quantifiers="for all data that satisfy Assumption 1, all samples",
    source=PAPER.at("Assumption 1", "and the remark after it"),
    wording=Wording.DERIVED,
    parameters=dict.fromkeys(map(_part, REALIZABLE), true),
    mutants=(
        Mutant(
            "no collocation",
            why="then a sample [x] may be followed by any token",
            collocation=false,
        ),
        Mutant(
            "labels from nowhere",
            why="then the label may be the successor of no token of the sample",
            carrier=false,
        ),
        Mutant(
            "orders with cycles",
            why="then two samples may ask for opposite attention",
            order=false,
        ),
        Mutant(
            "confused tokens",
            why="then an optimal token of one sample is no optimal token of the order",
            confused=false,
        ),
    ),
)

single, carried, acyclic = map(Symbol, ("single", "carried", "acyclic"))
x_below = Symbol("x_below")
STATEMENT = (single, carried, acyclic, x_below)


def statement(claim: Claim) -> object:
    """The claim about one sample, and about a carrier x and any other token of it.

    By Definition 1 the carrier is above the other token: x is optimal unless it is
    below some token, which would make it confused; the other one is below x and never
    optimal. Without a carrier nothing scores as it should.
    """
    hypotheses = {
        "collocation": Implies(single, carried),
        "carrier": Implies(Not(single), carried),
        "order": acyclic,
        "confused": Implies(acyclic, Not(x_below)),
    }
    asked = [h for name, h in hypotheses.items() if getattr(claim, name) == true]
    return to_nnf(Implies(And(*asked), And(carried, Not(x_below))))


def accepts(claim: Claim, dataset: Dataset) -> bool:
    """Whether the dataset satisfies all parts that the claim asks for."""
    asked = {name for name in REALIZABLE if getattr(claim, _part(name)) == true}
    return not any(fault.assumption in asked for fault in violations(dataset))


def astray(dataset: Dataset) -> dict | None:
    """A token that scores highest in a sample and is not followed by its label."""
    literal, n = Relation(DEFINITION, dataset), dataset.successor
    for sentence, label in zip(dataset.sentences, dataset.labels, strict=True):
        query = sentence[-1]
        optimal = dataset.types(query).optimal
        best = max(x in optimal for x in sentence)
        for x in sorted(set(sentence)):
            if (x in optimal) == best and n[x] != label:
                score = literal.type_of("optimal", query, x)
                scores = (literal.type_of("optimal", query, y) for y in {*sentence})
                top = equal(score, either(scores))
                stray = ["mul", top, ["sub", 1, equal(n[x], label)]]
                says = f"{x} scores highest in {sentence}, followed by {label}"
                return record(f"{says}, of {dataset}", {}, "==", stray, 1)
    return None


def _sentences(labels: dict[tuple[int, ...], int]) -> Dataset:
    frequencies = normalised([1] * len(labels))
    return Dataset(3, (1, 2, 0), tuple(labels), tuple(labels.values()), frequencies)


SMALL = (
    EXAMPLE_1,
    _sentences({(0,): 0}),  # n(0) = 1
    _sentences({(0, 1): 0}),  # n(0), n(1) = 1, 2
    _sentences({(0, 1): 1, (1, 0, 1): 2}),  # 0 > 1 and 1 > 0 under query 1
    _sentences({(0, 1): 1, (2, 1): 2}),  # 0 > 1 > 2 under query 1
)


@check(CLAIM, grade="symbolic", scope="all")
def optimal_tokens_carry_the_label(claim: Claim) -> Outcome:
    """Prove the claim for one sample by the truth table of what may vary in it.

    A sample with a carrier: every carrier is above every other token, so without
    confused tokens carriers are optimal and others are not; if all its tokens are
    carriers nothing is to show. Where the table has a false entry, a small dataset must
    show that it occurs.
    """
    stated = statement(claim)
    for truth in truth_table(STATEMENT):
        if value(boolean(stated, truth)) == 0:
            break
    else:
        return Holds(
            "true in all 16 cases",
            steps=["by Definition 1 a carrier is above every other token of a sample"],
        )
    for dataset in SMALL:
        if accepts(claim, dataset) and (witness := astray(dataset)):
            return Refuted(witness["says"], witness=witness)
    return Inconclusive("a case that no small dataset shows", cause=Cause.NO_PROOF)


@check(CLAIM, grade="property", scope="sentences and prefixes, |V| ≤ 4, L_max ≤ 6")
def no_sample_goes_astray(claim: Claim, search: Search) -> Outcome:
    """Score the tokens of datasets that satisfy what the claim asks for.

    Datasets that violate one part are drawn when the claim does not ask for it.
    """
    free = [part for part in REALIZABLE if getattr(claim, _part(part)) == false]

    def violated(dataset: Dataset) -> bool:
        if not accepts(claim, dataset):
            search.discard("violates a part that is asked for")
        return astray(dataset) is not None

    return search.for_all(
        st.one_of(
            datasets(injective=None, max_size=4, max_length=5),
            datasets(kind="prefixes", injective=None, max_size=4, max_length=5),
            *(violating_datasets(part, injective=None, max_size=4) for part in free),
        ),
        violated,
        lambda dataset: astray(dataset) or {},
        searched="data with a constraint; any n",
    )
