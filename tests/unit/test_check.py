"""Checks, evidence and necessity: what may be declared, and what they are given."""

import dataclasses
import os

import pytest

from verify import (
    Assumption,
    Claim,
    ClaimError,
    Holds,
    Mutant,
    Paper,
    Refuted,
    check,
    evidence,
    necessity,
)
from verify.check import INSTRUMENTS
from verify.judge import Bench, judge
from verify.profiles import profile
from verify.search import Search

TOY = Paper("toy", "A toy paper")
CLAIM = Claim(
    id="toy/lemma-1",
    says="Two and two are four.",
    source=TOY.at("Lemma 1"),
    parameters={"total": 4},
    assumes=(Assumption("whole", "whole numbers"),),
    mutants=(Mutant("six", why="w", total=6),),
)
GRADES = ("symbolic", "certified", "numeric", "property", "trained")


def decide(claim):
    return Holds("counted", n=1)


def declared(function=decide, grade="numeric", scope="some", **options):
    return check(CLAIM, grade=grade, scope=scope, **options)(function)


def refuses(says, *arguments, **options):
    with pytest.raises(ClaimError) as caught:
        declared(*arguments, **options)
    assert says in str(caught.value)


# ---------------------------------------------------------------- declarations


def test_declaration():
    made = declared(grade="symbolic", scope="all")
    assert (made.name, made.module, made.claims) == ("decide", __name__, (CLAIM,))
    assert made.covers_all
    assert not made.is_necessity
    assert made(CLAIM).verdict == "HOLDS"
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.scope = "some"


@pytest.mark.parametrize("grade", GRADES)
def test_who_may_cover_all(grade):
    if grade in {"property", "trained"}:
        refuses('never has scope "all"', grade=grade, scope="all")
    else:
        assert declared(grade=grade, scope="all").covers_all
    assert not declared(grade=grade, scope="N ≤ 3").covers_all


def test_scope_and_claims_are_said():
    refuses("say its scope", scope="")
    with pytest.raises(ClaimError, match="decides no claim"):
        check(grade="numeric", scope="s")(decide)
    with pytest.raises(ValueError, match="guessed"):
        declared(grade="guessed")


def test_a_check_takes_the_claim():
    refuses("does not take the claim", lambda: Holds())
    refuses("does not take the claim", lambda search: Holds())


@pytest.mark.parametrize(
    "function",
    [
        lambda claim, serach: None,
        lambda claim, decide: None,  # a function, but no evidence
        lambda claim, *rest: None,
        lambda claim, **rest: None,
    ],
    ids=["misspelt", "function", "args", "kwargs"],
)
def test_a_check_asks_for_what_there_is(function):
    refuses("it may ask for claim, search, profile", function)


@pytest.mark.parametrize("need", [{"needs_module": "x"}, {"needs_device": "cuda"}])
def test_what_may_be_unavailable_is_optional(need):
    refuses("declare it optional=True", **need)
    assert declared(optional=True, **need).optional


@pytest.mark.parametrize(
    ("options", "device", "profile_name", "says"),
    [
        ({}, "cpu", "smoke", ""),
        ({"profiles": ("full",)}, "cpu", "smoke", "left out of profile smoke"),
        ({"profiles": ("full", "smoke")}, "cpu", "smoke", ""),
        ({"needs_device": "cuda"}, "cpu", "full", "needs --device cuda"),
        ({"needs_device": "cuda"}, "cuda", "full", ""),
        ({"needs_module": "no_such_module"}, "cpu", "full", "is not installed"),
        ({"needs_module": "json"}, "cpu", "full", ""),
    ],
)
def test_unavailable(options, device, profile_name, says):
    reason = declared(optional=True, **options).unavailable(device, profile_name)
    assert says in reason
    assert bool(reason) is bool(says)


def test_evidence_takes_no_claim():
    with pytest.raises(ClaimError, match="takes the claim"):
        evidence(lambda claim: 1)


def test_necessity_names_an_assumption_of_each_claim():
    with pytest.raises(ClaimError, match=r"no assumption 'half'; it has \['whole'\]"):
        necessity(CLAIM, assumption="half", needed=True, grade="property", scope="s")
    made = necessity(
        CLAIM, assumption="whole", needed=False, grade="property", scope="s"
    )(decide)
    assert (made.assumption, made.needed, made.optional) == ("whole", False, True)
    with pytest.raises(ClaimError, match="never has scope"):
        necessity(
            CLAIM, assumption="whole", needed=True, grade="property", scope="all"
        )(decide)


# ---------------------------------------------------------------- injection

MADE = []


@evidence
def base(seed):
    MADE.append("base")
    return seed


@evidence
def table(base, profile):
    MADE.append("table")
    return base, profile.name


def test_instruments_and_evidence_come_by_name():
    seen = {}

    def everything(
        claim, table, base, search, profile, seed, root_seed, device, progress, runs
    ):
        seen.update(locals())
        progress(1, 2)
        return Holds("seen", n=1)

    MADE.clear()
    told = []
    bench = Bench(
        profile("smoke"), 7, "cuda", progress=lambda *report: told.append(report)
    )
    made = declared(everything)
    assert made.evidence == ("table", "base")
    bench.call(made, claim=CLAIM)
    assert seen["claim"] is CLAIM
    assert isinstance(seen["search"], Search)
    assert seen["search"].seed == seen["seed"] == bench.seed(__name__, "everything")
    assert seen["root_seed"] == 7
    assert seen["search"].examples == profile("smoke").examples
    assert (seen["device"], seen["profile"].name) == ("cuda", "smoke")
    assert seen["table"] == (seen["base"], "smoke")
    assert seen["base"] == bench.seed(__name__, "base") != seen["seed"]
    assert told == [("everything", 1, 2)]
    assert sorted(MADE) == ["base", "table"]
    assert str(seen["runs"].store.folder) == os.environ["VERIFY_CACHE"]
    assert set(INSTRUMENTS) < set(seen)


def first(claim, table):
    return judged(claim, table)


def second(claim, table):
    return judged(claim, table)


def judged(claim, table):
    if claim.total == 4:
        return Holds("counted", n=1)
    witness = {
        "kind": "formula", "says": "s", "inputs": {"t": claim.total},
        "relation": ["!=", ["add", 2, 2], ["in", "t"]],
    }  # fmt: skip
    return Refuted("miscounted", witness=witness)


def test_evidence_is_shared_by_checks_and_judgements():
    MADE.clear()
    bench = Bench(profile("smoke"))
    for function in (first, second):
        record = judge(bench, declared(function), CLAIM, "node")
        assert record.broken == ""
    assert sorted(MADE) == ["base", "table"]
    assert judge(Bench(profile("smoke")), declared(first), CLAIM, "n").broken == ""
    assert sorted(MADE) == ["base", "base", "table", "table"]


# ---------------------------------------------------------------- seeds


def test_seeds_are_derived_and_differ():
    names = [("a", "x"), ("a", "y"), ("b", "x"), ("ax", ""), ("", "ax")]
    one, other = Bench(profile("smoke"), 0), Bench(profile("smoke"), 1)
    seeds = [bench.seed(*name) for bench in (one, other) for name in names]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**64 for seed in seeds)


def test_seeds_do_not_depend_on_the_order_or_the_profile():
    names = [("a", "x"), ("a", "y"), ("b", "x")]
    forward, backward = Bench(profile("smoke"), 3), Bench(profile("full"), 3)
    assert [forward.seed(*n) for n in names] == [
        backward.seed(*n) for n in reversed(names)
    ][::-1]
