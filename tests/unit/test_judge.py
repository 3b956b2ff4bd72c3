"""Judging: what a check is tried on, and what makes it broken."""

from dataclasses import replace

import pytest

from verify import (
    Anchor,
    Assumption,
    Cause,
    Claim,
    Holds,
    Inconclusive,
    Mutant,
    Paper,
    Refuted,
    Resolve,
    Tightness,
    Variant,
    check,
    evidence,
    necessity,
)
from verify.judge import Bench, decide, judge, variations
from verify.profiles import profile
from verify.verdict import Undecided, Verdict, inconclusive, refuted

PAPER = Paper("toy", "A toy paper")
SIX = Mutant("six", why="it is four", total=6)
SEVEN = Mutant("seven", why="it is four", total=7)
FOUR = Anchor("four", why="counted", total=4)


def claim(total=4, **changes):
    given = {
        "id": "toy/lemma-1",
        "says": "Two and two are as many as claimed.",
        "source": PAPER.at("Lemma 1"),
        "parameters": {"total": total, "unit": 1},
        "mutants": (SIX, SEVEN),
    }
    return Claim(**(given | changes))


def five(**changes):
    given = {"finding": refuted("it is four"), "anchors": (FOUR,)}
    return claim(5, **(given | changes))


def witness(total, left=2):
    return {
        "kind": "formula",
        "says": "miscounted",
        "inputs": {"a": left, "total": total},
        "relation": ["!=", ["add", ["in", "a"], 2], ["in", "total"]],
    }


def count(claim):
    if claim.total == 4:
        return Holds("counted", n=1, measured=4, margin=1.0)
    return Refuted("miscounted", witness=witness(claim.total))


def judged(function, claim, **bench):
    made = check(claim, grade="property", scope="one case")(function)
    refined = replace(profile("smoke"), refine=True)
    return judge(Bench(refined, **bench), made, claim, "toy::node")


# ---------------------------------------------------------------- variations


def test_mutants_of_a_refuted_claim_change_its_first_anchor():
    other = Anchor("unit", why="scaled", total=8, unit=2)
    mutant = Mutant("unit two", why="halved", unit=2)
    refuted_claim = five(anchors=(FOUR, other), mutants=(mutant, SIX))
    got = {v.name: (c.total, c.unit) for v, c in variations(refuted_claim)}
    assert got == {"unit two": (4, 2), "six": (6, 1), "four": (4, 1), "unit": (8, 2)}


def test_mutants_on_the_domain_of_the_anchor():
    anchor = Anchor("small", why="known", domain="small")
    mutant = Mutant("six", why="w", total=6)
    wide = Mutant("wide", why="w", domain="wide")
    pairs = variations(five(domain="all", anchors=(anchor,), mutants=(mutant, wide)))
    assert [c.domain for _, c in pairs] == ["small", "wide", "small"]


def test_mutants_of_a_claim_that_holds_change_the_claim():
    anchor = Anchor("scaled", why="scaled", total=8, unit=2)
    variant = Variant("unit three", why="unknown", unit=3)
    pairs = variations(claim(anchors=(anchor,), variants=(variant,)))
    assert [(v.name, c.total, c.unit) for v, c in pairs] == [
        ("six", 6, 1),
        ("seven", 7, 1),
        ("scaled", 8, 2),
        ("unit three", 4, 3),
    ]


def test_changed_claims_record_no_finding_and_no_variations():
    for _, changed in variations(five()):
        assert changed.finding.verdict is Verdict.INCONCLUSIVE
        assert not (changed.mutants)
        assert not (changed.anchors)
        assert not (changed.variants)


# ---------------------------------------------------------------- sound checks


@pytest.mark.parametrize("make", [claim, five])
def test_sound_check(make):
    got = judged(count, make())
    assert got.broken == ""
    assert got.verdict is (Verdict.HOLDS if make is claim else Verdict.REFUTED)
    mutants = [t for t in got.trials if t.role == "mutant"]
    assert [(t.name, t.rejected) for t in mutants] == [("six", True), ("seven", True)]
    assert mutants[0].witness["inputs"]["total"] == 6
    assert [t.rejected for t in got.trials if t.role == "anchor"] == [False] * (
        make is five
    )
    assert got.seconds >= 0
    assert got.seed == Bench(profile("smoke")).seed(__name__, "count")


def test_resolution_of_a_refuted_claim_is_that_of_its_anchor():
    got = judged(count, five(resolves=(Resolve("total", reach=0.5),)))
    assert got.broken == ""
    assert got.resolution[0].claimed == 4
    assert got.resolution[0].decisions <= 8
    assert got.resolution[0].above.rejected is not None


def test_smoke_measures_no_resolution():
    given = five(resolves=(Resolve("total", reach=0.5),))
    made = check(given, grade="property", scope="one case")(count)
    got = judge(Bench(profile("smoke")), made, given, "toy::node")
    assert (got.broken, got.resolution) == ("", [])


def test_no_resolution_without_a_decision():
    def lazy(claim):
        return Inconclusive("tired", cause=Cause.BUDGET)

    undecided = claim(
        mutants=(),
        finding=inconclusive(Cause.BUDGET, "rest"),
        resolves=(Resolve("total", reach=0.5),),
    )
    got = judged(lazy, undecided)
    assert (got.broken, got.resolution) == ("", [])


def test_necessity_is_tried_on_nothing_else():
    asked = []
    given = claim(assumes=(Assumption("whole", "whole numbers"),))

    def without(claim):
        asked.append(claim.total)
        return Refuted("breaks", witness=witness(9))

    made = necessity(
        given, assumption="whole", needed=True, grade="property", scope="s"
    )
    got = judge(Bench(profile("smoke")), made(without), given, "toy::node")
    assert (got.role, got.assumption, got.word) == ("necessity", "whole", "NEEDED")
    assert set(asked) == {4}
    assert got.trials == []


# ---------------------------------------------------------------- broken checks


def half_blind(claim):
    return Holds("looked away", n=1) if claim.total == 6 else count(claim)


def test_blind_cell_that_survives_is_no_fault():
    blind = Mutant("six", why="it is four", total=6, blind={"half_blind": "rounds"})
    got = judged(half_blind, claim(mutants=(blind, SEVEN)))
    assert got.broken == ""
    assert [t.rejected for t in got.trials] == [False, True]


def test_blind_cell_that_rejects_is_broken():
    blind = Mutant("six", why="it is four", total=6, blind={"count": "rounds"})
    got = judged(count, claim(mutants=(blind, SEVEN)))
    assert "rejected 'six', to which it is declared blind" in got.broken
    assert got.verdict is Verdict.HOLDS
    assert got.word == "BROKEN"


def test_blindness_of_another_check_excuses_nothing():
    blind = Mutant("six", why="it is four", total=6, blind={"another": "rounds"})
    got = judged(half_blind, claim(mutants=(blind, SEVEN)))
    assert "the mutant 'six' survived (HOLDS: looked away)" in got.broken


def always_refutes(claim):
    return Refuted("no", witness=witness(9))


def raises_on_six(claim):
    if claim.total == 6:
        raise ZeroDivisionError("six")
    return count(claim)


def raises_on_four(claim):
    if claim.total == 4:
        raise ZeroDivisionError("four")
    return count(claim)


def undecided_on_six(claim):
    if claim.total == 6:
        raise Undecided("too wide")
    return count(claim)


def invalid_on_six(claim):
    if claim.total == 6:
        return Refuted("no", witness=witness(6, left=4))
    return count(claim)


@pytest.mark.parametrize(
    ("function", "make", "says"),
    [
        (always_refutes, five, "refuted the anchor 'four'"),
        (raises_on_four, five, "errored on the anchor 'four': ZeroDivisionError: four"),
        (raises_on_six, claim, "'six' survived (ZeroDivisionError: six)"),
        (undecided_on_six, claim, "'six' survived (INCONCLUSIVE: too wide)"),
        (invalid_on_six, claim, "'six' survived (invalid witness"),
    ],
    ids=["refuted", "errored", "raises", "undecided", "invalid"],
)
def test_fault_of_a_trial(function, make, says):
    got = judged(function, make())
    assert says in got.broken
    assert not any(t.rejected and t.error for t in got.trials)


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (witness(4), "invalid witness"),
        ({"kind": "magic"}, "malformed witness"),
        (witness(4) | {"inputs": {"a": "two", "total": 4}}, "malformed witness"),
        (
            {
                "kind": "formula",
                "says": "s",
                "inputs": {},
                "relation": ["!=", ["sqrt", 2], ["sqrt", 2]],
            },
            "undecided witness",
        ),
        (None, "REFUTED without a witness"),
    ],
)
def test_witness_that_does_not_stand(record, says):
    got = judged(lambda claim: Refuted("no", witness=record), five())
    assert says in got.broken
    assert got.verdict is Verdict.INCONCLUSIVE
    assert not any(trial.rejected for trial in got.trials)


FAMILY = {
    "kind": "family",
    "says": "the ratio grows",
    "variable": "n",
    "bound": ["in", "n"],
    "toward": "infinity",
    "instances": [
        {"at": n, "relation": ">", "value": n - 1} for n in (10, 100)
    ],
    "limit": "it is n",
}  # fmt: skip


@pytest.mark.parametrize(
    ("grade", "steps", "changes", "says"),
    [
        ("symbolic", ["n grows"], {}, ""),
        ("certified", ["n grows"], {}, ""),
        ("symbolic", [], {}, "without the steps"),
        ("numeric", ["n grows"], {}, "symbolic or certified"),
        ("property", ["n grows"], {}, "symbolic or certified"),
        ("symbolic", ["n grows"], {"bound": 200}, "invalid witness"),
        ("symbolic", ["n grows"], {"limit": ""}, "malformed witness"),
    ],
)
def test_a_family_refutes_by_the_proof_of_its_limit(grade, steps, changes, says):
    def growth(claim):
        return Refuted("it grows", witness=FAMILY | changes, steps=steps)

    made = check(five(), grade=grade, scope="a family")(growth)
    got = decide(Bench(profile("smoke")), made, five())
    assert says in got.error
    assert got.rejected is (not says)


@pytest.mark.parametrize(
    ("bound", "says"),
    [(2, ""), (1, "invalid certificate"), (["div", ["pi"], 2], "undecided")],
)
def test_an_enclosure_is_decided_before_it_counts(bound, says):
    root = ["sqrt", ["sub", 1, ["mul", ["in", "t"], ["in", "t"]]]]
    area = ["integral", "t", -1, 1, root]
    record = {"kind": "enclosure", "says": "s", "inputs": {}}
    record |= {"relation": ["<", area, bound]}
    made = check(claim(), grade="certified", scope="all")(
        lambda claim: Holds("enclosed", certificate=record)
    )
    got = decide(Bench(profile("smoke")), made, claim())
    assert got.error.startswith(says)
    assert bool(got.error) is bool(says)


def test_certificate_that_does_not_stand():
    def proof(claim):
        return count(claim).but(certificate=witness(4) if claim.total == 4 else None)

    assert "invalid certificate" in judged(proof, claim()).broken


def test_two_decisions_that_differ():
    calls = []

    def drifting(claim):
        calls.append(claim.total)
        outcome = count(claim)
        return outcome.but(measured=len(calls))

    got = judged(drifting, claim())
    assert "two decisions of the same claim differ" in got.broken
    assert calls.count(4) == 2


def test_verdict_that_flips():
    calls = []

    def flipping(claim):
        if claim.total == 4:
            calls.append(1)
        if len(calls) > 1:
            return Inconclusive("tired", cause=Cause.BUDGET)
        return count(claim)

    assert "two decisions" in judged(flipping, claim()).broken


@pytest.mark.parametrize("value", [None, True, "HOLDS", Verdict.HOLDS], ids=repr)
def test_other_return_values(value):
    got = judged(lambda claim: value, claim())
    assert f"returned {type(value).__name__}" in got.broken
    assert got.verdict is Verdict.INCONCLUSIVE
    assert got.trials == []


def test_error_keeps_its_traceback():
    got = judged(raises_on_four, claim())
    assert got.broken == "ZeroDivisionError: four"
    assert "raises_on_four" in got.traceback
    assert got.cause is Cause.FAULT


def test_evidence_that_cannot_be_recorded():
    got = judged(lambda claim: count(claim).but(n="many"), claim())
    assert "cannot be recorded" in got.broken


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_interrupt_passes(error):
    def stop(claim):
        raise error

    with pytest.raises(error):
        judged(stop, claim())


def test_skip_inside_a_check_is_inconclusive():
    got = judged(lambda claim: pytest.skip("no data"), claim(mutants=(SIX,)))
    assert (got.verdict, got.cause) == (Verdict.INCONCLUSIVE, Cause.SKIP)
    assert "survived" in got.broken


# ---------------------------------------------------------------- the bench

MADE = []


@evidence
def numbers(seed, progress):
    MADE.append(seed)
    progress(1, 2)
    return [2, 2]


def adds(claim, numbers, profile, device):
    assert (profile.name, device) == ("smoke", "cpu")
    if sum(numbers) == claim.total:
        return Holds("added", n=1)
    return Refuted("no", witness=witness(claim.total))


def test_evidence_is_made_once():
    MADE.clear()
    told = []
    got = judged(adds, claim(), root_seed=5, progress=lambda *a: told.append(a))
    assert got.broken == ""
    assert len(MADE) == 1
    assert told == [("numbers", 1, 2)]
    assert judged(adds, claim(), root_seed=6).broken == ""
    assert len(set(MADE)) == 2


@pytest.mark.parametrize(
    ("change", "cause"),
    [({"measured": float("nan")}, Cause.NAN), ({"n": 0}, Cause.BUDGET)],
    ids=["nan", "nothing"],
)
def test_verdict_that_rests_on_nothing(change, cause):
    given = claim()
    made = check(given, grade="numeric", scope="s")(
        lambda claim: count(claim).but(**change)
    )
    decision = decide(Bench(profile("smoke")), made, given)
    assert decision.verdict is Verdict.INCONCLUSIVE
    assert decision.outcome.cause is cause
    assert not decision.rejected


def test_an_error_while_resolving_breaks_the_check():
    def fragile(given):
        if given.total not in {4, 6}:
            raise ArithmeticError("only knows four and six")
        return count(given)

    got = judged(
        lambda claim: fragile(claim),
        claim(mutants=(SIX,), resolves=(Resolve("total", reach=1),)),
    )
    assert "errored on total" in got.broken


def test_a_bound_that_is_exceeded_does_not_hold():
    loose = Tightness("the bound", 1.7)
    got = judged(
        lambda claim: count(claim).but(tightness=(loose,)), claim(mutants=(SIX,))
    )
    assert "exceeded" in got.broken
