"""Asking for studies: trained once, resumed after a kill, equal whichever way."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from runs_contents import contents

from verify.runs import (
    BackendError,
    Runs,
    Store,
    StoreError,
    StudyError,
    TooLittleMemoryError,
)
from verify.runs import work as work_module
from verify.runs.backends import InProcess, Processes

CHUNKS = 6  # of the study of the laboratory


def test_what_comes_back(lab):
    got = lab.runs().get(lab.study())
    assert [len(group.seeds) for group in got.groups] == [12, 12]
    assert got.diverged == 2 * 2 * 3  # lr = 2 diverges for both targets and shapes
    some = got.where(size=3, target=1.0, lr=0.1)
    assert some.seeds.tolist() == [11, 12, 13]
    assert some.steps.tolist() == [0, 20]
    assert some.losses.shape == (3, 2)
    assert some.observed["all"].shape == (3, 2, 3)
    assert some.params["x"].shape == (3, 3)
    assert some.diverged == 0
    start = np.array([11, 12, 13]) / 7
    want = 1 + (start - 1) * 0.8**20
    np.testing.assert_allclose(some.params["x"][:, 0], want, rtol=1e-12)
    np.testing.assert_array_equal(some.observed["all"][:, 1], some.params["x"])
    with pytest.raises(KeyError, match="2 shapes of runs"):
        got.where(lr=0.1)
    with pytest.raises(KeyError, match="no run with"):
        got.where(size=4)


def test_a_study_is_trained_once(lab):
    first = lab.runs().get(lab.study())
    assert lab.trained == CHUNKS
    again = lab.runs().get(lab.study(name="renamed"))
    assert lab.trained == CHUNKS
    assert contents(first) == contents(again)


def test_more_seeds_train_only_what_is_new(lab):
    study = lab.study(chunk=3)
    lab.runs().get(study)
    before = lab.trained
    more = [*study.configurations, {"target": 5.0, "lr": 0.1, "size": 2}]
    lab.runs().get(lab.study(chunk=3, configurations=more))
    assert lab.trained == before + 1


def test_progress_reaches_the_total(lab):
    told = []
    lab.runs(progress=lambda *state: told.append(state)).get(lab.study())
    assert [t[0] for t in told] == ["toy/parabolas"] * len(told)
    done = [t[1] for t in told]
    assert done == sorted(done)
    assert done[-1] == told[-1][2] == 24
    assert len(done) > CHUNKS  # within chunks as well


def test_what_was_served_is_noted(lab):
    runs = lab.runs()
    got = runs.get(lab.study())
    (note,) = runs.served
    assert (note["runs"], note["diverged"], note["device"]) == (24, 12, "cpu")
    assert note["keys"] == [key[:16] for key in got.keys]


@pytest.mark.parametrize("damage", ["truncated", "changed", "empty"])
def test_damaged_entries_are_trained_again(lab, damage):
    whole = contents(lab.runs().get(lab.study()))
    path = lab.store.path(lab.study().chunks()[2].key)
    data = path.read_bytes()
    changed = data[:-9] + bytes([data[-9] ^ 255]) + data[-8:]
    path.write_bytes({"truncated": data[:-8], "changed": changed, "empty": b""}[damage])
    assert contents(lab.runs().get(lab.study())) == whole
    assert lab.trained == CHUNKS + 1
    assert len(list(lab.store.quarantine.iterdir())) == 1


def test_a_disk_that_spoils_everything_is_told(lab, monkeypatch):
    put = Store.put

    def spoil(self, text, arrays, made):
        put(self, text, arrays, made)
        for key in self:
            self.path(key).write_bytes(b"spoilt")

    monkeypatch.setattr(Store, "put", spoil)
    with pytest.raises(StoreError, match="damaged 3 times"):
        lab.runs().get(lab.study())


# ---------------------------------------------------------------- kills


KILLER = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from verify.runs import Runs, Store, Study
from verify.runs import store as module

point, count = {point!r}, {count}
calls = 0

def counted(name, function):
    def wrapped(*args, **kwargs):
        global calls
        if name == point:
            calls += 1
            if calls == count:
                os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)
    return wrapped

os.fsync = counted("before the data is safe", os.fsync)
Path.replace = counted("before the entry has its name", Path.replace)
module._sync = counted("after the entry has its name", module._sync)
Store.lock = counted("before a lock", Store.lock)
progress = counted("while it trains", lambda *state: None)
study = Study(**{study!r})
Runs(Store(Path({cache!r})), progress=progress).get(study)
print("finished")
"""

POINTS = [
    ("before a lock", 1),
    ("while it trains", 50),
    ("before the data is safe", 3),
    ("before the entry has its name", 2),
    ("after the entry has its name", 2),
]


def script(lab, **more):
    study = lab.study()
    fields = {name: getattr(study, name) for name in study.__dataclass_fields__}
    return KILLER.format(
        root=str(lab.root), cache=str(lab.store.folder), study=fields,
        **({"point": "", "count": 0} | more),
    )  # fmt: skip


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("point", "count"), POINTS, ids=[f"{p}-{n}" for p, n in POINTS]
)
def test_a_killed_study_goes_on_and_ends_the_same(lab, tmp_path, point, count):
    died = python(script(lab, point=point, count=count))
    assert died.returncode == -signal.SIGKILL, died.stderr
    for key in lab.store:
        assert lab.store.get(key) is not None  # what is there is whole
    finished = sum(1 for _ in lab.store)
    begun = lab.trained
    got = lab.runs().get(lab.study())
    assert lab.trained - begun == CHUNKS - finished
    aside = Runs(Store(tmp_path / "uninterrupted"))
    assert contents(got) == contents(aside.get(lab.study()))


def test_two_processes_train_a_study_once(lab):
    study = lab.study(options={"steps": 20, "pause": 0.01})
    fields = {name: getattr(study, name) for name in study.__dataclass_fields__}
    code = KILLER.format(
        root=str(lab.root), cache=str(lab.store.folder), study=fields, point="", count=0
    )
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    assert [p.communicate(timeout=100)[0] for p in both] == [b"finished\n"] * 2
    assert lab.trained == CHUNKS


# ---------------------------------------------------------------- back-ends


def test_processes_give_the_same_bits(lab, tmp_path):
    told = []
    here = lab.runs().get(lab.study())
    there = Runs(
        Store(tmp_path / "other"), Processes(2), lambda *state: told.append(state)
    )
    assert contents(there.get(lab.study())) == contents(here)
    assert lab.trained == 2 * CHUNKS
    assert told[-1][1:] == (24, 24)


def test_a_process_that_dies_is_told_and_what_is_finished_is_kept(lab):
    lab.runs().get(lab.study())
    kept = list(lab.store)
    with pytest.raises(BackendError, match=r"died .*finished chunks are kept"):
        lab.runs(Processes(2)).get(lab.study(trainer="dies"))
    assert list(lab.store) == kept


def test_training_processes_end_with_the_one_that_was_killed(lab):
    study = lab.study(options={"steps": 2000, "pause": 0.01})
    fields = {name: getattr(study, name) for name in study.__dataclass_fields__}
    code = textwrap.dedent(
        f"""
        import sys
        from pathlib import Path
        sys.path.insert(0, {str(lab.root)!r})
        from verify.runs import Runs, Store, Study
        from verify.runs.backends import Processes
        if __name__ == "__main__":
            store = Store(Path({str(lab.store.folder)!r}))
            Runs(store, Processes(2)).get(Study(**{fields!r}))
        """
    )
    path = lab.root / "main.py"
    path.write_text(code)
    parent = subprocess.Popen([sys.executable, str(path)], start_new_session=True)
    deadline = time.monotonic() + 60
    while lab.trained < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert lab.trained == 2
    parent.kill()
    parent.wait()
    while _alive(parent.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _alive(parent.pid)


def _alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("backend", [InProcess(), Processes(1)], ids=lambda b: b.name)
@pytest.mark.parametrize(
    ("trainer", "said"),
    [
        ("no_record", "returned <class 'int'>"),
        ("too_few", "the runs of this chunk are 5"),
        ("absent", "no trainer"),
    ],
)
def test_trainers_that_do_not_keep_to_the_contract(lab, backend, trainer, said):
    with pytest.raises(StudyError, match=said):
        lab.runs(backend).get(lab.study(trainer=trainer))
    assert list(lab.store) == []


def test_too_little_memory_is_refused_with_the_figure(lab):
    with pytest.raises(TooLittleMemoryError) as error:
        lab.runs().get(lab.study(bytes_per_run=1 << 60))
    assert "5 runs needs about 5368709120.00 GiB on cpu" in str(error.value)
    assert lab.trained == 0


@pytest.mark.parametrize(
    "trainer", ["too_large", "too_large_for_python", "too_large_for_a_gpu"]
)
def test_memory_that_runs_out_in_a_training_is_the_machines(lab, trainer):
    with pytest.raises(TooLittleMemoryError, match=r"memory ran out.*finished chunks"):
        lab.runs().get(lab.study(trainer=trainer))
    assert list(lab.store) == []


def test_another_error_of_torch_is_not_called_memory(lab):
    with pytest.raises(RuntimeError, match="unspecified launch failure"):
        lab.runs().get(lab.study(trainer="wrong"))
    assert len(lab.runs().get(lab.study()).groups) == 2  # the lock was given back


def test_a_limit_of_the_container_counts(monkeypatch, tmp_path):
    (tmp_path / "memory.max").write_text("1000")
    (tmp_path / "memory.current").write_text("400")
    real = work_module.Path
    monkeypatch.setattr(
        work_module, "Path", lambda p: tmp_path if p == "/sys/fs/cgroup" else real(p)
    )
    assert work_module.free_memory("cpu") == 600
    (tmp_path / "memory.max").write_text("max")
    assert work_module.free_memory("cpu") > 600


def test_a_worker_with_other_code_is_refused(lab, monkeypatch):
    chunk = lab.study().chunks()[0]
    monkeypatch.setattr(work_module, "code_version", lambda module: "other")
    with pytest.raises(BackendError, match=r"has other code .*same environment"):
        work_module.fill(chunk, str(lab.store.folder))


def test_a_store_that_cannot_be_written_is_told_before_training(lab):
    lab.store.folder.write_text("no folder")
    with pytest.raises(StoreError, match="choose another folder with --cache"):
        lab.runs().get(lab.study())
    assert lab.trained == 0


def test_jobs_must_be_some():
    with pytest.raises(BackendError, match="--study-jobs must be 1 or more, got 0"):
        Processes(0)
