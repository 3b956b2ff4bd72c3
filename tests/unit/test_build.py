"""From a journal to the report: groups, fates, budget, digests, exit code."""

import itertools
from types import SimpleNamespace

import pytest

from verify import recheck
from verify.build import build, group_of
from verify.journal import Journal
from verify.record import (
    CheckRecord,
    Counts,
    DeclaredCheck,
    DeclaredClaim,
    DeclaredVariation,
    FindingRecord,
    Formula,
    Header,
    NeedRecord,
    PaperRecord,
    TightnessRecord,
    Trial,
)

WITNESS = {"kind": "formula", "says": "s", "inputs": {}, "relation": ["<", 1, 2]}


def declared_check(name, grade="symbolic", **changes):
    given = {
        "name": name, "node": f"toy::{name}", "role": "check", "grade": grade,
        "scope": "all" if grade == "symbolic" else "some", "optional": False,
    }  # fmt: skip
    return DeclaredCheck(**(given | changes))


CHECKS = [declared_check("proof"), declared_check("hunt", "property")]


def variation(name="six", role="mutant", **changes):
    change = {"total": Formula(text="6", latex="6")}
    return DeclaredVariation(role=role, name=name, why="w", change=change, **changes)


def declared(claim_id="toy/lemma-1", finding="HOLDS", **changes):
    given = {
        "id": claim_id, "paper": "toy", "kind": "theorem", "wording": "printed",
        "reading": claim_id.partition("@")[2], "title": "t", "statement_text": "s",
        "statement_latex": "", "quantifiers": "", "source": "Lemma 1",
        "parameters": {"total": Formula(text="4", latex="4")}, "assumptions": [],
        "finding": FindingRecord(verdict=finding, reason="known", cause="budget"),
        "nearest": "", "needs": [NeedRecord(grades=["symbolic"], everywhere=True)],
        "weaker": "", "recipe_complete": True, "checks": CHECKS,
        "variations": [variation()], "module": "theorems/toy/lemma.py",
    }  # fmt: skip
    return DeclaredClaim(**(given | changes))


def trial(name="six", role="mutant", verdict="REFUTED", **changes):
    given = {"rejected": verdict == "REFUTED"} | changes
    return Trial(role=role, name=name, verdict=verdict, **given)


def record(check, claim_id="toy/lemma-1", verdict="HOLDS", **changes):
    given = {
        "claim": claim_id, "name": check.name, "node": check.node, "role": check.role,
        "grade": check.grade, "scope": check.scope, "optional": check.optional,
        "assumption": check.assumption, "needed": check.needed, "verdict": verdict,
        "trials": [trial()], "seconds": 1.0,
        "cause": "budget" if verdict == "INCONCLUSIVE" else None,
    }  # fmt: skip
    return CheckRecord(**(given | changes))


def journal(claims, records, **changes):
    paper = PaperRecord(
        key="toy", title="T", authors="", venue="", arxiv="", counts=Counts()
    )
    header = Header(
        id="r", started="t", profile="smoke", seed=0, device="cpu", jobs=1,
        command="c", key="k", partial=False, papers=[paper], claims=claims,
        provenance={},
    )  # fmt: skip
    made = Journal(header, end={"exit_code": 0, "seconds": 1.0}, **changes)
    for line in records:
        made.take({"type": "check"} | line.model_dump(mode="json"))
    return made


def built(claims, records, **changes):
    return build(journal(claims, records, **changes))


def both(verdict="HOLDS", claim_id="toy/lemma-1", **changes):
    """Both checks come to the same verdict; a refutation leaves only the hunt."""
    if verdict == "NOT_RUN":
        return []
    return [record(c, claim_id, verdict, **changes) for c in CHECKS]


def one(verdict, **changes):
    claim = declared(finding="HOLDS" if verdict == "NOT_RUN" else verdict, **changes)
    return built([claim], both(verdict, claim.id))


# ---------------------------------------------------------------- groups


@pytest.mark.parametrize(
    ("verdict", "changes", "group"),
    [
        ("HOLDS", {}, "holds"),
        ("HOLDS", {"wording": "guessed"}, "holds"),
        ("HOLDS", {"kind": "proof-step"}, "holds"),
        ("REFUTED", {}, "refuted"),
        ("REFUTED", {"wording": "derived"}, "refuted"),
        ("REFUTED", {"wording": "guessed"}, "reading_dependent"),
        ("REFUTED", {"kind": "proof-step"}, "failing_steps"),
        ("REFUTED", {"kind": "proof-step", "wording": "guessed"}, "failing_steps"),
        ("INCONCLUSIVE", {"kind": "proof-step"}, "inconclusive"),
        ("INCONCLUSIVE", {"wording": "guessed"}, "inconclusive"),
        ("NOT_RUN", {"wording": "guessed"}, "not_run"),
        ("NOT_RUN", {"kind": "proof-step"}, "not_run"),
    ],
)
def test_group_of_one_claim(verdict, changes, group):
    report = one(verdict, **changes)
    assert report.claims[0].verdict == verdict
    counts = report.papers[0].counts.model_dump()
    assert {name for name, count in counts.items() if count} == {group}
    assert counts[group] == 1


def readings(first, second, names=("toy/lemma-1@a", "toy/lemma-1@b"), **changes):
    claims = [declared(names[0], first, **changes), declared(names[1], second)]
    records = both(first, names[0]) + both(second, names[1])
    return built(claims, records).papers[0].counts.model_dump()


def nonzero(counts):
    return {name: count for name, count in counts.items() if count}


def test_another_reading_that_holds():
    assert nonzero(readings("REFUTED", "HOLDS")) == {"reading_dependent": 1, "holds": 1}


def test_another_reading_that_does_not_hold():
    assert nonzero(readings("REFUTED", "REFUTED")) == {"refuted": 2}
    got = nonzero(readings("REFUTED", "INCONCLUSIVE"))
    assert got == {"refuted": 1, "inconclusive": 1}


def test_another_claim_is_no_reading():
    got = readings("REFUTED", "HOLDS", ("toy/lemma-1@a", "toy/lemma-11@b"))
    assert nonzero(got) == {"refuted": 1, "holds": 1}


def test_proof_step_comes_before_readings():
    got = readings("REFUTED", "HOLDS", kind="proof-step")
    assert nonzero(got) == {"failing_steps": 1, "holds": 1}


def test_every_claim_is_in_exactly_one_group():
    verdicts = ("HOLDS", "REFUTED", "INCONCLUSIVE", "NOT_RUN")
    kinds, wordings = ("theorem", "proof-step", "empirical"), ("printed", "guessed")
    claims, records = [], []
    product = itertools.product(verdicts, kinds, wordings, ("a", "b"))
    for i, (verdict, kind, wording, reading) in enumerate(product):
        name = f"toy/lemma-{i // 2}@{reading}"
        claims.append(declared(name, kind=kind, wording=wording))
        records += both(verdict, name)
    report = built(claims, records)
    counts = report.papers[0].counts.model_dump()
    assert sum(counts.values()) == len(claims) == 48
    assert all(count > 0 for count in counts.values())
    for claim in report.claims:
        assert group_of(claim, report.claims) in Counts.model_fields


# ---------------------------------------------------------------- fates


def fate(trials, blind=None, **changes):
    """The fate of a mutant, given what each check made of it (None: not run)."""
    claim = declared(variations=[variation(blind=blind or {})], **changes)
    records = [
        record(check, trials=[made])
        for check, made in zip(claim.checks, trials, strict=True)
        if made
    ]
    return built([claim], records).claims[0].mutants[0]


HELD = trial(verdict="HOLDS")


def test_mutant_rejected_by_all():
    got = fate([trial(), trial(witness=WITNESS)])
    assert (got.rejected, got.by, got.survived) == (True, ["proof", "hunt"], [])
    assert got.not_run == []
    assert got.witness == WITNESS


def test_mutant_survives_one_check():
    got = fate([trial(), HELD])
    assert (got.rejected, got.by, got.survived) == (False, ["proof"], ["hunt"])


def test_blind_check_does_not_count_as_survival():
    got = fate([trial(), HELD], blind={"hunt": "rounds"})
    assert (got.rejected, got.survived) == (True, [])
    assert got.blind == {"hunt": "rounds"}


def test_blind_check_alone_rejects_nothing():
    got = fate([None, HELD], blind={"hunt": "rounds"})
    assert (got.rejected, got.by, got.survived) == (False, [], [])
    assert got.not_run == ["proof"]


def test_mutant_that_met_no_check():
    got = fate([None, None])
    assert (got.rejected, got.not_run) == (False, ["proof", "hunt"])


def test_undecided_is_no_rejection():
    got = fate([trial(verdict="INCONCLUSIVE"), trial()])
    assert (got.rejected, got.survived) == (False, ["proof"])


def test_strongest_check_comes_first():
    checks = [declared_check("hunt", "property"), declared_check("proof")]
    assert fate([trial(), trial()], checks=checks).by == ["proof", "hunt"]


def test_anchors_and_variants():
    claim = declared(
        variations=[variation("four", "anchor"), variation("what", "variant")]
    )
    trials = [
        [trial("four", "anchor", "HOLDS"), trial("what", "variant", "INCONCLUSIVE")],
        [trial("four", "anchor", "REFUTED", witness=WITNESS)],
    ]
    pairs = zip(CHECKS, trials, strict=True)
    got = built([claim], [record(c, trials=t) for c, t in pairs]).claims[0]
    assert (got.anchors[0].refuted, got.anchors[0].held) == (True, ["proof"])
    assert got.anchors[0].witness == WITNESS
    assert got.variants[0].verdicts == {"proof": "INCONCLUSIVE"}
    assert got.mutants == []


# ---------------------------------------------------------------- red


@pytest.mark.parametrize(
    ("needed", "verdict", "word", "red"),
    [
        (True, "REFUTED", "needed", False),
        (False, "HOLDS", "no counterexample found", False),
        (True, "HOLDS", "no counterexample found", True),
        (False, "REFUTED", "needed", True),
        (True, "INCONCLUSIVE", "undecided", True),
        (True, None, "not run", False),
    ],
)
def test_necessity(needed, verdict, word, red):
    drop = declared_check(
        "drop", "property", role="necessity", optional=True, assumption="h",
        needed=needed,
    )  # fmt: skip
    records = both() + ([record(drop, verdict=verdict)] if verdict else [])
    report = built([declared(checks=[*CHECKS, drop])], records)
    claim = report.claims[0]
    assert claim.verdict == "HOLDS"
    assert [n.verdict for n in claim.necessity] == [word]
    assert [c.name for c in claim.checks] == ["proof", "hunt"]
    assert report.run.exit_code == red
    assert any("without 'h'" in line for line in report.run.red) is red


def test_broken_necessity_breaks_the_claim():
    drop = declared_check(
        "drop", "property", role="necessity", optional=True, assumption="h", needed=True
    )
    records = [*both(), record(drop, verdict="INCONCLUSIVE", broken="it raised")]
    report = built([declared(checks=[*CHECKS, drop])], records)
    assert report.claims[0].fault == "BROKEN"
    assert report.run.exit_code == 1


def test_verdict_that_differs_from_its_finding():
    report = built([declared(finding="REFUTED")], both("HOLDS"))
    assert report.run.exit_code == 1
    assert "finding REFUTED" in report.claims[0].differs
    assert one("REFUTED").run.exit_code == 0


def test_conflict():
    records = [record(CHECKS[0]), record(CHECKS[1], verdict="REFUTED")]
    claim = built([declared()], records).claims[0]
    assert (claim.verdict, claim.fault) == ("INCONCLUSIVE", "CONFLICT")


def test_strict_needs_every_claim_to_hold():
    for verdict, code in (("HOLDS", 0), ("REFUTED", 1), ("INCONCLUSIVE", 1)):
        made = journal([declared(finding=verdict)], both(verdict))
        assert build(made, strict=True).run.exit_code == code
        assert build(made).run.exit_code == 0


# ---------------------------------------------------------------- the run


def test_partial():
    assert not one("HOLDS").run.partial
    report = built([declared()], both()[:1])
    assert report.run.partial
    assert report.claims[0].verdict == "NOT_RUN"
    assert [c.verdict for c in report.claims[0].checks] == ["HOLDS", "NOT_RUN"]
    assert report.run.exit_code == 0


def test_check_that_is_left_out_makes_no_run_partial():
    extra = declared_check("gpu", "numeric", optional=True, left_out="needs cuda")
    report = built([declared(checks=[*CHECKS, extra])], both())
    assert not report.run.partial
    assert report.claims[0].verdict == "HOLDS"
    assert report.claims[0].checks[2].reason == "needs cuda"


def test_unfinished_or_crashed_run():
    killed = journal([declared()], both())
    killed.end = None
    assert build(killed).run.exit_code == 3
    assert build(killed).claims[0].verdict == "HOLDS"
    assert built([declared()], both(), crashes=["toy::x"]).run.exit_code == 3
    assert built([], []).run.exit_code == 2


def test_error_budget():
    records = [
        record(CHECKS[0], "toy/a", level=1e-6),
        record(CHECKS[1], "toy/a"),
        record(CHECKS[0], "toy/b", level=3e-6),
        record(CHECKS[1], "toy/b", level=1e-3),
    ]
    budget = built([declared("toy/a"), declared("toy/b")], records).error_budget
    assert budget.spent == pytest.approx(1.004e-3, rel=1e-12)
    assert [(x.claim, x.check) for x in budget.lines] == [
        ("toy/a", "proof"),
        ("toy/b", "proof"),
        ("toy/b", "hunt"),
    ]
    assert "3 statistical decisions" in budget.says
    nothing = one("HOLDS").error_budget
    assert (nothing.spent, nothing.lines) == (0, [])


def test_command_runs_the_claim_again():
    command = one("HOLDS").claims[0].command
    assert command == "verify run toy/lemma-1 --profile smoke --seed 0"


# ---------------------------------------------------------------- digests

EQUAL = [
    declared_check("proof"),
    declared_check("again"),
    declared_check("hunt", "property"),
]


def evidence_of_equals(seconds=1.0, **changes):
    found = []
    for i, check in enumerate(EQUAL):
        tight = TightnessRecord(bound=check.name, observed_over_bound=0.5)
        witness = WITNESS | {"says": check.name}
        made = trial(witness=witness)
        given = {"seconds": seconds + i, "trials": [made], "tightness": [tight]}
        found.append(record(check, **(given | changes)))
    return found


def digests(records, **changes):
    report = built([declared(checks=EQUAL, **changes)], records)
    assert report.verdict_digest == recheck.verdict_digest(
        report.model_dump(mode="json")
    )
    return report.verdict_digest, report.result_digest


def test_digests_ignore_the_order_of_the_journal_and_seconds():
    expected = digests(evidence_of_equals())
    for records in itertools.permutations(evidence_of_equals(seconds=7.0)):
        assert digests(records) == expected


def test_digests_see_verdicts_parameters_and_fates():
    parameters = {"total": Formula(text="5", latex="5")}
    survived = [trial(verdict="INCONCLUSIVE")]
    others = [
        digests(evidence_of_equals()),
        digests(evidence_of_equals(verdict="INCONCLUSIVE", cause="budget")),
        digests(evidence_of_equals(), parameters=parameters),
        digests(evidence_of_equals(), finding="REFUTED"),
        digests(evidence_of_equals(), statement_text="other"),
        digests(evidence_of_equals(trials=survived)),
    ]
    assert len({verdict for verdict, _ in others}) == len(others)
    assert len({result for _, result in others}) == len(others)


def test_only_the_result_digest_sees_measured_values():
    one, other = (digests(evidence_of_equals(measured=m)) for m in (0.1, 0.2))
    assert one[0] == other[0]
    assert one[1] != other[1]


def test_report_rechecks_itself():
    report = built([declared(checks=EQUAL)], evidence_of_equals())
    items = recheck.recheck(report.model_dump(mode="json"))
    assert items
    assert all(item.valid for item in items)


def test_group_ignores_claims_of_the_same_name_elsewhere():
    def row(name, verdict, wording="printed"):
        return SimpleNamespace(
            id=name, verdict=verdict, kind="theorem", wording=wording
        )

    mine = built([declared("toy/a@x", "REFUTED")], both("REFUTED", "toy/a@x")).claims[0]
    held = one("HOLDS").claims[0]
    assert group_of(mine, [mine, held]) == "refuted"
    assert group_of(mine, [mine, held.model_copy(update={"id": "toy/a@y"})]) == (
        "reading_dependent"
    )
