"""Bad input: one line that names the remedy, the designed exit code, nothing lost."""

import pytest
from toy import CHECKS, holds, refuted


def said(done):
    """The lines of a failed command on standard error."""
    return done.err.strip().splitlines()


def one_line(done, *parts):
    """Whether the error is one line that contains all the parts."""
    lines = said(done)
    return len(lines) == 1 and all(part in lines[0] for part in parts)


def test_unknown_claim_suggests_the_nearest(project):
    typo = "toy/theorm-1"
    done = project.pytest("theorems", f"--verify-select={typo}")
    assert done.code == 4
    assert one_line(done, typo, "did you mean 'toy/theorem-1'?")
    done = project.verify("run", typo)
    assert done.code == 2
    assert one_line(done, typo, "did you mean 'toy/theorem-1'?")
    assert not project.out.joinpath("report.json").exists()


def test_unknown_claim_leaves_the_last_report_alone(project):
    assert project.pytest("theorems").code == 0
    before = project.report()
    assert project.verify("run", "toy/theorm-1").code == 2
    assert project.report() == before
    assert not (project.out / "previous").exists()


def test_unknown_claim_when_collecting_only(project):
    done = project.pytest("theorems", "--collect-only", "--verify-select=toy/x")
    assert done.code == 4
    assert "INTERNALERROR" not in done.text
    assert "no claim matches 'toy/x'" in done.text


@pytest.mark.parametrize(
    ("line", "word", "workers"),
    [
        ("import no_such_module", "ModuleNotFoundError", 0),
        ("def", "SyntaxError", 0),
        ("def", "SyntaxError", 2),
    ],
    ids=["import", "syntax", "syntax-distributed"],
)
def test_module_that_cannot_be_loaded(project, line, word, workers):
    project.add("theorem_3", line)
    done = project.pytest("theorems", "--tb=short", "-n", str(workers))
    said_by = max(workers, 1)  # pytest-xdist repeats what each worker says
    assert done.code == 2
    assert done.out.count("ERROR collecting theorems/toy/theorem_3.py") == said_by
    assert word in done.out
    report = project.report()
    assert report["run"]["exit_code"] != 0
    assert report["run"]["partial"]
    assert report["run"]["notes"] == ["theorem_3.py could not be loaded"]
    assert {c["id"] for c in report["claims"]} == {"toy/theorem-1", "toy/theorem-2"}


def test_module_that_cannot_be_loaded_by_the_command_line(project):
    project.add("theorem_3", "import no_such_module")
    done = project.verify("run")
    assert done.code == 2
    assert "theorems/toy/theorem_3.py" in done.text
    assert "no_such_module" in done.text


def test_other_modules_run_when_asked_to(project):
    project.add("theorem_3", "import no_such_module")
    done = project.pytest("theorems", "--continue-on-collection-errors")
    assert done.code == 2
    assert project.verdicts() == {"theorem-1": "HOLDS", "theorem-2": "REFUTED"}


def test_two_modules_with_one_id(bare):
    bare.add("theorem_1", holds() + CHECKS)
    bare.add("theorem_2", holds() + CHECKS)
    done = bare.verify("run")
    assert done.code == 2
    assert (
        "two claims are called 'toy/theorem-1': in theorem_1.py and in theorem_2.py; "
        "rename one" in done.out
    )
    assert "Traceback" not in done.text


def test_claim_beside_its_readings(bare):
    bare.add("theorem_1", holds() + CHECKS)
    bare.add("theorem_2", holds("toy/theorem-1@narrow") + CHECKS)
    done = bare.verify("run")
    assert done.code == 2
    assert "a claim with readings has only rows with @" in done.out


def test_theorem_without_mutants(bare):
    head, _, tail = holds().partition("    mutants=")
    bare.add("theorem_1", head + tail.partition("\n")[2] + CHECKS)
    done = bare.verify("run")
    assert done.code == 2
    assert "toy/theorem-1 has no mutants: add at least one false change" in done.out
    assert "Traceback" not in done.text


@pytest.mark.parametrize("out", ["file", "file/below", "/proc/reports"])
def test_unwritable_folder(project, tmp_path, out):
    (tmp_path / "file").touch()
    done = project.verify("run", f"--out={tmp_path / out}")
    assert done.code == 2
    assert one_line(done, str(tmp_path / out))


def test_unwritable_folder_under_pytest(project):
    done = project.pytest("theorems", "--verify-out=/proc/reports")
    assert done.code == 4
    assert one_line(done, "cannot write to /proc/reports", "choose another --out")


def test_cuda_where_there_is_none(project):
    blind = {"CUDA_VISIBLE_DEVICES": "", "PYTHONPYCACHEPREFIX": ""}
    done = project.verify("run", "--device=cuda", **blind)
    assert done.code == 2
    assert one_line(done, "--device cuda", "use --device cpu")


def test_unknown_profile(project):
    done = project.verify("run", "--profile=huge")
    assert done.code == 2
    assert one_line(done, "huge", "'smoke', 'default', 'full'")
    assert project.pytest("theorems", "--verify-profile=huge").code == 4


def test_no_theorems_here(project, tmp_path):
    done = project.python("-m", "verify", "run", cwd=tmp_path)
    assert done.code == 2
    assert one_line(done, "no folder theorems/", "--theorems")


def test_nothing_to_resume(project):
    done = project.verify("run", "--resume")
    assert done.code == 2
    assert one_line(done, "nothing to resume", "without --resume")
    assert not (project.out / "journal.jsonl").exists()


def test_resume_of_another_run_is_refused(project):
    assert project.verify("run").code == 0
    before = project.journal()

    def refused(change, *arguments):
        done = project.verify("run", "--resume", *arguments)
        remedy = one_line(done, f"had another {change}", "run without --resume")
        return done.code == 2 and remedy and project.journal() == before

    assert refused("seed", "--seed=1")
    assert refused("profile", "--profile=full")
    project.add("theorem_1", holds() + CHECKS + "\n# another line\n")
    assert refused("code")


def test_resume_with_a_broken_module_loses_nothing(project):
    assert project.verify("run").code == 0
    before = project.journal()
    project.add("theorem_1", "def")
    assert project.verify("run", "--resume").code == 2
    assert project.journal() == before


def test_another_paper_in_one_project(project):
    claim = refuted("other/theorem-1").replace("theorems.toy", "theorems.other")
    project.add("theorem_1", claim + CHECKS, paper="other")
    assert project.verify("run", "other/*").code == 0
    verdicts = {c["id"]: c["verdict"] for c in project.report()["claims"]}
    assert verdicts["other/theorem-1"] == "REFUTED"
    assert verdicts["toy/theorem-1"] == "NOT_RUN"
    done = project.pytest("theorems", "-m", "claim(paper='other')")
    assert done.code == 0
    assert "4 deselected, 2 REFUTED" in done.out
