"""Assumption 3: optimal tokens are not outnumbered.

Huang, Liang and Yang (NeurIPS 2024), Assumption 3: for every sample X^(n) and every
non-optimal token x in it,

    |l^(n)| ≥ Σ_l 1{x_l = x}.

What it is for: at W_kq = 0 attention is uniform, and the assumption says that no
non-optimal token has more weight than all optimal ones together. This is the first step
of the induction in the proof of Lemma 5.

Deviations from the text:
    1. In words, "the number of optimal tokens is not less than the number of
       non-optimal tokens", it asks for more than its formula: SVO in Example 1 has one
       optimal token and two others. The formula is used.
    2. Non-optimal are the tokens of a sample that its label does not follow; under
       Assumption 1 they are the non-optimal ones of the order.
Not decided here: whether the weight of the optimal tokens grows from there (Lemma 5).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hypothesis import strategies as st
from sympy import Expr, Integer, Min, Symbol

from theorems.huang2024 import PAPER
from theorems.huang2024.data.assumptions import COUNTS
from theorems.huang2024.data.dataset import EXAMPLE_1, Dataset
from theorems.huang2024.data.strategies import datasets, violating_datasets
from verify import Claim, Kind, Mutant, Outcome, Wording, check
from verify.search import Search
from verify.symbolic import Compiled, Identity, formula

optimal = Symbol("optimal", positive=True, integer=True)
copies = Symbol("copies", positive=True, integer=True)
length = Symbol("length", positive=True, integer=True)

CLAIM = Claim(
    id="huang2024/assumption-3",
    kind=Kind.ASSUMPTION,
    title="optimal tokens are not outnumbered",
    says=(
        "Data in which no non-optimal token stands more often in a sample than all "
        "optimal tokens together exist, and they are those where uniform attention "
        "gives no non-optimal token more weight than all optimal ones."
    ),
    latex=r"|l^{(n)}| \ge \sum_\ell 1\{x_\ell^{(n)} = x\}",
    quantifiers="for all samples X^(n), all non-optimal tokens x in them",
    source=PAPER.at("Assumption 3", "used at t = 0 in the proof of Lemma 5"),
    wording=Wording.PRINTED,
    parameters={"surplus": optimal - copies},
    mutants=(
        Mutant(
            "at least half as many",
            why="one optimal token then has half the weight of two others alike",
            surplus=optimal - copies / 2,
        ),
        Mutant(
            "nothing asked",
            why="a token may then outweigh all optimal ones",
            surplus=optimal,
        ),
        Mutant(
            "all other tokens together",
            why="the words of the text: SVO is turned away though each weight is 1/3",
            surplus=optimal - (length - optimal),
        ),
        Mutant(
            "strictly more",
            why="equal weights are allowed, as in each sample of two tokens",
            surplus=optimal - copies - 1,
        ),
        Mutant(
            "one optimal token",
            why="the optimal tokens are counted together",
            surplus=1 - copies,
        ),
    ),
)

Instance = dict[str, int]


def counts(dataset: Dataset) -> Iterator[Instance]:
    """For each token of each sample that the label does not follow, what is counted."""
    n = dataset.successor
    for i, (sentence, label) in enumerate(
        zip(dataset.sentences, dataset.labels, strict=True)
    ):
        for x, number in sorted(Counter(sentence).items()):
            if n[x] != label:
                yield {
                    "optimal": len(dataset.carriers(i)),
                    "copies": number,
                    "length": len(sentence),
                }


def lead(surplus: Expr) -> Identity:
    """The surplus against L (φ_+ - φ_x) for uniform weights."""
    weights = length * (optimal / length - copies / length)
    return Identity(surplus, weights, says="another difference of weights")


SMALL = (
    {"optimal": 1, "copies": 2, "length": 3},
    {"optimal": 2, "copies": 1, "length": 3},
    *counts(EXAMPLE_1),
)


@check(CLAIM, grade="symbolic", scope="all")
def surplus_is_a_difference_of_weights(claim: Claim) -> Outcome:
    """Prove |l| - Σ 1{x_l = x} = L (φ_+ - φ_x), for any sample and token.

    Both sides then have the same sign. Example 1 satisfies the assumption: its last
    count is the certificate.
    """
    return lead(claim.surplus).decide(SMALL)


@check(CLAIM, grade="property", scope="sentences and prefixes, |V| ≤ 4, L_max ≤ 6")
def says_which_weights_are_least(claim: Claim, search: Search) -> Outcome:
    """Compare the sign of the surplus with uniform weights, sample by sample.

    Datasets that violate the assumption are drawn as well. The witness is a sample
    where surplus and φ_+ - φ_x disagree whether they are negative.
    """
    surplus = Compiled(claim.surplus, "exact")

    def wrong(dataset: Dataset) -> Instance | None:
        return next(
            (
                instance
                for instance in counts(dataset)
                if (surplus(instance) >= 0)
                != (instance["optimal"] >= instance["copies"])
            ),
            None,
        )

    def witness(dataset: Dataset) -> dict:
        found = wrong(dataset) or {}
        high, low = claim.surplus, optimal - copies
        if surplus(found) < 0:
            high, low = low, high
        # Where high >= 0 > low, the lesser of high + 1 and -low is positive.
        says = f"the surplus and the difference of weights disagree in {dataset}"
        return formula(Min(high + 1, -low), ">", Integer(0), found, says)

    return search.for_all(
        st.one_of(
            datasets(injective=None, max_size=4, max_length=5),
            datasets(kind="prefixes", injective=None, max_size=4, max_length=5),
            violating_datasets(COUNTS, injective=None, max_size=4),
        ),
        lambda dataset: wrong(dataset) is not None,
        witness,
        searched="data with a constraint; any n; Assumption 3 violated or not",
        scale=0.5,
    )
