"""The study of faults: what it strikes, what it notices, what it calls taken up."""

import copy
import os
import subprocess
import sys
import time
from functools import partial

import numpy as np
import pytest

from benchmarks import commands, faults, injections, trials
from benchmarks.claims_made import overclaims, overclaims_when_written
from benchmarks.injections import SmallDisk, UnableError
from benchmarks.trials import Study

MUTANT = {"name": "six", "rejected": True}


def honest():
    """A report and its journal: one claim that holds, one refuted, one not run."""
    checks = [
        {"name": n, "role": "check", "optional": False, "left_out": ""}
        for n in ("proof", "hunt")
    ]
    lines = [
        {"type": "header", "claims": [{"id": i, "checks": checks} for i in "abc"]},
        *(
            {
                "type": "check", "claim": claim, "name": name, "role": "check",
                "verdict": verdict, "broken": "", "trials": [MUTANT],
                "witness": {} if verdict == "HOLDS" else {"kind": "formula"},
            }
            for claim, name, verdict in (
                ("a", "proof", "HOLDS"), ("a", "hunt", "HOLDS"),
                ("b", "hunt", "REFUTED"),
            )
        ),
        {"type": "self-check", "name": "two ways", "verdict": "AGREE"},
    ]  # fmt: skip
    ran = {(x["claim"], x["name"]): x["verdict"] for x in lines[1:4]}
    claims = [
        {
            "id": claim, "paper": "p", "verdict": verdict,
            "checks": [
                {"name": n, "verdict": ran.get((claim, n), "NOT_RUN")}
                for n in ("proof", "hunt")
            ],
            "necessity": [{"check": "drop", "verdict": "not run"}],
            "mutants": [{"name": "six", "by": ["hunt"] if claim in "ab" else []}],
            "anchors": [{"name": "four", "held": []}],
        }
        for claim, verdict in zip("abc", ("HOLDS", "REFUTED", "NOT_RUN"), strict=True)
    ]  # fmt: skip
    counts = {"holds": 1, "refuted": 1, "reading_dependent": 0, "failing_steps": 0}
    report = {
        "claims": claims,
        "papers": [{"key": "p", "counts": counts}],
        "run": {"exit_code": 3, "crashes": ["did not finish"], "partial": True},
        "self_checks": [
            {"name": "two ways", "verdict": "AGREE"},
            {"name": "three ways", "verdict": "NOT_RUN"},
        ],
    }
    return report, lines


def test_an_honest_report_claims_nothing_more():
    report, lines = honest()
    assert overclaims(report, lines) == []
    finished = [*lines, {"type": "end"}]
    report["run"] |= {"exit_code": 1, "crashes": []}
    assert overclaims(report, finished) == []


def lie(report, *path, value):
    """Change one value of a report."""
    *way, last = path
    for step in way:
        report = report[step]
    report[last] = value


LIES = {
    "c: proof is HOLDS in the report and NOT_RUN": (
        "claims",
        2,
        "checks",
        0,
        "verdict",
    ),
    "c HOLDS though proof did not hold": ("claims", 2, "verdict"),
    "c: drop is needed and did not run": ("claims", 2, "necessity", 0, "verdict"),
    "c: hunt did not reject 'six'": ("claims", 2, "mutants", 0, "by"),
    "c: hunt did not hold for 'four'": ("claims", 2, "anchors", 0, "held"),
    "p: 2 counted as HOLDS": ("papers", 0, "counts", "holds"),
    "p: REFUTED is counted wrongly": ("papers", 0, "counts", "refuted"),
    "the run did not end and its exit code is 0": ("run", "exit_code"),
    "not called partial": ("run", "partial"),
    "self-check three ways is AGREE": ("self_checks", 1, "verdict"),
}
VALUES = {
    "verdict": "HOLDS", "by": ["hunt"], "held": ["hunt"], "holds": 2, "refuted": 3,
    "exit_code": 0, "partial": False,
}  # fmt: skip


@pytest.mark.parametrize("said", LIES)
def test_each_overclaim_is_found(said):
    report, lines = honest()
    path = LIES[said]
    value = "needed" if "necessity" in path else VALUES[path[-1]]
    value = "AGREE" if "self_checks" in path else value
    lie(report, *path, value=value)
    assert any(said in text for text in overclaims(report, lines))


def test_refuted_needs_a_witness_that_ran():
    report, lines = honest()
    bare = copy.deepcopy(lines)
    bare[3]["witness"] = None
    assert overclaims(report, bare) == ["b is REFUTED without a witness in the journal"]


def test_a_run_that_was_resumed_has_not_ended():
    report, lines = honest()
    report["run"] |= {"exit_code": 0, "crashes": []}
    assert overclaims(report, [*lines, {"type": "end"}, {"type": "resume"}])


def test_a_report_is_that_of_an_end_before_the_run_was_taken_up():
    report, lines = honest()
    report["run"] |= {"exit_code": 0, "crashes": []}
    more = {**lines[3], "claim": "c", "name": "hunt"}
    journal = [*lines, {"type": "end"}, {"type": "resume"}, more]
    assert overclaims_when_written(report, journal) == []
    lie(report, "claims", 2, "checks", 1, "verdict", value="REFUTED")  # ran after it
    assert overclaims_when_written(report, journal)
    report, lines = honest()
    report["run"] |= {"exit_code": 0, "crashes": []}
    assert overclaims_when_written(report, [*lines, {"type": "resume"}])


FAKE = '''
"""Stands for `verify`: six checks, a line of the journal each, and a report."""
import json, os, sys, time
from pathlib import Path

words = sys.argv[1:]
if words[1] == "report":
    out = Path(words[2])
else:
    out = Path(words[words.index("--out") + 1])
path = out / "journal.jsonl"
names = [f"check-{i}" for i in range(6)]


def made(end):
    done = [json.loads(x) for x in path.read_text().splitlines()]
    ran = [x["name"] for x in done if x["type"] == "check"]
    if os.environ.get("LIES") and words[1] == "report":
        ran = names
    whole = len(set(ran)) == len(names)
    checks = [{"name": n, "verdict": "HOLDS" if n in ran else "NOT_RUN"} for n in names]
    claim = {"id": "a", "paper": "p", "verdict": "HOLDS" if whole else "NOT_RUN",
             "checks": checks, "necessity": [], "mutants": [], "anchors": []}
    counts = {"holds": int(whole), "refuted": 0, "reading_dependent": 0,
              "failing_steps": 0}
    run = {"exit_code": 0 if end else 3, "crashes": [] if end else ["no end"],
           "partial": not whole}
    digest = os.environ.get("DIGEST", "d") if "--resume" in words else "d"
    return {"claims": [claim], "papers": [{"key": "p", "counts": counts}], "run": run,
            "result_digest": digest}


if words[1] == "report":
    print(json.dumps(made(False)))
    sys.exit()
out.mkdir(parents=True, exist_ok=True)
(Path(words[words.index("--cache") + 1]) / "entries").mkdir(parents=True, exist_ok=True)
resume = "--resume" in words
before = path.read_text().splitlines() if resume else []
ran = [json.loads(x).get("name") for x in before]
with path.open("a" if resume else "w") as file:
    def say(**line):
        file.write(json.dumps(line) + "\\n")
        file.flush()

    declared = [{"name": n, "role": "check", "optional": False, "left_out": ""}
                for n in names]
    say(type="resume") if resume else say(
        type="header", claims=[{"id": "a", "checks": declared}])
    for name in names:
        if name not in ran:
            time.sleep(float(os.environ.get("PAUSE", 0)))
            say(type="check", claim="a", name=name, role="check", verdict="HOLDS",
                broken="", witness=None, trials=[])
    say(type="end", exit_code=0)
(out / "report.json").write_text(json.dumps(made(True)))
'''


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A study of a command that stands for the real one."""
    fake = tmp_path / "fake.py"
    fake.write_text(FAKE)
    for module in (commands, trials):
        monkeypatch.setattr(module, "PYTHON", (sys.executable, str(fake)))
    select = {"smoke": (), "default": ()}
    return Study(tmp_path / "state", select, {"smoke": 1, "default": 0}, tmp_path)


def after_three(command, process):
    """Kill everything after three checks."""
    injections.wait_for(lambda: trials.checks_in(command.out) >= 3, process)
    return faults.kill_now("everything", process)


def test_a_killed_run_is_taken_up(study):
    study.trial("kill", "smoke", 0, after_three, env={"PAUSE": "0.2"})
    (made,) = study.trials()
    assert made.good, made.verdict
    assert made.of == 6
    assert 3 <= made.checks < 6
    assert made.code == -9


def test_a_run_that_does_not_end_is_killed_and_counted(study, monkeypatch):
    study.reference("smoke")
    monkeypatch.setattr(trials, "limit", lambda known: 2.0)
    study.trial("hang", "smoke", 0, lambda *_: "waits", env={"PAUSE": "30"})
    (made,) = study.trials()
    assert made.hung
    assert made.same
    assert not made.good
    assert "hung True" in made.verdict


def test_a_resumption_that_hangs_is_counted_and_has_no_second_try(study, monkeypatch):
    study.reference("smoke")
    monkeypatch.setattr(trials, "limit", lambda known: 3.0)
    monkeypatch.setenv("PAUSE", "30")
    study.trial("kill", "smoke", 0, after_three, env={"PAUSE": "0.2"})
    (made,) = study.trials()
    assert made.hung
    assert not made.same
    assert "exit -9" in made.said
    assert len(list((study.state / "logs").glob("kill-smoke-0.end*"))) == 1


def test_a_starved_worker_that_lives_on_is_killed(study, monkeypatch):
    begun = []

    def workers(process):
        begun[:] = [p for p in injections.family(process) if p.pid == process.pid]
        return begun

    monkeypatch.setattr(injections, "workers", workers)
    strike = partial(faults.starved, np.random.default_rng(0), -14.5)
    study.trial("memory", "smoke", 0, strike, env={"PAUSE": "1"})
    (made,) = study.trials()
    assert "MiB left" in made.how
    assert f"after 1 s process {begun[0].pid} killed" in made.how
    assert made.good, made.verdict


def test_a_trial_that_was_made_is_not_made_again(study):
    study.trial("kill", "smoke", 0, faults.nothing)
    study.trial("kill", "smoke", 0, lambda *_: pytest.fail("made again"))


def test_another_digest_and_a_lying_report_are_noticed(study, monkeypatch):
    monkeypatch.setenv("DIGEST", "other")
    monkeypatch.setenv("LIES", "1")
    study.trial("kill", "smoke", 0, after_three, env={"PAUSE": "0.2"})
    (made,) = study.trials()
    assert not made.same
    assert any("is HOLDS in the report and NOT_RUN" in text for text in made.too_much)


def test_the_table_tells_where_runs_were_struck(study):
    study.trial("kill", "smoke", 0, after_three, env={"PAUSE": "0.2"})
    study.trial("kill", "smoke", 1, faults.nothing)
    first, last = faults.rows(study.trials(), {"disk": "cannot mount"})
    assert first == ["kill", "smoke", 2, "0 · 1 · 1", 2, 0, 0]
    assert last[:4] == ["disk", "", 0, "not run: cannot mount"]


def test_points_and_victims_are_the_same_in_every_call(study):
    one, other = (study.chance("smoke", 3).uniform() for _ in range(2))
    assert one == other != study.chance("smoke", 4).uniform()


TWO = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"


def test_processes_that_outlive_their_command_are_found():
    env = os.environ | {injections.MARK: "outliving"}
    process = subprocess.Popen(
        [sys.executable, "-c", TWO], env=env, stdin=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip
    with process:
        injections.wait_for(lambda: len(injections.marked("outliving")) == 2, process)
        assert len(injections.outlived("outliving", 0.1)) == 2
        assert faults.kill_now("everything", process) == "everything killed"
        assert injections.outlived("outliving", 10) == []


TORCH = """
import types
where = matmul = einsum = lambda: "computed"
autograd = types.SimpleNamespace(grad=where)
"""
TRAINING = """
import torch

def train_into():
    return [torch.where() for _ in range(5)]

torch.where()  # outside of a training nothing is counted
for _ in range(2):
    try:
        print(*train_into())
    except RuntimeError as error:
        print(error)
"""


def test_torch_raises_once_and_in_a_training(tmp_path):
    env = injections.raising_torch(tmp_path / "site", 4)
    (tmp_path / "site" / "torch.py").write_text(TORCH)
    done = subprocess.run(
        [sys.executable, "-c", TRAINING], env=os.environ | env, cwd=tmp_path,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "CUDA error: unspecified launch failure (injected)",
        " ".join(["computed"] * 5),
    ]


CLOCKS = """
import datetime, time
start, seen = time.monotonic(), set()
while time.monotonic() < start + 2.1:
    seen.add(round((time.time() - time.monotonic()) / 86400))
    time.sleep(0.05)
now = datetime.datetime.now().timestamp()
print(len(seen), abs(now - time.time()) < 1)
"""


def test_the_clock_jumps_for_all_that_ask_it(tmp_path):
    try:
        env = injections.jumping_clock(tmp_path)
    except UnableError as error:
        pytest.skip(str(error))
    done = subprocess.run(
        [sys.executable, "-c", CLOCKS], env=os.environ | env,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    jumps, consistent = done.stdout.split()
    assert int(jumps) >= 2
    assert consistent == "True"


def test_a_small_disk_fills_and_grows(tmp_path):
    try:
        disk = SmallDisk(tmp_path / "disk", 64)
    except UnableError as error:
        pytest.skip(str(error))
    with disk:
        big = disk.folder / "big"
        with pytest.raises(OSError, match="No space left"):
            big.write_bytes(b"0" * 100_000)
        disk.change("size=1m")
        big.write_bytes(b"0" * 100_000)
        disk.change("ro")
        with pytest.raises(OSError, match="Read-only"):
            big.unlink()
    assert not list((tmp_path / "disk").iterdir())


def test_a_starved_process_runs_out_of_memory():
    code = "input(); b = bytearray(1 << 28)"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        time.sleep(0.3)
        (victim,) = injections.family(process)
        assert "16 MiB left" in injections.starve(victim, 16)
        _, err = process.communicate(b"\n", timeout=10)
    assert b"MemoryError" in err


def test_kills_follow_the_choice(study, monkeypatch):
    made = []
    monkeypatch.setattr(Study, "trial", lambda self, *a, **k: made.append((a, k)))
    study.kills["smoke"] = 10
    faults.kills(study, "smoke")
    assert {a[0] for a, _ in made} == {
        "SIGKILL of everything",
        "SIGKILL of the controller",
        "SIGKILL of the worker",
    }
    assert [a[2] for a, _ in made] == list(range(10))
    assert sum(k["again"] is not None for _, k in made) == 2
    assert all(isinstance(a[3], partial) for a, _ in made)
    assert isinstance(made[0][0][3].args[1], np.random.Generator)
