"""Runs a theorem module that is given as text, in this process or in one of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from verify.build import build
from verify.catalog import Catalog, entries_of
from verify.declare import declare, declare_papers, node_of
from verify.journal import Journal
from verify.judge import Bench, judge
from verify.profiles import profile
from verify.record import Header

ROOT = Path(__file__).parents[2]
OPTIONS = (
    "-pverify.pytest_plugin",
    "--verify-device=cpu",
    "--verify-profile=smoke",
)
OURS = {"GITHUB_STEP_SUMMARY", "PYTHONDONTWRITEBYTECODE", "VERIFY_COMMAND"}


def load(source, name="trap"):
    """Load a module from text into a catalogue of its own."""
    module = ModuleType(f"theorems.toy.{name}")
    exec(compile(source, f"{name}.py", "exec"), vars(module))
    catalog = Catalog()
    for entry in entries_of(module, Path("theorems", "toy", f"{name}.py")):
        catalog.add(entry)
    return catalog


def run_here(source, name="trap"):
    """Judge every check of a module, and build the report as a run does."""
    catalog = load(source, name)
    bench = Bench(profile("smoke"))
    header = Header(
        id="power",
        started="2026-01-01T00:00:00+00:00",
        profile="smoke",
        seed=0,
        device="cpu",
        jobs=1,
        command="",
        key="",
        partial=False,
        papers=declare_papers(catalog.papers.values()),
        claims=declare(catalog, device="cpu", profile="smoke"),
        provenance={},
    )
    journal = Journal(header, end={"exit_code": 0, "seconds": 0.0})
    for entry in catalog:
        for check in entry.checks:
            record = judge(bench, check, entry.claim, node_of(entry, check))
            journal.records[record.claim, record.name] = record
    return build(journal)


@pytest.fixture(scope="session")
def decided():
    """Judge a module in this process."""
    return run_here


@pytest.fixture(scope="session")
def loaded():
    """Load a module in this process."""
    return load


class Project:
    """A project with theorem modules in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.paper = folder / "theorems" / "toy"
        self.paper.mkdir(parents=True)
        (folder / "theorems" / "__init__.py").touch()
        (self.paper / "__init__.py").touch()
        (folder / "pyproject.toml").write_text("[tool.pytest]\nstrict = true\n")

    def add(self, trap):
        """Write the module of a trap."""
        (self.paper / f"{trap.slug}.py").write_text(trap.source, encoding="utf-8")

    def run(self, *arguments):
        """Run pytest on all modules; exit code and what was printed."""
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "theorems", *OPTIONS, *arguments],
            cwd=self.folder,
            env={k: v for k, v in os.environ.items() if k not in OURS}
            | {
                "PYTHONPATH": str(ROOT),
                "PYTHONPYCACHEPREFIX": str(self.folder.parent / "bytecode"),
                "PYTEST_ADDOPTS": "-p no:anyio -p no:jaxtyping",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def report(self):
        """The record of the last run."""
        path = self.folder / "reports" / "latest" / "report.json"
        return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def new_project(tmp_path_factory):
    """Make an empty project."""
    return lambda name: Project(tmp_path_factory.mktemp(name))
