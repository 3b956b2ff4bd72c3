"""Provenance: what it says with and without git; the key of a resumable run."""

import copy
import json
import subprocess
from types import SimpleNamespace

import pytest

from verify import provenance as module
from verify.provenance import provenance, run_key


def git(folder, *arguments):
    subprocess.run(
        ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.invalid",
         *arguments],
        check=True,
        capture_output=True,
    )  # fmt: skip


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A folder in which git finds no repository above."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_outside_a_repository(alone):
    facts = provenance(alone)
    assert facts["commit"] is None
    assert not facts["uncommitted_changes"]
    assert json.loads(json.dumps(facts)) == facts
    assert "gpu" not in facts


def test_without_git(alone, monkeypatch):
    monkeypatch.setenv("PATH", str(alone))
    assert provenance(alone)["commit"] is None


def test_git_that_hangs(alone, monkeypatch):
    def hang(*args, timeout, **kwargs):
        raise subprocess.TimeoutExpired("git", timeout)

    monkeypatch.setattr(module.subprocess, "run", hang)
    assert provenance(alone)["commit"] is None


def test_commit_and_changes(alone):
    git(alone, "init", "-q")
    (alone / "a.txt").write_text("1")
    git(alone, "add", ".")
    git(alone, "commit", "-q", "-m", "one", "--no-gpg-sign")
    clean = provenance(alone)
    assert len(clean["commit"]) == 40
    assert clean["uncommitted_changes"] is False
    (alone / "a.txt").write_text("2")
    changed = provenance(alone)
    assert changed["commit"] == clean["commit"]
    assert changed["uncommitted_changes"] is True


def test_packages_and_environment(alone, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("SECRET_TOKEN", "hidden")
    monkeypatch.setattr(module, "PACKAGES", ("pytest", "no-such-package-here"))
    facts = provenance(alone)
    assert facts["packages"] == {
        "pytest": pytest.__version__,
        "no-such-package-here": None,
    }
    assert facts["environment"]["OMP_NUM_THREADS"] == "3"
    assert "hidden" not in json.dumps(facts)


def test_run_key_covers_code_selection_and_packages():
    def catalog(digest="d", ids=("a/b", "a/c")):
        return SimpleNamespace(digest=lambda: digest, entries=dict.fromkeys(ids))

    facts = {"packages": {"numpy": "2.0"}, "python": "3.11", "commit": "x"}
    key = run_key(catalog(), facts)
    assert key == run_key(catalog(), copy.deepcopy(facts) | {"commit": "y"})
    others = [
        run_key(catalog("e"), facts),
        run_key(catalog(ids=("a/b",)), facts),
        run_key(catalog(), facts | {"packages": {"numpy": "2.1"}}),
        run_key(catalog(), facts | {"python": "3.12"}),
    ]
    assert len({key, *others}) == 5
