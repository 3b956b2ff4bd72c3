"""Toy projects, and pytest and the command line in processes of their own."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = {"CI", "GITHUB_STEP_SUMMARY", "PYTHONDONTWRITEBYTECODE", "VERIFY_COMMAND"}
FEW_PLUGINS = (
    # Where they are installed, they start slowly; self-checks have tests of their own.
    "-p no:anyio -p no:jaxtyping --verify-self-checks=none"
)
PYPROJECT = '[tool.pytest]\nstrict = true\naddopts = ["-p", "verify.pytest_plugin"]\n'
PAPER = 'from verify import Paper\n\nPAPER = Paper("KEY", "A toy paper")\n'

CLAIM = """\
import os
from theorems.toy import PAPER
from verify import *


def counted(claim):
    if 2 + 2 == claim.total:
        return Holds("counted", n=1, measured=4)
    witness = {
        "kind": "formula",
        "says": f"2 + 2 is not {claim.total}",
        "inputs": {"total": claim.total},
        "relation": ["!=", ["add", 2, 2], ["in", "total"]],
    }
    return Refuted("miscounted", witness=witness)


CLAIM = Claim(
    id="ID",
    says="Two and two are as many as claimed.",
    source=PAPER.at("Theorem"),
    parameters={"total": TOTAL},
    mutants=(Mutant("six", why="it is four", total=6),),
    anchors=(ANCHORS),
    finding=FINDING,
)
"""
CHECKS = """

@check(CLAIM, grade="symbolic", scope="all")
def proof(claim):
    return counted(claim)


@check(CLAIM, grade="property", scope="one case")
def hunt(claim):
    return counted(claim)
"""
OPTIONAL = """

@check(CLAIM, grade="numeric", scope="extra", optional=True, MORE)
def extra(claim):
    return counted(claim)
"""


def holds(claim_id="toy/theorem-1"):
    """A claim that holds, without checks."""
    text = CLAIM.replace("ID", claim_id).replace("TOTAL", "4")
    return text.replace("ANCHORS", "").replace("FINDING", "holds()")


def refuted(claim_id="toy/theorem-2"):
    """A claim that is known to be refuted, without checks."""
    text = CLAIM.replace("ID", claim_id).replace("TOTAL", "5")
    text = text.replace("ANCHORS", 'Anchor("four", why="counted", total=4),')
    return text.replace("FINDING", 'refuted("it is four")')


def one_check(body, name="trap", grade="property"):
    """A further check with the given body."""
    scope = "all" if grade == "symbolic" else "some"
    check = f'@check(CLAIM, grade="{grade}", scope="{scope}")'
    head = f"\n\n{check}\ndef {name}(claim):\n"
    return head + f"    {body}\n    return counted(claim)\n"


@dataclass(frozen=True)
class Done:
    """A process that ended."""

    code: int
    out: str
    err: str

    @property
    def text(self):
        """All that was printed."""
        return self.out + self.err


class Project:
    """A project with theorem modules in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.out = folder / "reports" / "latest"
        (folder / "theorems").mkdir(parents=True)
        (folder / "theorems" / "__init__.py").touch()
        (folder / "pyproject.toml").write_text(PYPROJECT)

    def add(self, name, text, paper="toy"):
        """Write a module."""
        package = self.folder / "theorems" / paper
        package.mkdir(exist_ok=True)
        (package / "__init__.py").write_text(PAPER.replace("KEY", paper))
        path = package / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        return path

    def environment(self, env):
        """The environment of a process, without what a surrounding run set."""
        kept = {k: v for k, v in os.environ.items() if k not in OURS}
        bytecode = str(self.folder.parent / "bytecode")  # shared: pytest starts faster
        ours = {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": bytecode}
        return kept | ours | {"PYTEST_ADDOPTS": FEW_PLUGINS} | env

    def start(self, *command, cwd=None, **env):
        """Start a Python process."""
        return subprocess.Popen(
            [sys.executable, *command],
            cwd=cwd or self.folder,
            env=self.environment(env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def python(self, *command, cwd=None, **env):
        """Run a Python process to its end; kill it when it hangs."""
        process = self.start(*command, cwd=cwd, **env)
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            end(process)
            raise
        return Done(process.returncode, out, err)

    def pytest(self, *arguments, cwd=None, **env):
        """Run pytest."""
        line = ("-m", "pytest", "--verify-device=cpu", "--verify-profile=smoke")
        return self.python(*line, *arguments, cwd=cwd, **env)

    def verify(self, command, *arguments, **env):
        """Run the command line; ``run`` with small budgets, in one process."""
        small = ("--device=cpu", "--profile=smoke", "--jobs=1")
        return self.python(
            *("-m", "verify", command),
            *(small if command == "run" else ()),
            *arguments,
            **env,
        )

    def report(self):
        """The record of the last run."""
        return json.loads((self.out / "report.json").read_text(encoding="utf-8"))

    def verdicts(self):
        """Verdicts of the last run by claim, without the paper."""
        claims = self.report()["claims"]
        return {c["id"].partition("/")[2]: c["verdict"] for c in claims}

    def journal(self):
        """The lines of the journal."""
        return (self.out / "journal.jsonl").read_text(encoding="utf-8").splitlines()


def end(process):
    """Kill a process that a test started, and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def wait_for(condition, what):
    """Wait until something is so."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.02)
