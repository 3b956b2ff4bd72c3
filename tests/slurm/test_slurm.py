"""Studies through a real Slurm: ``make test-slurm``. Marker: slurm."""

import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from verify.runs.backends import InProcess
from verify.runs.errors import BackendError
from verify.runs.results import Runs
from verify.runs.slurm import SlurmBackend, SlurmOptions
from verify.runs.store import Store
from verify.runs.study import Study

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(240)]

REPOSITORY = Path(__file__).parents[2]
QUICK = {"memory_gb": 0.5, "minutes": 20, "poll_seconds": 0.5, "grace_seconds": 1.0}


def slurm(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def eventually(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.1)


def in_queue():
    return slurm("squeue", "--noheader", f"--user={os.getuid()}").splitlines()


@pytest.fixture(scope="module", autouse=True)
def cluster():
    try:
        nodes = slurm("sinfo", "--noheader", "--format=%T").split()
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.fail(f"no Slurm answers, start with `make test-slurm`: {error}")
    assert nodes, "this Slurm has no nodes"


@pytest.fixture
def starts(tmp_path):
    folder = tmp_path / "starts"
    folder.mkdir()
    yield folder
    slurm("scancel", f"--user={os.getuid()}", "--name=verify-tiny-recurrence")
    eventually(lambda: in_queue() == [])


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def ctrl_c():
    """SIGINT interrupts, also where the shell has made a job in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def study(starts, *, hold=0, fail=False, widths=(3, 5), seeds=range(6), chunk=8):
    """Two shapes of 2 rates × 6 seeds, in two chunks each."""
    return Study(
        name="tiny recurrence",
        trainer="tiny_trainer:train",
        configurations=[
            {"width": w, "rate": r} for w, r in product(widths, (0.5, 1.25))
        ],
        seeds=tuple(seeds),
        options={"starts": str(starts), "hold": hold, "fail": fail},
        same=("width",),
        chunk=chunk,
        dtype="float32",
    )


def through_slurm(wanted, store, **options):
    chunks = wanted.chunks()
    done = []
    backend = SlurmBackend(SlurmOptions(**QUICK | options))
    backend.train(chunks, store, lambda chunk, share: done.append((chunk.key, share)))
    assert sorted(done) == sorted((chunk.key, 1.0) for chunk in chunks)


def assert_as_in_process(wanted, store, tmp_path):
    """Every entry of the store is, bit for bit, what this process makes."""
    here = Store(tmp_path / "here")
    InProcess().train(wanted.chunks(), here, lambda *_: None)
    for chunk in wanted.chunks():
        ours, theirs = here.get(chunk.key), store.get(chunk.key)
        assert ours.text == theirs.text == chunk.text
        assert sorted(ours.arrays) == sorted(theirs.arrays)
        for name, array in ours.arrays.items():
            assert array.dtype == theirs.arrays[name].dtype
            assert array.tobytes() == theirs.arrays[name].tobytes(), name
    assert entries(here) == entries(store)


def entries(store):
    return sorted(path.name for path in store.folder.rglob("*.safetensors"))


@contextmanager
def meanwhile(action):
    """Do something in a thread; what it raises, the test raises."""
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(action)
        try:
            yield
        finally:
            future.result()


def started(starts, width, count=1):
    """The jobs that the first batch of a width was started in, once there are some."""
    file = starts / f"{width}-0"
    eventually(lambda: file.exists() and len(file.read_text().split()) >= count)
    return file.read_text().split()


def test_a_study_through_slurm_is_bit_equal_to_in_process(starts, store, tmp_path):
    wanted = study(starts)
    through_slurm(wanted, store)
    jobs = {job for file in starts.iterdir() for job in file.read_text().split()}
    assert {job.partition("_")[2] for job in jobs} == {"0", "1", "2", "3"}
    assert len({job.partition("_")[0] for job in jobs}) == 1, "not one array"
    assert_as_in_process(wanted, store, tmp_path)


def test_runs_are_served_from_what_slurm_stored(starts, store):
    wanted = study(starts, widths=(3,))
    found = Runs(store, SlurmBackend(SlurmOptions(**QUICK))).get(wanted)
    losses = found.where(width=3, rate=0.5).losses
    assert losses.shape[0] == 6
    assert np.isfinite(losses).all()
    before = {file.name: file.read_text() for file in starts.iterdir()}
    Runs(store, SlurmBackend(SlurmOptions(**QUICK))).get(wanted)
    assert {file.name: file.read_text() for file in starts.iterdir()} == before


def test_logs_lie_beside_the_store_and_not_in_the_repository(starts, store):
    before = set(REPOSITORY.iterdir())
    through_slurm(study(starts, widths=(3,)), store)
    logs = store.folder.with_name("store-slurm")
    assert len(list(logs.glob("*_log.out"))) == 2
    assert len(list(logs.glob("*_submission.sh"))) == 1
    assert set(REPOSITORY.iterdir()) == before


def test_a_single_chunk_is_a_job_and_sbatch_sees_the_options(starts, store):
    wanted = study(starts, widths=(3,), chunk=100)
    logs = store.folder.parent / "logs"
    options = {"cpus": 2, "partition": "main", "extra": {"nice": "5"}, "folder": logs}
    through_slurm(wanted, store, **options)
    (script,) = logs.glob("*_submission.sh")
    told = script.read_text().splitlines()
    for flag in ("cpus-per-task=2", "mem=512MB", "nice=5", "partition=main"):
        assert f"#SBATCH --{flag}" in told
    assert {"#SBATCH --requeue", "#SBATCH --time=20"} <= set(told)
    assert not any("gpus" in line for line in told)


@pytest.mark.parametrize(
    ("command", "same_job"),
    [
        (("scancel",), False),
        (("scontrol", "requeue"), True),
        (("scancel", "--signal=USR2"), True),
    ],
    ids=["scancel", "requeue", "preempted"],
)
def test_a_job_stopped_midway_runs_again(command, same_job, starts, store, tmp_path):
    wanted = study(starts, hold=5)
    with meanwhile(lambda: slurm(*command, started(starts, 5)[0])):
        through_slurm(wanted, store)
    jobs = started(starts, 5, count=2)
    assert len(jobs) == 2
    assert (jobs[0] == jobs[1]) is same_job
    assert_as_in_process(wanted, store, tmp_path)


def test_a_job_that_times_out_runs_again(starts, store, tmp_path):
    wanted = study(starts, hold=5)
    through_slurm(wanted, store, minutes=1)
    assert len(set(started(starts, 5, count=2))) == 2
    assert_as_in_process(wanted, store, tmp_path)


def test_a_chunk_that_always_fails_ends_with_the_end_of_the_log(starts, store):
    wanted = study(starts, fail=True, widths=(3,), chunk=100)
    with pytest.raises(BackendError, match="this trainer fails on purpose") as caught:
        through_slurm(wanted, store, retries=1)
    jobs = started(starts, 3, count=2)
    assert len(set(jobs)) == 2
    (chunk,) = wanted.chunks()
    message = str(caught.value)
    assert chunk.key[:16] in message
    assert f"by 2 jobs; the last was {jobs[1]}. " in message
    assert f"The end of {store.folder}-slurm/{jobs[1]}_0_log.err:\n" in message
    assert entries(store) == []


def test_a_job_that_slurm_starts_too_often_is_given_up(starts, store):
    wanted = study(starts, hold=3, widths=(3,), chunk=100)
    with (
        pytest.raises(BackendError, match="started this job again 1 times"),
        meanwhile(lambda: slurm("scontrol", "requeue", started(starts, 3)[0])),
    ):
        through_slurm(wanted, store, restarts=0, retries=0)


def test_a_failed_chunk_cancels_the_others_and_keeps_what_is_done(starts, store):
    wanted = study(starts, hold=5)
    with (
        pytest.raises(BackendError, match="was not stored by 1 jobs"),
        meanwhile(lambda: slurm("scancel", started(starts, 5)[0])),
    ):
        through_slurm(wanted, store, retries=0)
    eventually(lambda: in_queue() == [])
    assert len(entries(store)) == 3


def test_a_keyboard_interrupt_cancels_the_array(starts, store, ctrl_c):
    def interrupt():
        started(starts, 5)
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), meanwhile(interrupt):
        through_slurm(study(starts, hold=5), store, array_parallelism=1)
    eventually(lambda: in_queue() == [])
    assert len(started(starts, 5)) == 1


def test_a_job_that_can_never_start_is_reported(starts, store):
    limit = r"will never start \(PartitionTimeLimit\)"
    with pytest.raises(BackendError, match=limit):
        through_slurm(study(starts), store, minutes=31)
    eventually(lambda: in_queue() == [])


def test_what_sbatch_refuses_is_reported(starts, store):
    refused = "(?s)did not accept.*nowhere.*invalid partition"
    with pytest.raises(BackendError, match=refused):
        through_slurm(study(starts), store, partition="nowhere")
