"""The study of stability: what it takes over, what it compares, what is a flip."""

import argparse
import json
import math

import pytest

from benchmarks import commands, stability, verdict_stability
from benchmarks.stability import (
    Arm,
    arms,
    distil,
    flips,
    loose_recipes,
    number,
    seeds_of,
    splice,
)
from verify import evidence
from verify.catalog import Catalog
from verify.train.seeds import seed_of


@evidence
def drawn(seed):
    return seed


@evidence
def searched(search):
    return search


@evidence
def still(profile):
    return profile


@evidence
def from_drawn(drawn):
    return drawn


@evidence
def from_still(still):
    return still


@evidence
def trained(runs, root_seed):
    return runs, root_seed


@pytest.mark.parametrize("owner", [drawn, searched, from_drawn, trained])
def test_what_draws_is_found_through_evidence(owner):
    assert stability.wants_seed(owner)


@pytest.mark.parametrize("owner", [still, from_still])
def test_what_does_not_draw(owner):
    assert not stability.wants_seed(owner)


def test_ranges_of_seeds():
    assert seeds_of("0:50") == range(50)
    assert seeds_of("7") == range(7, 8)
    with pytest.raises(argparse.ArgumentTypeError, match="write 0:50"):
        seeds_of("seven")


def test_arms_change_one_thing_each(monkeypatch):
    monkeypatch.setattr(stability, "_blas_unable", lambda name: f"no {name}")
    monkeypatch.setattr(stability, "_cuda_unable", lambda: "no CUDA device")
    found = {arm.name: arm for arm in arms(range(3), range(2), ["Nehalem"])}
    assert len(found) == len(arms(range(3), range(2), ["Nehalem"]))
    assert found["smoke-Nehalem"].unable == "no Nehalem"
    assert {a.seed for a in found.values() if a.splice} == {0, 1, 2}
    assert found["smoke-whole"].same_as in found
    assert not found["smoke-whole"].splice
    for name, arm in found.items():
        assert arm.base in found, name
        base = found[arm.base]
        changes = [
            arm.seed != base.seed,
            bool(arm.env),
            arm.device != base.device,
            arm.group.startswith("1 worker"),
            arm.group == "taken up again",
        ]
        assert sum(changes) == bool(arm.group), name


LINES = [
    {"type": "header", "seed": 0, "profile": "smoke"},
    {"type": "check", "claim": "p/one", "name": "proof", "seed": 11},
    {"type": "check", "claim": "p/one", "name": "hunt", "seed": 12},
    {"type": "self-check", "name": "two ways"},
    {"type": "end", "exit_code": 0},
]


def write_journal(folder, lines):
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "journal.jsonl").write_text(text)


def test_splice_takes_over_what_no_seed_reaches(tmp_path):
    write_journal(tmp_path / "base", LINES)
    splice(tmp_path / "base", tmp_path / "new", 5, {("p/one", "proof"): "mod"})
    header, proof, own = commands.journal(tmp_path / "new")
    assert header == {"type": "header", "seed": 5, "profile": "smoke"}
    assert proof["name"] == "proof"
    assert proof["seed"] == seed_of(5, "mod", "proof")
    assert own["name"] == "two ways"


def report(verdict="HOLDS", margin=0.5, rejected=True, digest="same", result="same"):
    check = {
        "name": "hunt", "verdict": verdict, "broken": "", "reason": "looked",
        "margin": margin,
    }  # fmt: skip
    need = {
        "assumption": "finite", "check": "drop", "verdict": "needed", "reason": ""
    }  # fmt: skip
    claim = {
        "id": "p/one", "verdict": verdict, "fault": None, "reason": f"is {verdict}",
        "checks": [check], "necessity": [need],
        "mutants": [{"name": "six", "rejected": rejected, "survived": []}],
        "anchors": [{"name": "four", "refuted": False}],
    }  # fmt: skip
    return {
        "claims": [claim], "verdict_digest": digest, "result_digest": result,
        "run": {"exit_code": 0, "red": [], "seconds": 1.0},
    }  # fmt: skip


def test_a_changed_margin_is_no_flip():
    assert flips(distil(report()), distil(report(margin=0.1))) == []


def test_flips_carry_both_reasons_and_margins():
    found = flips(distil(report()), distil(report("INCONCLUSIVE", None, False)))
    assert [flip["place"] for flip in found] == [
        "claim p/one",
        "check p/one hunt",
        "mutant p/one six",
    ]
    assert found[0]["was"] == ["HOLDS", "is HOLDS"]
    assert found[0]["is"] == ["INCONCLUSIVE", "is INCONCLUSIVE"]
    assert found[1]["margins"] == [0.5, None]


def of_check(found, verdict):
    found["claims"][0]["checks"][0]["verdict"] = verdict
    return found


@pytest.mark.parametrize(
    ("claim", "was", "now", "loose", "open_"),
    [
        ("INCONCLUSIVE", "INCONCLUSIVE", "REFUTED", {"p/one"}, True),
        ("INCONCLUSIVE", "REFUTED", "INCONCLUSIVE", {"p/one"}, True),
        ("INCONCLUSIVE", "INCONCLUSIVE", "REFUTED", {"p/two"}, False),
        ("INCONCLUSIVE", "HOLDS", "REFUTED", {"p/one"}, False),
        ("INCONCLUSIVE", "INCONCLUSIVE", "HOLDS", {"p/one"}, False),
        ("HOLDS", "INCONCLUSIVE", "REFUTED", {"p/one"}, False),
    ],
)
def test_only_checks_of_claims_with_an_open_recipe_may_change(
    claim, was, now, loose, open_
):
    before, after = (distil(of_check(report(claim), word)) for word in (was, now))
    (flip,) = flips(before, after, loose)
    assert flip["open"] is open_


def test_recipes_that_the_text_leaves_open_are_read_off_the_claims():
    theorems = commands.ROOT / "theorems" / "ren2024"
    loose = loose_recipes(Catalog.load([theorems]))
    assert "ren2024/figure-11/negative" in loose
    assert not {"ren2024/figure-3/rates", "ren2024/theorem-b.1"} & loose


@pytest.mark.parametrize(
    ("low", "high", "near"),
    [(1.0, 3.0, 0.5), (-3.0, -1.0, 0.5), (-1.0, 1.0, 0.0), (1.0, math.inf, math.inf)],
)
def test_margins_that_come_near_the_boundary_come_first(low, high, near):
    assert verdict_stability._nearness(low, high) == near


def test_what_is_missing_is_a_flip():
    other = distil(report())
    del other["places"]["anchor p/one four"]
    (flip,) = flips(distil(report()), other)
    assert flip["is"][0] == "absent"


@pytest.mark.parametrize(
    ("text", "value"), [(None, None), ("1/4", 0.25), ("inf", float("inf")), (2, 2.0)]
)
def test_margins_are_numbers(text, value):
    assert number(text) == value


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A state folder, and runs that write what a table says instead of running."""
    ran, outcomes = [], {}

    def run(self, *, resume=False, log=None):
        del log
        ran.append((self.out.name, resume))
        code, found = outcomes.get(self.out.name, (0, report()))
        if not resume:
            write_journal(self.out, LINES)
        (self.out / "report.json").write_text(json.dumps(found))
        return commands.Done(code, "said so", 1.0)

    monkeypatch.setattr(commands.Command, "run", run)
    monkeypatch.setattr(stability, "_blas_unable", lambda name: "")
    monkeypatch.setattr(stability, "_cuda_unable", lambda: "no CUDA device")
    root = tmp_path / "project"
    (root / "theorems" / "p").mkdir(parents=True)
    (root / "theorems" / "__init__.py").touch()
    (root / "theorems" / "p" / "__init__.py").touch()
    line = ["--state", str(tmp_path / "state"), "--root", str(root), "--seeds", "0:3"]
    line += ["--default-seeds", "0:0", "--coretypes", "Nehalem"]
    return argparse.Namespace(
        ran=ran,
        outcomes=outcomes,
        state=tmp_path / "state",
        main=lambda *more: verdict_stability.main([*line, *more]),
    )


def test_nothing_changed(project, capsys):
    assert project.main() == 0
    assert ("smoke-seed-2", True) in project.ran  # its journal was begun by splicing
    assert ("smoke-jobs-1", False) in project.ran
    out = capsys.readouterr().out
    assert "root seed 0 to 2" in out
    assert "not run: no CUDA device" in out


def test_what_is_done_is_not_run_again(project):
    project.outcomes["smoke-seed-1"] = (3, report())
    assert project.main() == 3
    before = len(project.ran)
    del project.outcomes["smoke-seed-1"]
    assert project.main() == 0
    # The whole run at seed 1 had finished; what it must reproduce had not.
    assert [name for name, _ in project.ran[before:]] == ["smoke-seed-1"]


def test_a_flip_is_named_and_fails(project, capsys):
    project.outcomes["smoke-seed-2"] = (1, report("INCONCLUSIVE", None, digest="b"))
    assert project.main() == 1
    out = capsys.readouterr().out
    assert "check p/one hunt: HOLDS (looked) -> INCONCLUSIVE (looked)" in out
    assert "smoke-seed-2 has another verdict digest than smoke-base" in out
    kept = json.loads((project.state / "flips.json").read_text())
    assert [flip["place"] for flip in kept["smoke-seed-2"]] == [
        "claim p/one",
        "check p/one hunt",
    ]


def test_a_check_of_a_claim_left_open_is_told_and_does_not_fail(project, monkeypatch):
    for name in ("base", "resumed", "jobs-1", "threads-2", "Nehalem", "plain"):
        project.outcomes[f"smoke-{name}"] = (0, report("INCONCLUSIVE"))
    project.outcomes["smoke-whole"] = (0, report("INCONCLUSIVE"))
    for seed in (1, 2):
        other = of_check(report("INCONCLUSIVE"), "REFUTED")
        project.outcomes[f"smoke-seed-{seed}"] = (0, other)
    told = {}
    monkeypatch.setattr(verdict_stability, "loose_recipes", lambda catalog: {"p/one"})
    monkeypatch.setattr(
        verdict_stability, "write_trust", lambda name, **found: told.update(found)
    )
    assert project.main("--write") == 0
    assert told["says"].startswith("No claim changed verdict")
    (note,) = (note for note in told["notes"] if "hunt" in note)
    assert "INCONCLUSIVE became REFUTED (smoke-seed-1, smoke-seed-2)" in note
    assert told["rows"][0][4:7] == [0, 0, 1]
    assert told["says"].endswith("INCONCLUSIVE: 1.")


def test_another_result_where_it_must_be_equal_fails(project, capsys):
    project.outcomes["smoke-jobs-1"] = (0, report(result="other"))
    project.outcomes["smoke-threads-2"] = (0, report(result="other"))  # it may
    assert project.main() == 1
    out = capsys.readouterr().out
    assert "smoke-jobs-1 has another result digest than smoke-base" in out
    assert "smoke-threads-2 has another" not in out


def test_margins_nearest_to_a_flip_come_first(project):
    project.outcomes["smoke-seed-1"] = (0, report(margin=0.01))
    assert project.main() == 0
    head, line = (project.state / "margins.tsv").read_text().splitlines()
    assert head.split("\t")[3:] == ["least", "median", "greatest"]
    assert line.split("\t") == ["smoke", "p/one hunt", "3", "0.01", "0.5", "0.5"]


def test_the_report_gets_what_was_measured(project, tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "TRUST", tmp_path / "trust")
    assert project.main("--write") == 0
    record = json.loads((tmp_path / "trust" / "stability.json").read_text())
    assert record["says"].startswith("No claim changed verdict over 9 runs")
    assert record["columns"] == list(verdict_stability.COLUMNS)
    assert all(len(row) == len(record["columns"]) for row in record["rows"])
    assert set(record["measured"]) == {"date", "commit", "machine", "seconds"}


def test_a_state_of_other_code_is_refused(project, capsys):
    assert project.main() == 0
    mark = project.state / "study.json"
    mark.write_text(mark.read_text().replace('"code": "', '"code": "x'))
    assert project.main() == 2
    assert "name another --state" in capsys.readouterr().err


def test_bases_have_no_group():
    assert Arm("smoke-base", "").base == "smoke-base"
