"""Listings: coverage of a paper, tables, and one claim with its evidence."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from verify import (
    Anchor,
    Assumption,
    Claim,
    Holds,
    Item,
    Mutant,
    Paper,
    Variant,
    check,
    necessity,
)
from verify.catalog import Catalog, Entry
from verify.listing import as_json, as_table, claims, coverage, show
from verify.record import CheckRecord

ITEMS = (
    Item("Lemma 1", claims=("toy/lemma-1",)),
    Item("Lemma 2", claims=("toy/lemma-2@a", "toy/lemma-3")),
    Item("Lemma A.1", alias_of="Lemma 1"),
    Item("Eq. (1)", not_a_claim="a definition"),
    Item("Theorem 9", not_stated="the limit"),
)
TOY = Paper("toy", "A toy paper", items=ITEMS)


def decide(claim):
    return Holds("counted", n=1)


def entry(claim_id, **changes):
    given = {
        "id": claim_id,
        "says": "Two and two are as many as claimed, " * 5,
        "source": TOY.at("Lemma 1", "proof in Appendix A"),
        "parameters": {"total": 4},
        "assumes": (Assumption("whole", "whole numbers"),),
        "mutants": (Mutant("six", why="it is four", total=6),),
        "anchors": (Anchor("sum", why="adding", domain="fingers"),),
        "variants": (Variant("five", why="unknown", total=5),),
        "quantifiers": "for all pairs",
    }
    if not claim_id.startswith("toy/"):
        given["source"] = Paper(claim_id.partition("/")[0], "Other").at("Lemma 1")
    claim = Claim(**(given | changes))
    proof = check(claim, grade="symbolic", scope="all")(decide)
    hunt = check(claim, grade="property", scope="some")(decide)
    drop = necessity(
        claim, assumption="whole", needed=True, grade="property", scope="s"
    )
    return Entry(claim, (proof, hunt, drop(decide)), Path("lemma.py"))


def catalog(*ids):
    made = Catalog()
    for claim_id in ids:
        made.add(entry(claim_id))
    made.papers["toy"] = TOY
    return made


def test_coverage():
    rows = coverage(catalog("toy/lemma-1@x", "toy/lemma-3", "toy/sharper-1"))
    assert [tuple(row.values()) for row in rows] == [
        ("toy", "Lemma 1", "claim", "toy/lemma-1"),
        ("toy", "Lemma 2", "MISSING toy/lemma-2@a", "toy/lemma-2@a, toy/lemma-3"),
        ("toy", "Lemma A.1", "alias", "Lemma 1"),
        ("toy", "Eq. (1)", "not a claim", "a definition"),
        ("toy", "Theorem 9", "not stated yet", "the limit"),
        ("toy", "-", "ours", "toy/sharper-1"),
    ]


def test_coverage_of_an_empty_catalogue_misses_everything():
    made = Catalog(papers={"toy": TOY})
    status = [row["status"] for row in coverage(made)]
    assert status[:2] == ["MISSING toy/lemma-1", "MISSING toy/lemma-2@a, toy/lemma-3"]
    assert "ours" not in status


def test_every_reading_of_a_named_claim_is_covered():
    rows = coverage(catalog("toy/lemma-1@x", "toy/lemma-1@y", "toy/lemma-2@b"))
    ours = [row["detail"] for row in rows if row["status"] == "ours"]
    assert ours == ["toy/lemma-2@b"]


def test_one_paper():
    made = catalog("toy/lemma-1", "other/lemma-1")
    assert {row["paper"] for row in coverage(made)} == {"toy", "other"}
    assert {row["paper"] for row in coverage(made, "other")} == {"other"}
    assert [row["id"] for row in claims(made, "other")] == ["other/lemma-1"]
    assert coverage(made, "none") == claims(made, "none") == []


def test_claims():
    (row,) = claims(catalog("toy/lemma-1"))
    assert row["checks"] == "symbolic, property"
    assert (row["kind"], row["finding"], row["mutants"]) == ("theorem", "HOLDS", 1)
    assert json.loads(as_json([row])) == [row]


def test_table_is_aligned():
    rows = [{"id": "a", "n": 1, "says": "x"}, {"id": "longer", "n": 100, "says": ""}]
    lines = as_table(rows).splitlines()
    assert lines == ["id      n    says", "a       1    x", "longer  100"]
    assert as_table([]) == "nothing to list"


def test_json_keeps_letters():
    assert "∀é" in as_json([{"says": "∀é"}])


def test_show_without_a_run():
    text = show(entry("toy/lemma-1"), None)
    lines = text.splitlines()
    assert lines[0] == "toy/lemma-1"
    for words in (
        "source      Lemma 1 (proof in Appendix A); theorem, wording printed",
        "finding     HOLDS",
        "for         for all pairs",
        "assumes     whole: whole numbers",
        "parameter   total = 4",
        "check       symbolic  decide [all]",
        "check       property  decide [some]",
        "necessity   whole: decide",
        "mutant      six: total = 6; it is four",
        "anchor      sum: domain = fingers; adding",
        "variant     five: total = 5; unknown",
        "evidence    none; verify run it",
    ):
        assert f"  {words}" in lines
    assert len([line for line in lines if "  check " in line]) == 2
    assert max(map(len, lines)) <= 84


@pytest.mark.parametrize("known", [True, False])
def test_show_with_a_run(known):
    made = CheckRecord(
        claim="toy/lemma-1", name="hunt", node="n", grade="property", scope="some",
        verdict="REFUTED", margin=-0.5, reason="miscounted",
    )  # fmt: skip
    record = SimpleNamespace(
        id="toy/lemma-1" if known else "toy/lemma-10",
        verdict="REFUTED",
        reason="miscounted",
        checks=[made, made.model_copy(update={"margin": None})],
        command="verify run toy/lemma-1",
    )
    text = show(entry("toy/lemma-1"), SimpleNamespace(claims=[record]))
    assert ("last run    REFUTED miscounted" in text) is known
    assert ("verify run it" in text) is not known
    assert text.count(", margin -0.5") == known
    assert ("again       verify run toy/lemma-1" in text) is known
