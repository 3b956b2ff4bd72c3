"""The trainer runs on a machine with torch, numpy and Python alone."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import verify.train

FOLDER = Path(verify.train.__file__).parent
ALLOWED = {"torch", "numpy", *sys.stdlib_module_names}


def imported(source):
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda p: p.stem)
def test_only_torch_numpy_and_the_standard_library(path):
    foreign = {
        name
        for name in imported(path.read_text("utf-8"))
        if name.partition(".")[0] not in ALLOWED and not name.startswith("verify.train")
    }
    assert not foreign


def test_the_rule_sees_a_foreign_import():
    names = list(imported("import scipy.linalg\nfrom . import x\nfrom verify import y"))
    assert names == ["scipy.linalg", ".", "verify"]


def test_seeds_do_not_import_torch():
    code = "import sys, verify.train.seeds; sys.exit('torch' in sys.modules)"
    root = FOLDER.parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=root).returncode == 0
