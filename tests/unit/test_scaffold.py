"""New theorem modules: they load, run and say that nothing is decided."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from verify.cli import main
from verify.paper import ClaimError
from verify.scaffold import scaffold


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "theorems"
    folder.mkdir()
    return folder


def test_files(root):
    first = scaffold(root, "toy2025/lemma-b.2/upper@strict", "odds")
    assert [path.name for path in first] == ["__init__.py", "lemma_b_2_odds.py"]
    again = scaffold(root, "toy2025/proof-step-3", "odds")
    assert [path.name for path in again] == ["proof_step_3_odds.py"]
    assert "kind=Kind.PROOF_STEP" in again[0].read_text()
    assert '"Lemma b.2"' in first[1].read_text()
    for claim, slug in (
        ("toy2025/lemma-b.2", "odds"),
        ("lemma", "x"),
        ("a/b-1", "A b"),
    ):
        with pytest.raises(ClaimError):
            scaffold(root, claim, slug)


def test_scaffold_runs(root):
    made = CliRunner().invoke(main, ["new", "toy2025/lemma-1", "--theorems", str(root)])
    assert made.exit_code == 0
    assert made.output.splitlines()[-1].endswith("lemma_1_statement.py")
    command = [sys.executable, "-m", "verify", "run", "--profile", "smoke"]
    command += ["--jobs", "1", "--quiet", "--out", str(root.parent / "out")]
    done = subprocess.run(
        command, cwd=root.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((root.parent / "out" / "report.json").read_text())
    assert [c["verdict"] for c in report["claims"]] == ["INCONCLUSIVE"]


def test_misuse_is_one_line(root):
    for claim in ("nonsense", "toy2025/lemma-1"):
        scaffold(root, "toy2025/lemma-1", "statement") if claim != "nonsense" else None
        made = CliRunner().invoke(main, ["new", claim, "--theorems", str(root)])
        assert made.exit_code == 2
        assert made.output.count("\n") == 1
