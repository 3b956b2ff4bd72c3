"""New theorem modules: they load, run and say what to fill in."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from verify.cli import main
from verify.paper import ClaimError
from verify.scaffold import CONFTEST, PLUGIN, home, scaffold, summary

AROUND = ["conftest.py", "theorems/__init__.py", "theorems/toy2025/__init__.py"]


@pytest.fixture
def root(tmp_path):
    return tmp_path / "theorems"


def names(root, written):
    return [path.relative_to(root.parent).as_posix() for path in written]


def test_an_empty_folder_gets_all_that_is_needed(root):
    first = scaffold(root, "toy2025/lemma-b.2")
    assert names(root, first) == [*AROUND, "theorems/toy2025/lemma_b_2_statement.py"]
    assert '"Lemma b.2"' in first[-1].read_text()
    again = scaffold(root, "toy2025/proof-step-3", "odds")
    assert names(root, again) == ["theorems/toy2025/proof_step_3_odds.py"]
    assert "kind=Kind.PROOF_STEP" in again[0].read_text()


def test_part_and_reading_name_the_file(root):
    written = scaffold(root, "toy2025/theorem-3.4/re-lu@any-map")
    assert written[-1].name == "theorem_3_4_re_lu_any_map.py"
    assert 'claims=("toy2025/theorem-3.4/re-lu",)' in written[-2].read_text()
    assert scaffold(root, "toy2025/theorem-3.4/re-lu@injective")


@pytest.mark.parametrize(
    ("claim", "slug"),
    [("lemma", ""), ("toy2025/b-1", "A b"), ("Toy/b-1", ""), ("", "")],
)
def test_malformed_names(root, claim, slug):
    with pytest.raises(ClaimError, match=r"mypaper2025/lemma-1"):
        scaffold(root, claim, slug)
    assert not root.exists()


def test_a_claim_is_declared_once(root):
    path = scaffold(root, "toy2025/lemma-1")[-1]
    for claim, words in (
        ("toy2025/lemma-1", "declares toy2025/lemma-1 already"),
        ("toy2025/lemma-1@strict", "rename that one to toy2025/lemma-1@<reading>"),
    ):
        with pytest.raises(ClaimError, match=words):
            scaffold(root, claim, "other")
    path.write_text('CLAIM = Claim(id="toy2025/lemma-2@strict")')
    with pytest.raises(ClaimError, match="give toy2025/lemma-2 a reading"):
        scaffold(root, "toy2025/lemma-2")
    with pytest.raises(ClaimError, match="choose another --slug"):
        scaffold(root, "toy2025/lemma-1")  # the file of that name holds lemma-2 now


def test_the_summary_names_what_the_paper_lacks(root):
    first = summary(root, "toy2025/lemma-1", scaffold(root, "toy2025/lemma-1"))
    assert not [line for line in first if line.startswith("add")]
    told = "\n".join(summary(root, "toy2025/lemma-2@a", []))
    assert 'Item("Lemma 2", claims=("toy2025/lemma-2",))' in told
    assert "next: verify run toy2025/lemma-2@a" in told


@pytest.mark.parametrize(
    ("files", "is_written", "told"),
    [
        ({}, True, ""),
        ({"pyproject.toml": "[tool.pytest]\nstrict = true\n"}, True, ""),
        ({"pyproject.toml": f'[tool.pytest]\naddopts = "-p {PLUGIN}"\n'}, False, ""),
        ({"conftest.py": "import os\n"}, False, "pytest_plugins = "),
        ({"conftest.py": CONFTEST}, False, ""),
        (
            {"../pytest.ini": "[pytest]\n", "../.git": ""},
            False,
            "-p verify.pytest_plugin (in addopts)",
        ),
        ({"../pytest.ini": f"addopts = -p {PLUGIN}\n", "../.git": ""}, False, ""),
        ({"../pytest.ini": "[pytest]\n"}, True, ""),  # of nobody knows whom
        ({"../tox.ini": "[tox]\n", "../.git": ""}, True, ""),
    ],
)
def test_the_plugin_is_named_once(tmp_path, files, is_written, told):
    root = tmp_path / "project" / "theorems"
    root.parent.mkdir()
    for name, text in files.items():
        (root.parent / name).write_text(text)
    written = scaffold(root, "toy2025/lemma-1")
    assert (root.parent / "conftest.py" in written) is is_written
    lines = summary(root, "toy2025/lemma-1", [])
    assert bool(told) is ("add to" in lines[0])
    assert told in lines[0]


def test_home(tmp_path):
    assert home(tmp_path) == tmp_path / "theorems"
    assert home(tmp_path / "theorems") == tmp_path / "theorems"
    (tmp_path / "theorems" / "toy").mkdir(parents=True)
    assert home(tmp_path / "theorems" / "toy") == tmp_path / "theorems"


def command(folder, *words):
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_new_modules_run_in_an_empty_folder(tmp_path):
    for claim in ("toy2025/lemma-1", "toy2025/lemma-2/upper@strict"):
        made = command(tmp_path, "verify", "new", claim)
        assert f"next: verify run {claim}" in made
    run = ("verify", "run", "--profile", "smoke", "--jobs", "1", "--quiet")
    assert "fill in (1) says" in command(tmp_path, *run)
    report = json.loads((tmp_path / "reports" / "latest" / "report.json").read_text())
    assert [c["verdict"] for c in report["claims"]] == ["INCONCLUSIVE"] * 2
    assert "2 INCONCLUSIVE" in command(tmp_path, "pytest", "theorems/", "-q")


def test_misuse_is_one_line(root):
    for claim in ("nonsense", "toy2025/lemma-1"):
        scaffold(root, "toy2025/lemma-1") if claim != "nonsense" else None
        made = CliRunner().invoke(main, ["new", claim, "--theorems", str(root)])
        assert made.exit_code == 2
        assert made.output.count("\n") == 1
