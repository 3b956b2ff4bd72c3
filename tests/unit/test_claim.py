"""Claims: what may be declared, and what a changed claim is."""

import copy
import dataclasses
import pickle
from fractions import Fraction

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from verify import (
    Anchor,
    Assumption,
    Cause,
    Claim,
    ClaimError,
    Item,
    Kind,
    Mutant,
    Need,
    Paper,
    Requires,
    Resolve,
    Variant,
    holds,
    inconclusive,
    refuted,
)
from verify.verdict import FALSIFICATION, PROOF, Finding, Grade, Verdict

TOY = Paper("toy", "A toy paper")
SIX = Mutant("six", why="it is four", total=6)
FOUR = Anchor("four", why="counted", total=4)


def claim(**changes):
    given = {
        "id": "toy/lemma-1",
        "says": "Two and two are as many as claimed.",
        "source": TOY.at("Lemma 1", "Eq. (2)"),
        "parameters": {"total": 5, "rate": sp.Rational(1, 3)},
        "mutants": (SIX,),
        "anchors": (FOUR,),
    }
    return Claim(**(given | changes))


def refuses(says, **changes):
    with pytest.raises(ClaimError) as caught:
        claim(**changes)
    assert says in str(caught.value)


# ---------------------------------------------------------------- ids

words = st.from_regex(r"[a-z0-9]+", fullmatch=True)
numbered = st.lists(words, min_size=1, max_size=3).map("-".join)
dotted = st.tuples(numbered, st.integers(1, 99)).map(lambda t: f"{t[0]}.{t[1]}")
parts = st.lists(numbered | dotted, min_size=1, max_size=3).map("/".join)


@given(parts, st.none() | numbered)
def test_good_ids(place, reading):
    name = f"toy/{place}" + (f"@{reading}" if reading else "")
    made = claim(id=name)
    assert (made.paper, made.short_id) == ("toy", name.removeprefix("toy/"))
    assert (made.base_id, made.reading) == (f"toy/{place}", reading or "")


@pytest.mark.parametrize(
    "name",
    [
        "", "toy", "toy/", "/lemma-1", "toy//lemma-1", "toy/lemma-1/", "Toy/lemma-1",
        "toy/Lemma-1", "toy/lemma 1", "toy/../lemma-1", "toy/..", "toy/lemma..1",
        "toy/lemma-", "toy/-lemma", "toy/.lemma", "toy/lemma-1@", "toy/lemma-1@a@b",
        "toy/lemma-1@a/b", "toy/lemma-1@A", "toy\\lemma-1", "toy/lemma-1\n",
        "toy/lemma-1*", "toy/lemma-é", "toy/lemma-١", "1toy/lemma-1", "toy/lemma--1",
        "toy/lemma_1", "@x", "toy@x/lemma-1",
    ],
)  # fmt: skip
def test_bad_ids(name):
    refuses("is not <paper>/<kind>-<number>", id=name)


@given(st.text("ab1./@-A \n*\\", max_size=8))
def test_an_accepted_id_stays_in_its_folder(tail):
    try:
        name = claim(id=f"toy/{tail}").id
    except ClaimError:
        return
    assert name == name.lower() == name.strip()
    assert not {"", ".", ".."} & set(name.split("/"))
    assert not set(name) & set(" \n*\\")


def test_source_of_another_paper():
    refuses("its source is in 'other'", source=Paper("other", "t").at("Lemma 1"))


# ---------------------------------------------------------------- parameters


def test_parameters_are_attributes():
    assert (claim().total, claim().rate) == (5, sp.Rational(1, 3))
    with pytest.raises(AttributeError, match=r"'totals'.*\['rate', 'total'\]"):
        _ = claim().totals
    assert not hasattr(claim(), "slope")


@pytest.mark.parametrize(
    "name",
    ["domain", "id", "says", "at", "changed", "paper", "mutants", "why", "blind",
     "__class__", "lambda", "two words", "1st", ""],
)  # fmt: skip
def test_a_parameter_never_hides_behind_another_attribute(name):
    refuses("cannot be called", parameters={"total": 5, name: 1})


def test_claims_cannot_be_changed():
    made, given = claim(), {"total": 5, "rate": 1}
    kept = claim(parameters=given)
    given["total"] = 9
    assert kept.total == 5
    for name in ("id", "total", "new"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, name, 1)
    for record in (made.parameters, SIX.changes, SIX.blind):
        with pytest.raises(TypeError):
            record["total"] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        SIX.name = "seven"


def through_pickle(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, through_pickle])
def test_copies_are_equal_and_as_closed(again):
    blind = Mutant("seven", why="w", total=7, blind={"hunt": "rounds"})
    made = claim(mutants=(SIX, blind), domain={"n": 3}, parameters={"total": 5})
    twin = again(made)
    assert twin == made
    assert twin.mutants[1].blind == {"hunt": "rounds"}
    assert (twin.total, type(twin.domain)) == (5, dict)
    with pytest.raises(TypeError):
        twin.parameters["total"] = 1
    with pytest.raises(AttributeError):
        _ = twin.nothing


def test_replace_validates_again():
    assert dataclasses.replace(claim(), title="t").total == 5
    with pytest.raises(ClaimError, match="lower case"):
        dataclasses.replace(claim(), id="Toy")


# ---------------------------------------------------------------- variations


@pytest.mark.parametrize(
    ("role", "variation"),
    [
        ("mutants", Mutant("m", why="w", size=1)),
        ("anchors", Anchor("m", why="w", size=1)),
        ("variants", Variant("m", why="w", size=1)),
    ],
)
def test_variation_of_an_unknown_parameter(role, variation):
    refuses("'m' changes 'size'", **{"mutants": (SIX,)} | {role: (variation,)})


@pytest.mark.parametrize("same", [5, 5.0, sp.Integer(5), Fraction(5)])
def test_variation_that_changes_nothing(same):
    refuses("leaves 'total' as it is", mutants=(Mutant("m", why="w", total=same),))
    with pytest.raises(ClaimError, match="changes nothing"):
        Mutant("m", why="w")


def test_two_variations_of_one_name():
    refuses("called 'six'", anchors=(Anchor("six", why="w", total=4),))


@pytest.mark.parametrize("kind", [Mutant, Anchor, Variant])
@pytest.mark.parametrize(("name", "why"), [("", "w"), ("m", "")])
def test_a_variation_has_a_name_and_a_reason(kind, name, why):
    with pytest.raises(ClaimError, match="give a name and a why"):
        kind(name, why=why, total=1)


def test_blindness_has_a_reason():
    with pytest.raises(ClaimError, match="why each check is blind"):
        Mutant("m", why="w", total=1, blind={"hunt": ""})


def test_changed_composes_and_keeps_the_id():
    small = Anchor("small", why="known", domain="small", total=4)
    fast = Mutant("fast", why="w", rate=2)
    made = claim(anchors=(small,), mutants=(SIX, fast), domain="all", pinned=(7,))
    both = made.changed(small, fast)
    assert (both.total, both.rate, both.domain) == (4, 2, "small")
    assert (both.id, both.says, both.pinned) == (made.id, made.says, (7,))
    assert made.changed(small, SIX).total == 6
    assert (made.total, made.domain) == (5, "all")
    assert not (*both.mutants, *both.anchors, *both.variants, *both.resolves)


def test_at_changes_values_only():
    moved = claim(domain="all").at(total=8)
    assert (moved.total, moved.rate, moved.domain) == (8, sp.Rational(1, 3), "all")


# ---------------------------------------------------------------- findings


def test_a_refuted_claim_has_an_anchor():
    refuses("has no anchor", finding=refuted("it is four"), anchors=())
    assert claim(finding=refuted("it is four")).finding.verdict is Verdict.REFUTED


@pytest.mark.parametrize("finding", [holds(), refuted("it is four")])
def test_a_decided_claim_has_mutants(finding):
    refuses("has no mutants", finding=finding, mutants=())


def test_an_undecided_claim_needs_no_mutants():
    made = claim(finding=inconclusive(Cause.BUDGET, "more time"), mutants=())
    assert made.finding.cause is Cause.BUDGET


@pytest.mark.parametrize(
    ("finding", "says"),
    [
        (Finding(Verdict.NOT_RUN, "x"), "NOT_RUN is no finding"),
        (refuted(""), "needs its reason"),
        (inconclusive(Cause.BUDGET, ""), "needs its reason"),
        (Finding(Verdict.INCONCLUSIVE, "x"), "names its cause"),
    ],
)
def test_incomplete_findings(finding, says):
    refuses(says, finding=finding)


# ---------------------------------------------------------------- requirements

ANY = Need(frozenset(Grade))
SYMBOLIC = Need(frozenset({Grade.SYMBOLIC}), everywhere=True)


@pytest.mark.parametrize("needs", [(), (PROOF,), (FALSIFICATION,), (ANY, ANY)])
def test_a_weaker_requirement_says_why(needs):
    refuses("requires less", requires=Requires(needs))
    assert claim(requires=Requires(needs, why="w")).requirement.why == "w"


@pytest.mark.parametrize("needs", [(FALSIFICATION, PROOF), (SYMBOLIC, FALSIFICATION)])
def test_a_stronger_requirement_needs_no_excuse(needs):
    assert claim(requires=Requires(needs)).requirement.needs == needs


def test_default_requirement_is_that_of_the_kind():
    assert claim().requirement.needs == (PROOF, FALSIFICATION)
    assert PROOF not in claim(kind=Kind.EMPIRICAL).requirement.needs


# ---------------------------------------------------------------- the rest


@pytest.mark.parametrize("reach", [0, -1, float("nan")])
def test_reach_is_positive(reach):
    with pytest.raises(ClaimError, match="reach"):
        Resolve("total", reach=reach)


def test_only_numbers_are_resolved():
    refuses("no parameter 'size'", resolves=(Resolve("size", reach=1),))
    word = {"total": 5, "order": "lexicographic"}
    refuses("is no number", parameters=word, resolves=(Resolve("order", reach=1),))
    root = {"total": 5, "root": sp.sqrt(2)}
    assert claim(parameters=root, resolves=(Resolve("root", reach=1),)).resolves


def test_assumptions_have_ids_of_their_own():
    twice = (Assumption("whole", "a"), Assumption("whole", "b"))
    refuses("two assumptions are called 'whole'", assumes=twice)


def test_source_reads_as_an_address():
    assert str(claim().source) == "Lemma 1 (Eq. (2))"
    assert str(TOY.at("Lemma 2")) == "Lemma 2"


@pytest.mark.parametrize(
    "fates",
    [{}, {"claims": ("toy/a",), "alias_of": "B"}, {"not_stated": "x", "alias_of": "B"}],
)
def test_an_item_has_one_fate(fates):
    with pytest.raises(ClaimError, match="exactly one"):
        Item("Lemma 1", **fates)


def test_items_of_a_paper_are_told_apart():
    one = Item("Lemma 1", not_stated="x")
    with pytest.raises(ClaimError, match="two items are called 'Lemma 1'"):
        Paper("toy", "t", items=(one, one))
    with pytest.raises(ClaimError, match="'Lemma 2', which is no item"):
        Paper("toy", "t", items=(one, Item("Lemma A.1", alias_of="Lemma 2")))
