"""The cache commands: what they list, what they remove and what they keep."""

import os
import sys
import time

import pytest
from click.testing import CliRunner
from runs_contents import contents

from verify.cli import main
from verify.runs.version import code_version


def cache(lab, *arguments, **more):
    found = CliRunner().invoke(
        main, ["cache", *arguments, f"--cache={lab.store.folder}"], **more
    )
    assert found.exception is None or isinstance(found.exception, SystemExit)
    return found


def age(lab, key, days):
    then = time.time() - days * 86400
    os.utime(lab.store.path(key), (then, then))


def test_listing(lab):
    lab.runs().get(lab.study())
    lab.runs().get(lab.study(name="toy/other", seeds=[99]))
    said = cache(lab, "ls").output.splitlines()
    assert said[0].split()[:5] == ["toy/other", "2", "entries", "8", "runs"]
    assert said[1].split()[:5] == ["toy/parabolas", "6", "entries", "24", "runs"]
    assert said[2].startswith(f"{lab.store.folder}: 8 entries, ")
    assert "stale" not in said[0]


def test_an_empty_cache(lab):
    for command in ("ls", "gc"):
        assert cache(lab, command).exit_code == 0
    assert cache(lab, "clear", "--yes").exit_code == 0
    assert not lab.store.folder.exists()


def test_gc_keeps_what_is_current_and_was_used(lab):
    study = lab.study()
    whole = contents(lab.runs().get(study))
    keys = [c.key for c in study.chunks()]
    age(lab, keys[0], 40)
    assert cache(lab, "gc", "--days=50").output.count("removed 6 files") == 1  # locks
    assert sum(1 for _ in lab.store) == 6
    assert "removed 1 files" in cache(lab, "gc", "--days=30").output
    assert sorted(lab.store) == sorted(keys[1:])
    assert contents(lab.runs().get(study)) == whole
    assert lab.trained == 7


def test_use_counts(lab):
    study = lab.study()
    lab.runs().get(study)
    for chunk in study.chunks():
        age(lab, chunk.key, 40)
    lab.runs().get(study)
    cache(lab, "gc")
    assert sum(1 for _ in lab.store) == 6


def test_gc_removes_what_other_code_made(lab):
    lab.runs().get(lab.study())
    path = lab.root / lab.package / "work.py"
    path.write_text(path.read_text().replace("/ 7", "/ 8"))
    code_version.cache_clear()
    assert "stale" in cache(lab, "ls").output
    cache(lab, "gc")
    assert list(lab.store) == []


def test_gc_keeps_what_it_cannot_judge(lab, monkeypatch):
    """From another folder the trainers of a project are not found."""
    lab.runs().get(lab.study())
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != str(lab.root)])
    code_version.cache_clear()
    for name in [n for n in sys.modules if n.partition(".")[0] == lab.package]:
        monkeypatch.delitem(sys.modules, name)
    assert "its trainer is not here" in cache(lab, "ls").output
    cache(lab, "gc")
    assert sum(1 for _ in lab.store) == 6
    cache(lab, "gc", "--days=0")
    assert list(lab.store) == []


def test_gc_removes_what_kills_left_and_what_was_damaged(lab):
    study = lab.study()
    lab.runs().get(study)
    key = study.chunks()[0].key
    path = lab.store.path(key)
    path.write_bytes(b"damaged")
    assert lab.store.get(key) is None
    half = path.parent / f".{path.name}.123-abc"
    half.write_bytes(b"half")
    assert "1 damaged in quarantine" in cache(lab, "ls").output
    cache(lab, "gc")
    assert not half.exists()
    assert not list(lab.store.quarantine.iterdir())
    assert sum(1 for _ in lab.store) == 5


def test_gc_leaves_alone_what_is_being_written(lab):
    study = lab.study()
    lab.runs().get(study)
    key = study.chunks()[0].key
    path = lab.store.path(key)
    half = path.parent / f".{path.name}.123-abc"
    half.write_bytes(b"half")
    with lab.store.lock(key):
        cache(lab, "gc")
        assert half.exists()


def test_clear_asks_first(lab):
    lab.runs().get(lab.study())
    assert cache(lab, "clear", input="n\n").exit_code == 1
    assert sum(1 for _ in lab.store) == 6
    assert "removed 12 files" in cache(lab, "clear", "--yes").output
    assert [p for p in lab.store.folder.rglob("*") if p.is_file()] == []


def test_a_damaged_entry_is_listed(lab):
    lab.runs().get(lab.study())
    lab.store.path(lab.study().chunks()[0].key).write_bytes(b"\xff" * 100)
    assert "damaged " in cache(lab, "ls").output


@pytest.mark.parametrize("command", ["ls", "gc"])
def test_trouble_is_one_line(lab, command):
    key = lab.study().chunks()[0].key
    lab.store.path(key).mkdir(parents=True)
    (lab.store.path(key) / "x").touch()
    lab.runs().store.put("{}", {}, {})
    done = cache(lab, command)
    if command == "gc":
        assert done.exit_code in {0, 2}
    assert "Traceback" not in done.output
