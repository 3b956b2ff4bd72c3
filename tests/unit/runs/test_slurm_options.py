"""The Slurm back-end without a Slurm: options, absences, and how it waits."""

import importlib.util
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from verify.runs import BackendError
from verify.runs.slurm import (
    SILENCE,
    Job,
    SlurmBackend,
    SlurmOptions,
    SubmititQueue,
    follow,
    start,
)
from verify.runs.slurm_options import read_extra
from verify.runs.store import Store
from verify.runs.study import Chunk

OPTIONS = SlurmOptions(poll_seconds=10.0, grace_seconds=20.0, retries=1)


def chunk(name, study="tiny", size=1):
    return Chunk(study, name, name * 8, runs=3, bytes_needed=size)


# Options


def test_nothing_given_is_the_defaults():
    assert SlurmOptions.from_environment({}) == SlurmOptions()


def test_every_option_is_read_from_the_environment():
    environ = {
        "VERIFY_SLURM_PARTITION": "gpu",
        "VERIFY_SLURM_GPUS": "h200:1",
        "VERIFY_SLURM_MINUTES": "90",
        "VERIFY_SLURM_MEMORY_GB": "2.5",
        "VERIFY_SLURM_CPUS": "4",
        "VERIFY_SLURM_ARRAY_PARALLELISM": "7",
        "VERIFY_SLURM_EXTRA": "account=lab --mail_type='a b' exclusive",
        "VERIFY_SLURM_FOLDER": "/shared/logs",
        "VERIFY_SLURM_RETRIES": "0",
        "VERIFY_SLURM_RESTARTS": "3",
        "VERIFY_SLURM_POLL_SECONDS": "30",
        "VERIFY_SLURM_GRACE_SECONDS": "0",
    }
    read = SlurmOptions.from_environment(environ)
    assert read == SlurmOptions(
        partition="gpu",
        gpus="h200:1",
        minutes=90,
        memory_gb=2.5,
        cpus=4,
        array_parallelism=7,
        extra={"account": "lab", "mail-type": "a b", "exclusive": True},
        folder=Path("/shared/logs"),
        retries=0,
        restarts=3,
        poll_seconds=30.0,
        grace_seconds=0.0,
    )
    unread = [f for f in vars(read) if getattr(read, f) == getattr(SlurmOptions(), f)]
    assert unread == []


def test_what_is_given_comes_before_the_environment():
    environ = {"VERIFY_SLURM_MINUTES": "90", "VERIFY_SLURM_CPUS": "4"}
    read = SlurmOptions.from_environment(environ, minutes="5", cpus=None)
    assert (read.minutes, read.cpus) == (5, 4)


def test_an_empty_variable_is_none():
    assert SlurmOptions.from_environment({"VERIFY_SLURM_PARTITION": ""}) == (
        SlurmOptions()
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("partition", "two words"),
        ("gpus", "two"),
        ("gpus", -1),
        ("gpus", "h200:0"),
        ("minutes", 0),
        ("minutes", "1.5"),
        ("minutes", "an hour"),
        ("memory_gb", 0),
        ("memory_gb", "nan"),
        ("memory_gb", "inf"),
        ("memory_gb", "8GB"),
        ("cpus", 0),
        ("array_parallelism", 0),
        ("retries", -1),
        ("restarts", "-1"),
        ("poll_seconds", 0),
        ("grace_seconds", "-1"),
        ("extra", "'unclosed"),
        ("extra", "Account=lab"),
        ("extra", "comment='one\ntwo'"),
        ("extra", 7),
    ],
)
def test_an_impossible_value_is_named_with_a_remedy(name, value):
    with pytest.raises(BackendError) as caught:
        SlurmOptions.from_environment({}, **{name: value})
    message = str(caught.value)
    assert f"`{name}`" in message
    assert f"VERIFY_SLURM_{name.upper()}" in message
    assert "use " in message
    if name != "extra":
        assert str(value) in message


@pytest.mark.parametrize(
    ("key", "option"), [("time", "minutes"), ("mem", "memory_gb"), ("array", None)]
)
def test_extra_cannot_say_what_the_back_end_says(key, option):
    with pytest.raises(BackendError, match="the back-end sets this one") as caught:
        SlurmOptions(extra={key: "1"})
    assert (f"give `{option}`" if option else "leave it out") in str(caught.value)


def test_an_unknown_option_is_named():
    with pytest.raises(BackendError, match=r"no Slurm option 'account'.*extra"):
        SlurmOptions.from_environment({}, account="lab")


@pytest.mark.parametrize(
    "given",
    [
        "account=lab exclusive",
        ["account=lab", "exclusive"],
        {"account": "lab", "exclusive": True},
    ],
)
def test_extra_is_text_a_sequence_or_a_mapping(given):
    assert read_extra(given) == {"account": "lab", "exclusive": True}


# Absences


def test_nothing_to_train_needs_no_slurm(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    SlurmBackend(OPTIONS).train([], Store(tmp_path), print)


def test_without_submitit_the_extra_is_named(monkeypatch, tmp_path):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda n: None if n == "submitit" else find(n)
    )
    with pytest.raises(BackendError, match=r"pip install 'theorem-verify\[slurm\]'"):
        SlurmBackend(OPTIONS).train([chunk("a")], Store(tmp_path), print)


def test_without_sbatch_the_alternative_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackendError, match=r"'sbatch'.*--backend processes"):
        SlurmBackend(OPTIONS).train([chunk("a")], Store(tmp_path), print)


def test_the_back_end_is_imported_without_submitit():
    assert SubmititQueue.__module__ == "verify.runs.slurm"
    assert "submitit" not in vars(sys.modules["verify.runs.slurm"])


# In a job


def test_a_job_works_until_it_was_started_again_too_often(monkeypatch):
    done = []

    def work(*arguments):
        done.append(arguments)

    monkeypatch.delenv("SLURM_RESTART_COUNT", raising=False)
    start(work, "store", ("path",), 2, chunk("a"))
    monkeypatch.setenv("SLURM_RESTART_COUNT", "2")
    start(work, "store", ("path",), 2, chunk("a"))
    assert done == [(chunk("a"), "store", ("path",))] * 2
    monkeypatch.setenv("SLURM_RESTART_COUNT", "3")
    with pytest.raises(BackendError, match=r"again 3 times.*VERIFY_SLURM_RESTARTS"):
        start(work, "store", ("path",), 2, chunk("a"))
    assert len(done) == 2


# squeue and scancel, as scripts


@pytest.fixture
def command(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def write(name, script):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)

    return write


def test_the_queue_is_read_with_its_reasons(command, tmp_path):
    command(
        "squeue", r"printf '7_0|None\n7_1|launch failed requeued held\n8|Priority\n'"
    )
    assert SubmititQueue(OPTIONS, tmp_path / "store").listed() == {
        "7_0": "None",
        "7_1": "launch failed requeued held",
        "8": "Priority",
    }


def test_an_empty_queue_is_an_answer_and_a_failure_is_none(command, tmp_path):
    queue = SubmititQueue(OPTIONS, tmp_path / "store")
    command("squeue", "exit 0")
    assert queue.listed() == {}
    command("squeue", "echo 7_0; exit 1")
    assert queue.listed() is None


def test_what_a_user_hides_from_squeue_is_seen(command, monkeypatch, tmp_path):
    command("squeue", 'echo "7_${SQUEUE_STATES:-all}|None"')
    monkeypatch.setenv("SQUEUE_STATES", "R")
    assert SubmititQueue(OPTIONS, tmp_path / "store").listed() == {"7_all": "None"}


def test_cancelling_nothing_calls_nothing(command, tmp_path):
    command("scancel", f"touch {tmp_path}/called")
    SubmititQueue(OPTIONS, tmp_path / "store").cancel()
    assert not (tmp_path / "called").exists()


def test_logs_lie_beside_the_store_or_where_they_are_told(tmp_path):
    store = tmp_path / "store"
    assert SubmititQueue(OPTIONS, store).logs == tmp_path / "store-slurm"
    options = SlurmOptions(folder=tmp_path / "logs")
    assert SubmititQueue(options, store).logs == tmp_path / "logs"


# Waiting


@dataclass
class FakeQueue:
    """A cluster whose time is counted in looks at it.

    ``plan`` gives, for each job in the order of submission, the look at which it
    leaves the queue and whether its chunk is stored then.
    """

    plan: list[tuple[int, bool]]
    folder: Path = Path("nowhere")
    silent: tuple[int, ...] = ()
    reasons: dict[int, str] = field(default_factory=dict)
    look: int = 0
    jobs: list[Chunk] = field(default_factory=list)
    submissions: list[list[str]] = field(default_factory=list)
    cancelled: int = 0
    late: int = 0  # looks until a result is seen after its job has gone

    def submit(self, chunks):
        first = len(self.jobs)
        self.jobs += chunks
        self.submissions.append([c.text for c in chunks])
        logs = (self.folder / "log",)
        return [Job(str(first + i), logs) for i in range(len(chunks))]

    def listed(self):
        self.look += 1
        if self.look in self.silent:
            return None
        return {
            str(i): self.reasons.get(i, "None")
            for i in range(len(self.jobs))
            if self.look < self.plan[i][0]
        }

    def cancel(self):
        self.cancelled += 1

    def has(self, key):
        return any(
            c.key == key and stored and self.look >= end + self.late
            for c, (end, stored) in zip(self.jobs, self.plan, strict=False)
        )


def waited(queue, chunks, options=OPTIONS):
    """Follow the chunks; what was reported, and the seconds that were waited."""
    reported, seconds = [], []

    def pause(duration):
        seconds.append(duration)
        assert len(seconds) < 200, "waits for ever"

    follow(chunks, queue.has, queue, lambda *r: reported.append(r), options, pause)
    return reported, seconds


def test_chunks_are_reported_as_they_are_stored():
    queue = FakeQueue([(3, True), (2, True)])
    reported, seconds = waited(queue, [chunk("a"), chunk("b")])
    assert reported == [(chunk("b"), 1.0), (chunk("a"), 1.0)]
    assert seconds == [10.0, 10.0]
    assert queue.submissions == [["a", "b"]]
    assert queue.cancelled == 0


def test_what_another_process_stores_is_not_waited_for():
    queue = FakeQueue([(100, False)])
    queue.has = lambda key: queue.look >= 2
    reported, seconds = waited(queue, [chunk("a")])
    assert reported == [(chunk("a"), 1.0)]
    assert len(seconds) == 1


@pytest.mark.parametrize(("late", "jobs"), [(0, 1), (2, 1), (3, 2)])
def test_a_result_may_be_seen_two_looks_after_its_job(late, jobs):
    """20 seconds of grace are two looks; the third submits the chunk again."""
    queue = FakeQueue([(2, True), (9, True)], late=late)
    waited(queue, [chunk("a")])
    assert len(queue.jobs) == jobs


def test_a_lost_job_is_submitted_again_alone():
    queue = FakeQueue([(2, False), (20, True), (9, True)])
    reported, _ = waited(queue, [chunk("a"), chunk("b")])
    assert queue.submissions == [["a", "b"], ["a"]]
    assert [c.text for c, _ in reported] == ["a", "b"]
    assert queue.cancelled == 0


def test_a_job_that_shows_again_has_not_been_lost():
    """Seen, unseen for two looks, seen: the count starts anew."""
    queue = FakeQueue([(99, True)])
    shown = iter([*[{"0": "None"}, {}, {}] * 3, {"0": "None"}])

    def listed():
        queue.look += 1
        return next(shown)

    queue.listed = listed
    queue.has = lambda key: queue.look >= 10
    waited(queue, [chunk("a")])
    assert queue.submissions == [["a"]]


def test_a_chunk_that_fails_always_ends_with_the_end_of_the_log(tmp_path):
    (tmp_path / "log").write_text("\n".join(f"line {i}" for i in range(100)))
    queue = FakeQueue([(2, False), (99, True), (9, False)], tmp_path)
    with pytest.raises(BackendError) as caught:
        waited(queue, [chunk("a"), chunk("b")])
    message = str(caught.value)
    assert "study 'tiny': chunk aaaaaaaa of 3 runs was not stored by 2 jobs" in message
    assert f"the last was 2. The end of {tmp_path / 'log'}:\nline 85\n" in message
    assert message.endswith("line 99")
    assert queue.submissions == [["a", "b"], ["a"]]
    assert queue.cancelled == 1


@pytest.mark.parametrize("text", [None, ""])
def test_without_a_log_the_shared_folder_is_named(text, tmp_path):
    if text is not None:
        (tmp_path / "log").write_text(text)
    queue = FakeQueue([(1, False)] * 2, tmp_path)
    with pytest.raises(BackendError, match=r"wrote no log.*VERIFY_SLURM_FOLDER"):
        waited(queue, [chunk("a")])


def test_without_retries_the_first_loss_is_the_end():
    queue = FakeQueue([(1, False)])
    with pytest.raises(BackendError, match="not stored by 1 jobs"):
        waited(queue, [chunk("a")], SlurmOptions(retries=0))
    assert queue.submissions == [["a"]]


def test_a_silent_queue_is_no_loss():
    queue = FakeQueue([(9, True)], silent=tuple(range(2, 9)))
    waited(queue, [chunk("a")])
    assert queue.submissions == [["a"]]


def test_a_queue_that_stays_silent_is_given_up():
    queue = FakeQueue([(999, True)], silent=tuple(range(999)))
    with pytest.raises(BackendError, match=f"squeue failed {SILENCE + 1} times"):
        waited(queue, [chunk("a")])
    assert queue.cancelled == 1


def test_results_count_while_the_queue_is_silent():
    queue = FakeQueue([(5, True)], silent=tuple(range(999)))
    reported, _ = waited(queue, [chunk("a")])
    assert reported == [(chunk("a"), 1.0)]


@pytest.mark.parametrize(
    "reason", ["PartitionTimeLimit", "launch failed requeued held"]
)
def test_a_job_that_never_starts_is_given_up(reason):
    queue = FakeQueue([(999, True)], reasons={0: reason})
    with pytest.raises(BackendError, match=f"job 0 will never start \\({reason}\\)"):
        waited(queue, [chunk("a")])
    assert queue.cancelled == 1


def test_a_job_that_waits_for_its_turn_is_waited_for():
    queue = FakeQueue([(50, True)], reasons={0: "Priority"})
    waited(queue, [chunk("a")])
    assert queue.cancelled == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_any_interruption_cancels_the_jobs(error):
    queue = FakeQueue([(2, True), (99, True)])

    def report(*_):
        raise error

    with pytest.raises(error):
        follow(
            [chunk("a"), chunk("b")], queue.has, queue, report, OPTIONS, lambda _: None
        )
    assert queue.cancelled == 1
