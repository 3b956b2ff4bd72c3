"""A toy project of three claims, and the command line inside and outside a process."""

import os
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from verify.cli import main

ROOT = Path(__file__).parents[3]
OURS = {"CI", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE"}
PAPER = """\
from verify import Item, Paper

PAPER = Paper(
    "toy",
    "A toy paper",
    items=(
        Item("Theorem 1", claims=("toy/theorem-1",)),
        Item("Theorem A.1", alias_of="Theorem 1"),
        Item("Theorem 9", claims=("toy/theorem-9",)),
        Item("Lemma 2", not_stated="a bound"),
        Item("Figure 1", not_a_claim="an illustration"),
    ),
)
"""
MODULE = """\
from theorems.toy import PAPER
from verify import *


def counted(claim):
    if 2 + 2 == claim.total:
        return Holds("counted", n=1, measured=4, margin=1.0)
    witness = {
        "kind": "formula",
        "says": f"2 + 2 is not {claim.total}",
        "inputs": {"total": claim.total},
        "relation": ["!=", ["add", 2, 2], ["in", "total"]],
    }
    return Refuted("miscounted", witness=witness)


def stated(reading, total, **more):
    return Claim(
        id=f"toy/{reading}",
        says=f"Two and two are {total}.",
        source=PAPER.at("Theorem 1", "Eq. (3)"),
        parameters={"total": total},
        assumes=(Assumption("fingers", "there are ten of them"),),
        mutants=(Mutant("six", why="it is four", total=6),),
        anchors=(Anchor("four", why="counted", total=4),) if total != 4 else (),
        **more,
    )


RIGHT = stated("theorem-1@right", 4)
WRONG = stated("theorem-1@wrong", 5, finding=refuted("it is four"), nearest=RIGHT.id)
EXTRA = stated("remark-3", 4)


@check(RIGHT, WRONG, EXTRA, grade="symbolic", scope="all")
def proof(claim):
    return counted(claim)


@check(RIGHT, WRONG, EXTRA, grade="property", scope="one case")
def hunt(claim):
    return counted(claim)
"""


def verify(folder, *arguments, **env):
    """Run the command line in a process of its own."""
    kept = {k: v for k, v in os.environ.items() if k not in OURS}
    ours = {"PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": "--verify-self-checks=none"}
    done = subprocess.run(
        [sys.executable, "-m", "verify", *map(str, arguments)],
        cwd=folder,
        env=kept | ours | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


def command(*arguments):
    """Run a command in this process."""
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def is_one_line(text, *parts):
    """Whether an error is one line with all the parts in it."""
    lines = text.strip().splitlines()
    return len(lines) == 1 and all(part in lines[0] for part in parts)


def written(folder, module=MODULE):
    """Write the project into a folder that is empty."""
    paper = folder / "theorems" / "toy"
    paper.mkdir(parents=True)
    (folder / "theorems" / "__init__.py").touch()
    (paper / "__init__.py").write_text(PAPER)
    (paper / "theorem_1.py").write_text(module)
    return folder


def run(folder, *arguments):
    """Run all its claims with small budgets."""
    small = ("--device=cpu", "--profile=smoke", "--jobs=1", "--quiet")
    return verify(folder, "run", *small, *arguments)
