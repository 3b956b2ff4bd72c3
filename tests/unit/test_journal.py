"""The journal: what a killed run leaves, and what may be resumed."""

import errno
import json
import os
import subprocess
import sys

import pytest

from verify import journal
from verify.journal import NAME, JournalError, Writer, read
from verify.record import CheckRecord, Header
from verify.selfcheck_run import SelfCheckRecord


def header(**changes):
    given = {
        "id": "first", "started": "2026-01-01", "profile": "smoke", "seed": 0,
        "device": "cpu", "jobs": 1, "command": "verify run", "key": "k",
        "partial": False, "papers": [], "claims": [], "provenance": {},
    }  # fmt: skip
    return Header(**(given | changes))


def record(name, **changes):
    given = {
        "claim": "toy/lemma-1", "name": name, "node": f"toy::{name}",
        "grade": "numeric", "scope": "all", "verdict": "HOLDS", "seconds": 1.5,
    }  # fmt: skip
    return CheckRecord(**(given | changes))


def write(folder, *names, resume=False, end=False, **changes):
    writer = Writer(folder, header(**changes), resume=resume)
    for name in names:
        writer.check(record(name))
    if end:
        writer.end(0, 2.0)
    writer.close()
    return writer


def names(folder):
    return [name for _, name in read(folder).records]


def lines(folder):
    return (folder / NAME).read_bytes().splitlines(keepends=True)


def test_round_trip(tmp_path):
    folder = tmp_path / "deep" / "run"
    writer = Writer(folder, header(notes=["é"]), resume=False)
    full = record("a", measured="1/3", interval=(0.1, "inf"), discards={"D = 0": 3})
    writer.check(full)
    writer.crash("toy::b")
    writer.end(3, 9.5)
    writer.close()
    got = read(folder)
    assert got.header == header(notes=["é"])
    assert got.records == {("toy/lemma-1", "a"): full}
    assert got.crashes == ["toy::b"]
    assert got.end == {"exit_code": 3, "seconds": 9.5}
    assert got == writer.journal


def test_each_line_is_on_disk_before_the_run_ends(tmp_path):
    writer = Writer(tmp_path, header(), resume=False)
    writer.check(record("a"))
    assert names(tmp_path) == ["a"]
    assert read(tmp_path).end is None
    writer.close()


def test_later_line_replaces_an_earlier(tmp_path):
    writer = Writer(tmp_path, header(), resume=False)
    writer.check(record("a"))
    writer.check(record("a", verdict="INCONCLUSIVE"))
    writer.close()
    assert [r.verdict for r in read(tmp_path).records.values()] == ["INCONCLUSIVE"]


@pytest.mark.parametrize("kept", [1, 20, -1])
def test_torn_last_line_is_passed_over_and_trimmed(tmp_path, kept):
    write(tmp_path, "a", "b")
    whole = lines(tmp_path)
    torn = whole[-1].rstrip(b"\n")
    (tmp_path / NAME).write_bytes(b"".join(whole[:-1]) + torn[:kept])
    assert names(tmp_path) == ["a"]
    resumed = write(tmp_path, "b", "c", resume=True, end=True, id="second")
    assert list(resumed.journal.records) == list(read(tmp_path).records)
    assert names(tmp_path) == ["a", "b", "c"]
    assert read(tmp_path).header.id == "first"
    assert all(json.loads(line) for line in lines(tmp_path))


def test_resume_forgets_crashes_and_the_end(tmp_path):
    writer = Writer(tmp_path, header(), resume=False)
    writer.check(record("a"))
    writer.crash("toy::b")
    writer.end(3, 1.0)
    writer.close()
    assert write(tmp_path, resume=True).journal.crashes == []
    got = read(tmp_path)
    assert (got.crashes, got.end) == ([], None)
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize(
    "damage", [b"{]\n", b"[1]\n", b'{"type": "check"}\n', b"\xff\n"]
)
def test_damaged_middle_line_is_named(tmp_path, damage):
    write(tmp_path, "a", "b")
    whole = lines(tmp_path)
    whole[1] = damage
    (tmp_path / NAME).write_bytes(b"".join(whole))
    with pytest.raises(JournalError, match="line 2: damaged"):
        read(tmp_path)
    with pytest.raises(JournalError, match="line 2: damaged"):
        Writer(tmp_path, header(), resume=True)
    write(tmp_path, "c")  # what it advises
    assert names(tmp_path) == ["c"]


@pytest.mark.parametrize("text", [b"", b"\n", b"[]\n", b'{"type": "header"}\n', b"x"])
def test_no_header(tmp_path, text):
    (tmp_path / NAME).write_bytes(text)
    with pytest.raises(JournalError, match="header"):
        read(tmp_path)


def test_no_run(tmp_path):
    with pytest.raises(JournalError, match="holds no run"):
        read(tmp_path)
    with pytest.raises(JournalError, match="nothing to resume"):
        Writer(tmp_path / "none", header(), resume=True)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"profile": "full"}, "profile"),
        ({"seed": 1}, "seed"),
        ({"device": "cuda"}, "device"),
        ({"key": "other"}, "code or selection"),
    ],
)
def test_other_run_is_not_resumed(tmp_path, change, word):
    write(tmp_path, "a")
    before = lines(tmp_path)
    with pytest.raises(JournalError, match=f"another {word}"):
        Writer(tmp_path, header(**change), resume=True)
    assert lines(tmp_path) == before
    write(tmp_path, "b", resume=True)  # the refusal left no lock behind
    assert names(tmp_path) == ["a", "b"]


def test_jobs_and_command_may_change(tmp_path):
    write(tmp_path, "a")
    write(tmp_path, "b", resume=True, jobs=8, command="verify run --resume")
    assert names(tmp_path) == ["a", "b"]


def test_folder_is_locked_while_written(tmp_path):
    pytest.importorskip("fcntl")
    writer = Writer(tmp_path, header(), resume=False)
    writer.check(record("a"))
    for resume in (False, True):
        with pytest.raises(JournalError, match="another run is writing"):
            Writer(tmp_path, header(), resume=resume)
    writer.check(record("b"))
    writer.close()
    assert names(tmp_path) == ["a", "b"]
    write(tmp_path, "c")
    assert names(tmp_path) == ["c"]


def test_previous_run_is_kept(tmp_path):
    write(tmp_path, "a")
    for view in journal.VIEWS:
        (tmp_path / view).write_text(f"old {view}")
    (tmp_path / "notes.txt").write_text("mine")
    write(tmp_path, "b")
    previous = tmp_path / "previous"
    assert names(previous) == ["a"]
    assert names(tmp_path) == ["b"]
    for view in journal.VIEWS:
        assert (previous / view).read_text() == f"old {view}"
        assert not (tmp_path / view).exists()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_halves_of_views_are_swept(tmp_path):
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    write(tmp_path, "a")
    half = tmp_path / f".index.html.{ended.pid}.tmp"
    kept = [f".index.html.{os.getpid()}.tmp", ".notes.1.tmp", ".index.html.x.tmp"]
    for path in (half, *(tmp_path / name for name in kept)):
        path.touch()
    write(tmp_path, "b", resume=True)
    assert not half.exists()
    assert all((tmp_path / name).exists() for name in kept)


def test_resume_keeps_no_copy(tmp_path):
    write(tmp_path, "a")
    write(tmp_path, "b", resume=True)
    assert not (tmp_path / "previous").exists()


def test_times_of_the_run_before_are_known(tmp_path):
    assert write(tmp_path, "a").expected == {}
    assert write(tmp_path, "b").expected == {("toy/lemma-1", "a"): 1.5}
    (tmp_path / NAME).write_bytes(b"damaged\n")
    assert write(tmp_path, "c").expected == {}


def test_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(JournalError, match="--out"):
        Writer(tmp_path / "file", header(), resume=False)


@pytest.mark.parametrize("text", [b"", b'{"type": "header", "id": "fi'])
def test_run_killed_before_its_first_line_starts_anew(tmp_path, text):
    (tmp_path / NAME).write_bytes(text)
    write(tmp_path, "a", resume=True, id="second")
    assert names(tmp_path) == ["a"]
    assert read(tmp_path).header.id == "second"


def test_faults_of_our_own_are_not_done(tmp_path):
    writer = Writer(tmp_path, header(), resume=False)
    writer.check(record("sound"))
    writer.check(record("raised", verdict="INCONCLUSIVE", broken="RuntimeError: GPU"))
    for name, verdict in (("agrees", "AGREE"), ("raises", "DISAGREE")):
        said = {"name": name, "says": "", "verdict": verdict, "why_bound": ""}
        writer.self_check(SelfCheckRecord(**said))
    writer.close()
    left = read(tmp_path)
    assert left.done == {("toy/lemma-1", "sound"), ("self-check", "agrees")}
    assert left.records["toy/lemma-1", "raised"].broken  # said until it has run again


@pytest.fixture
def full_disk(monkeypatch):
    """A disk that takes a few bytes more, and then none until there is room."""
    real, state = os.write, {"room": None}

    def write_some(handle, data):
        if state["room"] is None:
            return real(handle, data)
        if not state["room"]:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = real(handle, data[: state["room"]])
        state["room"] -= done
        return done

    monkeypatch.setattr(journal.os, "write", write_some)
    return state


def test_full_disk_tears_no_line(tmp_path, full_disk):
    writer = Writer(tmp_path, header(), resume=False)
    writer.check(record("a"))
    before = lines(tmp_path)
    full_disk["room"] = 40
    with pytest.raises(JournalError, match=r"No space left.*make room.*--resume"):
        writer.check(record("b"))
    assert lines(tmp_path) == before
    assert list(writer.journal.records) == [("toy/lemma-1", "a")]
    full_disk["room"] = None
    writer.check(record("c"))
    writer.close()
    assert names(tmp_path) == ["a", "c"]


def test_short_writes_are_finished(tmp_path, monkeypatch):
    real = os.write
    monkeypatch.setattr(journal.os, "write", lambda to, data: real(to, data[:7]))
    write(tmp_path, "a", "b", end=True)
    assert names(tmp_path) == ["a", "b"]


def test_full_disk_at_the_start_frees_the_folder(tmp_path, full_disk):
    full_disk["room"] = 5
    with pytest.raises(JournalError, match="make room"):
        Writer(tmp_path, header(), resume=False)
    full_disk["room"] = None
    write(tmp_path, "a", resume=True)  # nothing was begun, nothing is locked
    assert names(tmp_path) == ["a"]
