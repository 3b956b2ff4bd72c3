"""Mutants are hunted for longer than the claim, so that no seed lets one survive."""

from dataclasses import replace

import hypothesis.strategies as st
import pytest

from verify import Claim, Mutant, Paper, check
from verify.judge import Bench, judge
from verify.profiles import profile

PAPER = Paper("toy", "A toy paper")
RARE = 16  # one instance in so many tells the mutant from the claim
SMOKE = profile("smoke")


def claim(blind=()):
    return Claim(
        id="toy/lemma-1",
        says="No number is odd.",
        source=PAPER.at("Lemma 1"),
        parameters={"odd": 0},
        mutants=(
            Mutant("one is", why="it is not", odd=1, blind=dict.fromkeys(blind, "it")),
            Mutant("all are", why="none is", odd=2),
        ),
    )


def hunt(judged):
    """A check that sees few instances, and counts them by claim."""

    def look(claim, search):
        def violated(number):
            judged[claim.odd] = judged.get(claim.odd, 0) + 1
            return claim.odd == 2 or (bool(claim.odd) and number % RARE == 3)

        def witness(number):
            return {
                "kind": "formula",
                "says": "an odd number",
                "inputs": {"number": number},
                "relation": ["!=", ["in", "number"], -1],
            }

        return search.for_all(
            st.integers(0, 10**6),
            violated,
            witness,
            searched="numbers",
            scale=0.2,
        )

    return check(claim(), grade="property", scope="numbers")(look)


@pytest.mark.parametrize("seed", range(20))
def test_a_rare_counterexample_is_found_at_every_seed(seed):
    # 600 examples miss it with probability (15/16)^600 < 1e-16.
    made = hunt({})
    assert judge(Bench(SMOKE, root_seed=seed), made, claim(), "node").broken == ""


def test_the_claim_itself_keeps_its_budget():
    judged = {}
    judge(Bench(SMOKE), hunt(judged), claim(), "node")
    assert judged[0] == 2 * 5  # decided twice, a fifth of 25 examples each
    assert judged[2] <= 2  # and replayed once


def test_a_blind_cell_is_not_hunted_for_longer():
    judged = {}
    made = hunt(judged)
    wanted = claim(blind=[made.name])
    judge(Bench(replace(SMOKE, examples=5)), made, wanted, "node")
    assert judged[1] <= 1
