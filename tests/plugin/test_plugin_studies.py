"""Studies under pytest: served once, killed and taken up again, machines in trouble."""

import json
import signal

import pytest
from toy import CHECKS, end, holds, wait_for

TRAINER = """
import os
import time
import torch
from verify.train.loop import train
from verify.train.optimisers import SGD


def parabolas(batch):
    here = os.path.dirname(__file__)
    with open(os.path.join(here, "log"), "a") as log:
        log.write("trained\\n")
    seeds = torch.tensor(batch.seeds, dtype=torch.float64)[:, None]
    pause = 0.0 if "CALM" in os.environ else float(os.environ.get("PAUSE", 0.02))
    return train(
        {"x": seeds % 97 / 7 - 5},
        lambda params, _: (params["x"] - 1 / 3).square().sum(dim=1),
        lambda step: time.sleep(pause),
        SGD(batch.tensor("lr")),
        batch.common("steps"),
        observe=lambda params: dict(params),
        limit=1e9,
        progress=batch.progress,
    )
"""
STUDY = """

from verify.runs import Study


@evidence
def training(seed, device, runs):
    study = Study(
        name="toy/parabolas",
        trainer="theorems.toy.lab.trainer:parabolas",
        configurations=[{"lr": lr} for lr in (0.1, 0.2, 4.0)],
        seeds=[seed % 1000 + i for i in range(8)],
        options={"steps": 25},
        chunk=8,
        device=device,
    )
    return runs.get(study)


@check(CLAIM, grade="numeric", scope="eight starts")
def trained(claim, training):
    ends = training.groups[0].params["x"]
    return counted(claim).but(
        measured=float(ends[0, 0]),
        discards={"diverged": training.diverged},
        reason=" ".join(x.hex() for x in ends.ravel().tolist()),
    )
"""
SEPARATE = """

@check(CLAIM, grade="numeric", scope="eight starts")
def again(claim, training):
    return counted(claim)
"""


def laboratory(made, cache):
    """Fill a project with a claim that has a check on trained models."""
    made.add("theorem_1", holds() + CHECKS + STUDY + SEPARATE)
    lab = made.folder / "theorems" / "toy" / "lab"
    lab.mkdir()
    (lab / "__init__.py").write_text('"""A trainer."""\n')
    (lab / "trainer.py").write_text(TRAINER)
    made.cache = cache
    made.log = lab / "log"
    made.trained = lambda: len(made.log.read_text().split()) if made.log.exists() else 0
    return made


@pytest.fixture
def project(new_project, tmp_path):
    """A project with a study and a cache of its own."""
    return laboratory(new_project(), tmp_path / "cache")


@pytest.fixture(scope="module")
def finished(new_project, tmp_path_factory):
    """The same after a whole run; only to be read."""
    made = laboratory(new_project(), tmp_path_factory.mktemp("cache") / "cache")
    return made, run(made, "--jobs=2")


def run(project, *arguments, **env):
    return project.verify("run", f"--cache={project.cache}", *arguments, **env)


def studies(project):
    (claim,) = project.report()["claims"]
    return {c["name"]: c["studies"] for c in claim["checks"]}


def test_a_study_is_trained_once_for_all_checks_and_runs(finished):
    project, first = finished
    assert first.code == 0, first.text
    digest = project.report()["result_digest"]
    assert project.trained() == 3
    (served,) = studies(project)["trained"]
    assert (served["name"], served["runs"]) == ("toy/parabolas", 24)
    assert served["diverged"] == 8
    assert len(served["keys"]) == 3
    assert studies(project)["again"] == [served]
    assert studies(project)["proof"] == []
    again = run(project, "--quiet", "--out=again")
    assert again.code == 0
    assert "study" not in again.out
    assert project.trained() == 3
    report = json.loads((project.folder / "again" / "report.json").read_text("utf-8"))
    assert report["result_digest"] == digest


def test_back_ends_and_a_kill_change_no_digest(project, tmp_path):
    process = project.start(
        *("-m", "verify", "run", "--device=cpu", "--profile=smoke", "--jobs=1"),
        f"--cache={project.cache}",
    )
    entries = project.cache / "entries"
    wait_for(lambda: len(list(entries.glob("*/*"))) >= 1, "the first entry")
    end(process)
    assert run(project, "--resume", CALM="1").code == 0
    resumed = project.report()["result_digest"]
    assert 3 <= project.trained() <= 4  # what was under way is trained again
    project.cache = tmp_path / "other"
    assert run(project, "--study-jobs=2", CALM="1").code == 0
    assert project.report()["result_digest"] == resumed
    (served,) = studies(project)["trained"]
    assert served["runs"] == 24


def test_interrupted_training_in_processes_ends(project):
    process = project.start(
        *("-m", "verify", "run", "--device=cpu", "--profile=smoke", "--jobs=1"),
        *(f"--cache={project.cache}", "--study-jobs=2"),
        PAUSE="2",
    )
    wait_for(lambda: project.trained() >= 2, "training")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, out + err


def test_progress_in_plain_lines(finished):
    project, done = finished
    assert "[4/4] HOLDS" in done.out
    assert not (project.out / ".studies").exists()


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_cache_that_cannot_be_written(project, jobs):
    project.cache.write_text("no folder")
    done = project.python(
        *("-m", "pytest", "theorems", "--verify-profile=smoke", f"-n{jobs}"),
        f"--verify-cache={project.cache}",
    )
    report = project.report()
    assert done.code == report["run"]["exit_code"] == 3
    assert project.verdicts() == {"theorem-1": "NOT_RUN"}
    crash = report["run"]["crashes"][0]
    assert crash.startswith("theorems/toy/theorem_1.py::trained[theorem-1]: cannot")
    assert "choose another folder with --cache" in crash
    assert report["run"]["red"] == []
    by_name = {c["name"]: c["verdict"] for c in report["claims"][0]["checks"]}
    assert by_name["proof"] == "HOLDS"


def test_the_command_line_refuses_a_cache_that_is_a_file(project):
    project.cache.write_text("no folder")
    done = run(project)
    assert done.code == 2
    assert "--cache" in done.err


def test_impossible_options_of_slurm(project):
    done = run(project, "--slurm-partition=gpu")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "need --backend slurm" in done.err
    done = run(project, "--slurm-option=gpu")
    assert "write KEY=VALUE" in done.err
    assert done.code == 2


def test_a_cluster_that_is_not_there(project, tmp_path):
    done = run(project, "--backend=slurm", PATH=str(tmp_path))
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "submitit" in done.err or "sbatch" in done.err


def test_the_cache_is_of_this_project(finished):
    project, _ = finished
    done = project.verify("cache", "ls", f"--cache={project.cache}")
    assert done.out.startswith("toy/parabolas"), done.text
    assert "stale" not in done.out
    assert "not here" not in done.out


def test_the_record_and_the_page_name_the_study(finished):
    project, _ = finished
    text = (project.out / "report.json").read_text(encoding="utf-8")
    assert json.loads(text)["claims"][0]["checks"]
    assert "24 runs of study" in (project.out / "index.html").read_text("utf-8")
    assert project.verify("recheck", str(project.out / "report.json")).code == 0
