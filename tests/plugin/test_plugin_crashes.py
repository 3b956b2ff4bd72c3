"""Kills, crashes and interrupts: a truthful report, exit code 3, and resumption."""

import json
import signal

import pytest
from toy import CHECKS, end, holds, one_check, refuted, wait_for

from verify.journal import JournalError, read

CALM = "if 'CALM' in os.environ: return counted(claim)"
EXITS = {
    "exit": "os._exit(0)",
    "kill": "os.kill(os.getpid(), 9)",
}
STAYS = "import time; open('here', 'w'); time.sleep(600)"
DIED = "the run did not finish"


def trapped(deed):
    """A claim with a check that does something unless the environment is CALM."""
    body = f"{CALM}\n    {deed}"
    return holds("toy/theorem-3") + CHECKS + one_check(body)


@pytest.fixture
def deadly(project):
    """A project whose last check kills its process, with an exit code of 0."""
    project.add("theorem_3", trapped(EXITS["exit"]))
    return project


def by_name(report):
    """Verdicts of the checks of the claim with the trap."""
    claim = next(c for c in report["claims"] if c["id"] == "toy/theorem-3")
    return {check["name"]: check["verdict"] for check in claim["checks"]}


@pytest.mark.parametrize("deed", EXITS.values(), ids=EXITS)
def test_check_that_kills_the_run(project, deed):
    project.add("theorem_3", trapped(deed))
    done = project.verify("run")
    report = project.report()
    assert done.code == report["run"]["exit_code"] == 3
    assert report["run"]["crashes"] == [DIED]
    assert report["run"]["partial"]
    assert project.verdicts() == {
        "theorem-1": "HOLDS",
        "theorem-2": "REFUTED",
        "theorem-3": "NOT_RUN",
    }
    assert by_name(report) == {"proof": "HOLDS", "hunt": "HOLDS", "trap": "NOT_RUN"}
    assert "did not finish" in done.out
    assert (project.out / "index.html").exists()


@pytest.mark.parametrize("deed", EXITS.values(), ids=EXITS)
def test_check_that_kills_its_worker(project, deed):
    project.add("theorem_3", trapped(deed))
    done = project.verify("run", "--jobs=2")
    run = project.report()["run"]
    assert done.code == run["exit_code"] == 3
    assert run["crashes"] == ["theorems/toy/theorem_3.py::trap[theorem-3]"]
    assert project.verdicts()["theorem-2"] == "REFUTED"
    assert project.verdicts()["theorem-3"] == "NOT_RUN"
    assert "crash: theorems/toy/theorem_3.py::trap[theorem-3]" in done.out


def test_pytest_names_the_killed_worker_too(deadly):
    done = deadly.pytest("theorems", "-n", "2")
    assert done.code == 3
    assert deadly.report()["run"]["crashes"] == [
        "theorems/toy/theorem_3.py::trap[theorem-3]"
    ]


@pytest.mark.parametrize("left", [1, 2, 3])
def test_replaced_worker_runs_the_few_checks_that_are_left(bare, left):
    names = [f"check_{i}" for i in range(left)]
    more = "".join(one_check("pass", name, "symbolic") for name in names)
    trap = one_check(f"{CALM}\n    {EXITS['kill']}")
    bare.add("theorem_3", holds("toy/theorem-3") + trap + more)
    done = bare.pytest("theorems", "-n", "1", "--dist", "loadfile")
    assert done.code == 3  # and it ends
    verdicts = {"trap": "NOT_RUN"} | dict.fromkeys(names, "HOLDS")
    assert by_name(bare.report()) == verdicts


def test_module_that_kills_the_run_leaves_no_old_success(project):
    assert project.verify("run").code == 0
    project.add("theorem_3", "import os\nos._exit(0)\n")
    assert project.verify("run").code == 3


def test_crash_in_ci_reaches_the_step_summary(deadly, tmp_path):
    path = tmp_path / "summary.md"
    done = deadly.verify("run", GITHUB_STEP_SUMMARY=str(path))
    assert done.code == 3
    assert path.read_text(encoding="utf-8").count("\n# ") <= 1
    assert "toy/theorem-3" in path.read_text(encoding="utf-8")


@pytest.fixture
def killed(project):
    """A run that was killed from outside in its last check."""
    project.add("theorem_3", trapped(STAYS))
    line = ("-m", "pytest", "theorems", "--verify-device=cpu")
    process = project.start(*line, "--verify-profile=smoke")
    wait_for((project.folder / "here").exists, "the last check")
    end(process)
    return project


def test_killed_run_is_reported_truthfully(killed):
    assert not (killed.out / "report.json").exists()
    done = killed.verify("report", str(killed.out))
    report = killed.report()
    assert done.code == 0
    assert report["run"]["exit_code"] == 3
    assert report["run"]["crashes"] == [DIED]
    assert by_name(report)["trap"] == "NOT_RUN"
    assert killed.verdicts()["theorem-2"] == "REFUTED"


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_resumed_run_equals_an_undisturbed_one(killed, jobs):
    line = ("run", "--resume", f"--jobs={jobs}", "--quiet")
    done = killed.verify(*line, CALM="1")
    resumed = killed.report()
    assert done.code == 0
    assert "1 HOLDS" in done.out
    assert "2 HOLDS" not in done.out
    finished = [json.loads(x) for x in killed.journal()]
    checks = [x["name"] for x in finished if x["type"] == "check"]
    assert len(checks) == 7
    assert killed.verify("run", CALM="1").code == 0
    assert killed.report()["result_digest"] == resumed["result_digest"]
    assert killed.report()["run"]["crashes"] == resumed["run"]["crashes"] == []


def test_resumption_that_crashes_again(deadly):
    assert deadly.verify("run").code == 3
    done = deadly.verify("run", "--resume", "--jobs=2")
    assert done.code == 3
    assert deadly.report()["run"]["crashes"] == [
        "theorems/toy/theorem_3.py::trap[theorem-3]"
    ]
    assert deadly.verify("run", "--resume", "--jobs=2", CALM="1").code == 0
    assert deadly.report()["run"]["crashes"] == []


def test_resumption_with_nothing_left_to_do(project):
    assert project.verify("run").code == 0
    before = project.report()
    done = project.verify("run", "--resume")
    assert done.code == 0
    assert project.report()["result_digest"] == before["result_digest"]


def test_torn_last_line_is_passed_over(project):
    assert project.verify("run").code == 0
    whole = project.report()
    path = project.out / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]) + lines[-2][:99])
    assert project.verify("report", str(project.out)).code == 0
    assert project.report()["run"]["crashes"] == [DIED]
    assert project.verify("run", "--resume").code == 0
    assert project.report()["result_digest"] == whole["result_digest"]
    assert all(json.loads(line) for line in project.journal())


@pytest.fixture(scope="module")
def finished(new_project):
    """The lines of the journal of a finished run."""
    project = new_project("finished")
    project.add("theorem_1", holds() + CHECKS)
    assert project.pytest("theorems").code == 0
    return project.journal()


@pytest.mark.parametrize("damage", ["{", "[1, 2]", "7", '{"type": "check"}'])
@pytest.mark.parametrize("place", [1, -1])
def test_damaged_line_is_refused(finished, tmp_path, damage, place):
    lines = list(finished)
    lines[place] = damage
    (tmp_path / "journal.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(JournalError, match=rf"line {len(lines) if place < 0 else 2}: "):
        read(tmp_path)


@pytest.mark.parametrize("head", ["", "{}", "[]", "7", "not json"])
def test_damaged_header_is_refused(tmp_path, head):
    (tmp_path / "journal.jsonl").write_text(head + "\n")
    with pytest.raises(JournalError, match="does not begin with a run's header"):
        read(tmp_path)


def test_damage_is_one_line_on_the_command_line(bare, finished):
    bare.out.mkdir(parents=True)
    (bare.out / "journal.jsonl").write_text("\n".join([finished[0], "{", ""]))
    done = bare.verify("report", str(bare.out))
    assert done.code == 2
    assert "line 2: damaged; delete that line" in done.err
    assert len(done.err.splitlines()) == 1


def test_two_runs_in_one_folder(project):
    project.add("theorem_3", trapped(STAYS))
    line = ("-m", "pytest", "theorems", "--verify-device=cpu")
    first = project.start(*line)
    try:
        wait_for((project.folder / "here").exists, "the first run")
        before = project.journal()
        for more in ([], ["--resume"]):
            second = project.verify("run", *more)
            assert second.code == 2
            assert "another run is writing to" in second.err
            assert len(second.err.strip().splitlines()) == 1
        assert project.journal() == before
    finally:
        end(first)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupt_inside_a_check(project, jobs):
    project.add("theorem_3", trapped("raise KeyboardInterrupt"))
    done = project.verify("run", f"--jobs={jobs}")
    assert done.code == project.report()["run"]["exit_code"] == 3
    assert project.verdicts()["theorem-3"] == "NOT_RUN"


def test_interrupt_of_the_command_line(project):
    project.add("theorem_3", trapped(STAYS))
    line = ("-m", "verify", "run", "--device=cpu", "--jobs=1", "--profile=smoke")
    process = project.start(*line)
    try:
        wait_for((project.folder / "here").exists, "the last check")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        end(process)
    assert process.returncode == project.report()["run"]["exit_code"] == 3
    assert project.verdicts()["theorem-1"] == "HOLDS"
    assert project.verdicts()["theorem-3"] == "NOT_RUN"


def test_refuted_claims_survive_a_crash(bare):
    bare.add("theorem_1", refuted("toy/theorem-3") + CHECKS + one_check("os._exit(1)"))
    assert bare.verify("run").code == 3
    assert bare.verdicts() == {"theorem-3": "REFUTED"}
