"""The store: whole entries or none, whatever happens to the disk or the process."""

import errno
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np
import pytest

from verify.runs import Store, StoreError
from verify.runs.study import key_of

TEXT = '{"a":1}'
KEY = key_of(TEXT)
ARRAYS = {
    "x": np.array([[1.5, np.nan, -0.0], [np.inf, 5e-324, 1 / 3]]),
    "n": np.arange(4, dtype=np.int64),
    "empty": np.zeros((0, 3)),
    "single": np.float32(2.5).reshape(1),
}


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "deep" / "store")
    made.put(TEXT, ARRAYS, {"seconds": 1.5})
    return made


def test_round_trip_keeps_every_bit(store):
    entry = store.get(KEY)
    assert entry.text == TEXT
    assert entry.made == {"seconds": 1.5}
    assert set(entry.arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        found = entry.arrays[name]
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        assert found.tobytes() == array.tobytes()
    assert list(store) == [KEY]
    assert store.has(KEY)


def test_arrays_need_not_be_contiguous(store):
    turned = {"x": ARRAYS["x"].T, "y": np.broadcast_to(np.float64(3), (4,))}
    store.put(TEXT, turned, {})
    assert np.array_equal(store.get(KEY).arrays["x"], ARRAYS["x"].T, equal_nan=True)
    assert store.get(KEY).arrays["y"].tolist() == [3.0] * 4


def test_nothing_there(tmp_path):
    store = Store(tmp_path / "none")
    assert store.get(KEY) is None
    assert not store.has(KEY)
    assert list(store) == []
    assert not store.folder.exists()


def test_every_truncation_is_detected(store):
    path = store.path(KEY)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert store.get(KEY) is None, length
        assert not path.exists()
    assert len(list(store.quarantine.iterdir())) == len(whole)


def test_every_changed_byte_is_detected_or_harmless(store):
    path = store.path(KEY)
    whole = path.read_bytes()
    before = store.get(KEY)
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        entry = store.get(KEY)
        if entry is not None:  # the record of who made it, or white space
            assert entry.text == TEXT
            assert {n: a.tobytes() for n, a in entry.arrays.items()} == {
                n: a.tobytes() for n, a in before.arrays.items()
            }


def test_an_entry_of_another_key_is_no_entry(store):
    other = key_of('{"a":2}')
    store.path(other).parent.mkdir(parents=True, exist_ok=True)
    store.path(KEY).rename(store.path(other))
    assert store.get(other) is None


def test_a_full_disk_leaves_nothing(store, monkeypatch):
    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    other = '{"a":2}'
    with pytest.raises(StoreError, match=r"it is full.*--cache or VERIFY_CACHE"):
        store.put(other, ARRAYS, {})
    assert store.get(key_of(other)) is None
    assert [p for p in store.folder.rglob("*") if p.is_file()] == [store.path(KEY)]


def test_a_write_cut_short_by_the_system(tmp_path):
    code = textwrap.dedent(
        f"""
        import resource, signal
        from pathlib import Path
        import numpy as np
        from verify.runs import Store, StoreError
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        try:
            Store(Path({str(tmp_path)!r})).put("{{}}", {{"x": np.zeros(100000)}}, {{}})
        except StoreError as error:
            print(error)
        """
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "it is full" in said.stdout, said.stderr
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


@pytest.mark.parametrize("act", ["put", "require_writable", "lock"])
def test_a_folder_that_cannot_be_written(tmp_path, act):
    (tmp_path / "file").write_text("no folder")
    store = Store(tmp_path / "file" / "store")
    acts = {
        "put": lambda: store.put(TEXT, ARRAYS, {}),
        "lock": lambda: store.lock(KEY).__enter__(),
        "require_writable": store.require_writable,
    }
    with pytest.raises(StoreError, match="cannot write to the cache folder"):
        acts[act]()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12
def test_a_read_only_folder_can_still_be_read():
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        store = Store(Path(name) / "store")
        store.put(TEXT, ARRAYS, {})
        assert store.get(KEY) is not None  # what reading imports is there for nobody
        folders = [store.folder, *(p for p in store.folder.rglob("*") if p.is_dir())]
        for folder in folders:
            folder.chmod(0o555)
        try:
            assert as_nobody(reads_and_does_not_write, store) == "as it should"
        finally:
            for folder in folders:
                folder.chmod(0o755)


def reads_and_does_not_write(store):
    assert store.get(KEY) is not None
    store.touch(KEY)
    with pytest.raises(StoreError, match="Permission denied"):
        store.require_writable()
    return "as it should"


def as_nobody(act, store):
    """Act without the rights of root, in a process of its own."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setuid(65534)
            said = act(store)
        except BaseException as error:  # ruff: ignore[blind-except] - told
            said = repr(error)
        os.write(there, said.encode())
        os._exit(0)
    os.close(there)
    os.waitpid(child, 0)
    with open(here, "rb") as pipe:
        return pipe.read().decode()


def test_an_entry_that_cannot_be_read(store):
    path = store.path(KEY)
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreError, match="cannot read"):
        store.get(KEY)


def test_a_lock_is_exclusive_and_freed_by_a_kill(store):
    code = textwrap.dedent(
        f"""
        import sys, time
        from pathlib import Path
        from verify.runs import Store
        with Store(Path({str(store.folder)!r})).lock({KEY!r}):
            print("held", flush=True)
            time.sleep(60)
        """
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        with store.lock(KEY, wait=False) as held:
            assert not held
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    with store.lock(KEY) as held:
        assert held


def test_the_folder_is_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert Store(Path("here")).folder == tmp_path / "here"
