"""The command line: help, misuse, list and show."""

import json
import subprocess
import sys

import pytest
from cli_project import ROOT, command, is_one_line, verify

COMMANDS = ("run", "list", "show", "report", "recheck", "new", "diff", "cache")


# ---------------------------------------------------------------- help


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name):
    result = command(name, "--help")
    assert result.exit_code == 0
    assert f"Usage: main {name}" in result.output
    assert name in command("-h").output


def test_help_of_run_lists_the_exit_codes():
    text = command("run", "--help").output
    for line in ("0  every finding", "1  a verdict differs", "2  usage", "3  the run"):
        assert line in text


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["rum"], ["No such command 'rum'"]),
        (["run", "--profle=full"], ["--profle", "run --help"]),
        (["run", "--profile=huge"], ["'huge'", "'smoke', 'default', 'full'"]),
        (["run", "--device=tpu"], ["'tpu'", "'cuda'"]),
        (["run", "--jobs=0"], ["--jobs", "0"]),
        (["run", "--seed=x"], ["--seed", "'x'"]),
        (["show"], ["CLAIM", "show --help"]),
        (["report", "nowhere"], ["nowhere", "No such file"]),
        (["diff", "nowhere", "nowhere"], ["nowhere", "No such file"]),
        (["recheck"], ["REPORT_JSON"]),
        (["report", ".", "--format=pdf"], ["'pdf'", "'html'"]),
    ],
    ids=" ".join,
)
def test_misuse_is_one_line(arguments, parts):
    result = command(*arguments)
    assert result.exit_code == 2
    assert is_one_line(result.output, *parts)


# ---------------------------------------------------------------- list and show


def test_list(project):
    done = verify(project, "list")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[0].split()[:3] == ["id", "kind", "finding"]
    assert [line.split()[0] for line in lines[1:]] == [
        "toy/theorem-1@right",
        "toy/theorem-1@wrong",
        "toy/remark-3",
    ]


def test_list_as_json(project):
    rows = json.loads(verify(project, "list", "--json", "--paper=toy").stdout)
    assert rows[1]["id"] == "toy/theorem-1@wrong"
    assert rows[1]["finding"] == "REFUTED"
    assert rows[1]["checks"] == "symbolic, property"
    assert rows[1]["mutants"] == 1


def test_coverage_tells_the_fate_of_every_item(project):
    rows = json.loads(verify(project, "list", "--coverage", "--json").stdout)
    assert {(row["item"], row["status"]) for row in rows} == {
        ("Theorem 1", "claim"),
        ("Theorem A.1", "alias"),
        ("Theorem 9", "MISSING toy/theorem-9"),
        ("Lemma 2", "not stated yet"),
        ("Figure 1", "not a claim"),
        ("-", "ours"),
    }


def test_unknown_paper(project):
    done = verify(project, "list", "--paper=tyo")
    assert done.returncode == 2
    assert is_one_line(done.stderr, "no paper 'tyo'", "there are: toy")


def test_show_one_reading(project):
    text = verify(project, "show", "toy/theorem-1@wrong").stdout
    for part in (
        "Two and two are 5.",
        "Theorem 1 (Eq. (3))",
        "REFUTED it is four",
        "fingers: there are ten of them",
        "parameter   total = 5",
        "symbolic  proof [all]",
        "six: total = 6; it is four",
        "four: total = 4; counted",
        "last run    REFUTED miscounted",
        "again       verify run toy/theorem-1@wrong",
    ):
        assert part in text


def test_show_a_bare_id_shows_all_readings(project):
    text = verify(project, "show", "toy/theorem-1").stdout
    assert "toy/theorem-1@right\n" in text
    assert "toy/theorem-1@wrong\n" in text
    assert "toy/remark-3" not in text


def test_show_suggests_the_nearest_id(project):
    done = verify(project, "show", "toy/remrk-3")
    assert done.returncode == 2
    assert is_one_line(done.stderr, "did you mean 'toy/remark-3'?", "verify list")


def test_no_theorems_above(tmp_path):
    done = verify(tmp_path, "list")
    assert done.returncode == 2
    assert is_one_line(done.stderr, "no folder theorems/", "--theorems")


def test_another_folder_by_option(project, tmp_path):
    done = verify(tmp_path, "list", f"--theorems={project / 'theorems'}")
    assert "toy/remark-3" in done.stdout


def test_help_loads_nothing_heavy(tmp_path):
    """`verify --help` answers at once: within .3 s on a machine that is not busy."""
    heavy = "numpy scipy sympy torch cvxpy pydantic jinja2 pytest hypothesis matplotlib"
    code = "import sys, verify.cli; print(*{m.partition('.')[0] for m in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert "click" in loaded
    assert not loaded & set(heavy.split())
