"""pytest as the engine: from any folder, installed or not, whole and in part."""

import pytest
from toy import CHECKS, OPTIONAL, PYPROJECT, ROOT, holds, one_check, refuted

BOTH = {"theorem-1": "HOLDS", "theorem-2": "REFUTED"}
SOME = {"theorem-1": "HOLDS", "theorem-2": "NOT_RUN"}
NOBODY = {"theorem-1": "NOT_RUN", "theorem-2": "NOT_RUN"}


def test_whole_run_reproduces_the_findings(whole):
    project, done = whole
    run = project.report()["run"]
    assert done.code == run["exit_code"] == 0
    assert project.verdicts() == BOTH
    assert not run["partial"]
    assert "PARTIAL" not in done.out
    names = {path.name for path in project.out.iterdir()}
    assert names >= {"report.json", "index.html", "summary.md", "junit.xml"}


def test_refuted_never_reads_passed(whole):
    _, done = whole
    node = "theorems/toy/theorem_{0}.py::{1}[theorem-{0}]"
    assert f"{node.format(1, 'proof')} HOLDS" in done.out
    assert f"{node.format(2, 'proof')} REFUTED" in done.out
    assert f"{node.format(2, 'hunt')} REFUTED" in done.out
    assert "2 HOLDS, 2 REFUTED" in done.out
    assert "passed" not in done.out.lower()


def test_from_a_sub_folder(project):
    below = project.folder / "theorems" / "toy"
    done = project.pytest(".", cwd=below)
    assert done.code == 0
    assert project.verdicts() == BOTH


def test_from_elsewhere_by_absolute_path(project, tmp_path):
    done = project.pytest(str(project.folder / "theorems"), cwd=tmp_path)
    assert done.code == 0
    assert project.verdicts() == BOTH
    assert not list(tmp_path.iterdir())


def test_uninstalled(project):
    """No PYTHONPATH, no installation: pythonpath and addopts of the project suffice."""
    (project.folder / "verify").symlink_to(ROOT / "verify")
    (project.folder / "pyproject.toml").write_text(PYPROJECT + 'pythonpath = ["."]\n')
    module = holds() + CHECKS + one_check("import verify; print(verify.__file__)")
    project.add("theorem_1", module)
    command = ("-P", "-m", "pytest", "theorems", "-s", "--verify-device=cpu")
    done = project.python(*command, PYTHONPATH="")
    assert done.code == 0
    assert str(project.folder / "verify" / "__init__.py") in done.out


def test_one_file(project):
    done = project.pytest("theorems/toy/theorem_1.py")
    assert done.code == 0
    assert project.verdicts() == {"theorem-1": "HOLDS"}
    assert project.report()["run"]["partial"]


def test_one_node(project):
    done = project.pytest("theorems/toy/theorem_2.py::proof[theorem-2]")
    assert done.code == 0
    assert project.verdicts() == {"theorem-2": "REFUTED"}


def test_what_nobody_asked_for_is_counted_and_not_listed(project):
    done = project.pytest("theorems", "--verify-select=toy/theorem-1")
    rows = [line.split()[:2] for line in done.out.splitlines()]
    assert ["HOLDS", "toy/theorem-1"] in rows
    assert ["NOT_RUN", "toy/theorem-2"] not in rows
    assert "1 not run" in done.out


@pytest.mark.parametrize(
    ("arguments", "verdicts"),
    [
        (["-k", "theorem_1"], SOME),
        (["-m", "claim(paper='toy')"], BOTH),
        (["-m", "claim(id='toy/theorem-1')"], SOME),
        (["-m", "symbolic"], {**NOBODY, "theorem-2": "REFUTED"}),
        (["--verify-select=toy/theorem-1"], SOME),
        (["--verify-select=toy/*-2", "--verify-select=toy/theorem-1"], BOTH),
    ],
    ids=["k", "m-paper", "m-id", "m-grade", "select", "select-glob"],
)
def test_selection(project, arguments, verdicts):
    done = project.pytest("theorems", *arguments)
    run = project.report()["run"]
    assert done.code == run["exit_code"] == 0
    assert project.verdicts() == verdicts
    assert run["partial"] is (verdicts != BOTH)
    assert ("PARTIAL" in done.out) is run["partial"]


def test_part_that_contradicts_is_red(bare):
    bare.add("theorem_1", holds() + CHECKS + one_check("return Holds()"))
    assert bare.pytest("theorems", "-k", "trap").code == 1
    assert bare.pytest("theorems", "-k", "proof").code == 0


def test_first_failure_stops_the_run(bare):
    bare.add("theorem_1", holds() + one_check("return Holds()", "first") + CHECKS)
    bare.add("theorem_2", refuted() + CHECKS)
    done = bare.pytest("theorems", "-x")
    assert done.code == 1
    assert bare.report()["run"]["partial"]
    assert bare.verdicts()["theorem-2"] == "NOT_RUN"


def test_first_failure_stops_a_distributed_run(bare):
    bare.add("theorem_1", holds() + one_check("return Holds()", "first") + CHECKS)
    bare.add("theorem_2", refuted() + CHECKS)
    done = bare.pytest("theorems", "-x", "-n", "2")
    assert done.code == 1
    assert "BROKEN" in bare.report()["run"]["red"][0]


def test_last_failed(bare):
    path = bare.add("theorem_1", holds() + CHECKS + one_check("return Holds()"))
    assert bare.pytest("theorems").code == 1
    done = bare.pytest("theorems", "--lf")
    assert done.code == 1
    assert [c["verdict"] for c in bare.report()["claims"][0]["checks"][:2]] == [
        "NOT_RUN",
        "NOT_RUN",
    ]
    path.write_text(holds() + CHECKS + one_check("pass"))
    assert bare.pytest("theorems", "--lf").code == 0


@pytest.mark.parametrize(
    "arguments", [["-n", "2"], ["-n", "2", "--dist", "loadfile"]], ids=["load", "file"]
)
def test_distributed_runs_agree_with_serial_ones(project, arguments, whole):
    serial = whole[0].report()
    done = project.pytest("theorems", *arguments)
    report = project.report()
    assert done.code == 0
    assert report["run"]["jobs"] == 2
    assert report["result_digest"] == serial["result_digest"]
    assert report["verdict_digest"] == serial["verdict_digest"]


def test_digests_and_seeds(project, whole):
    reports = [whole[0].report()]
    for seed in (0, 1):
        assert project.pytest("theorems", f"--verify-seed={seed}").code == 0
        reports.append(project.report())
    first, again, other = reports
    assert first["result_digest"] == again["result_digest"] != other["result_digest"]
    assert {r["verdict_digest"] for r in reports} == {first["verdict_digest"]}


def test_empty_selection_is_no_success(project):
    assert project.pytest("theorems", "-k", "nothing_at_all").code == 2
    assert project.verdicts() == NOBODY
    assert project.report()["run"]["exit_code"] == 2


def test_folder_without_theorems_is_no_success(bare):
    assert bare.pytest("theorems").code == 5
    assert not bare.out.exists()


def test_collect_only_writes_nothing(project):
    done = project.pytest("theorems", "--collect-only", "-q")
    assert done.code == 0
    assert "theorems/toy/theorem_1.py::proof[theorem-1]" in done.out
    assert not project.out.exists()


def test_optional_check_without_its_package(bare):
    missing = OPTIONAL.replace("MORE", 'needs_module="no_such_package"')
    bare.add("theorem_1", holds() + CHECKS + missing)
    done = bare.pytest("theorems", "-rs")
    claim = bare.report()["claims"][0]
    assert done.code == 0
    assert claim["verdict"] == "HOLDS"
    assert claim["checks"][2]["verdict"] == "NOT_RUN"
    assert claim["checks"][2]["reason"] == "package no_such_package is not installed"
    assert not bare.report()["run"]["partial"]


def test_check_left_out_by_the_profile(bare):
    slow = OPTIONAL.replace("MORE", 'profiles=("full",)')
    bare.add("theorem_1", holds() + CHECKS + slow)
    assert bare.pytest("theorems").code == 0
    record = bare.report()["claims"][0]["checks"][2]
    assert record["verdict"] == "NOT_RUN"
    assert record["reason"] == "left out of profile smoke"
    assert bare.pytest("theorems", "--verify-profile=full").code == 0
    assert bare.report()["claims"][0]["checks"][2]["verdict"] == "HOLDS"


def test_required_check_left_out_leaves_the_claim_not_run(bare):
    slow = CHECKS.replace('scope="one case"', 'scope="one case", profiles=("full",)')
    bare.add("theorem_1", holds() + slow)
    assert bare.pytest("theorems").code == 0
    assert bare.verdicts() == {"theorem-1": "NOT_RUN"}


def test_strict_claims(project):
    assert project.verify("run", "--strict-claims").code == 1
    assert project.report()["run"]["exit_code"] == 1
    (project.folder / "theorems" / "toy" / "theorem_2.py").unlink()
    assert project.pytest("theorems", "--verify-strict").code == 0


def test_step_summary_is_appended_once(project, tmp_path):
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    done = project.pytest("theorems", "-n", "2", GITHUB_STEP_SUMMARY=str(path))
    text = path.read_text(encoding="utf-8")
    assert done.code == 0
    assert text.startswith("before\n")
    assert text.count((project.out / "summary.md").read_text(encoding="utf-8")) == 1
    assert text.count("\n# ") == 1


def test_previous_run_is_kept(project):
    assert project.pytest("theorems").code == 0
    first = project.report()
    assert project.pytest("theorems", "-k", "theorem_1").code == 0
    kept = (project.out / "previous" / "report.json").read_text(encoding="utf-8")
    assert first["run"]["id"] in kept
    assert project.report()["run"]["partial"]
