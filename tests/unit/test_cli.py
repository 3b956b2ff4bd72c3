"""The command line: what each command prints, its exit codes, and bad input."""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from verify import recheck
from verify.cli import main

ROOT = Path(__file__).parents[2]
COMMANDS = ("run", "list", "show", "report", "recheck", "new", "diff", "cache")
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


def verify(folder, *arguments):
    """Run the command line in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "verify", *arguments],
        cwd=folder,
        env={k: v for k, v in os.environ.items() if k != "GITHUB_STEP_SUMMARY"}
        | {"PYTHONPATH": str(ROOT)},
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


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project of three claims after a run."""
    folder = tmp_path_factory.mktemp("project")
    paper = folder / "theorems" / "toy"
    paper.mkdir(parents=True)
    (folder / "theorems" / "__init__.py").touch()
    (paper / "__init__.py").write_text(PAPER)
    (paper / "theorem_1.py").write_text(MODULE)
    assert verify(folder, "run", "--device=cpu", "--profile=smoke").returncode == 0
    return folder


@pytest.fixture
def record(project):
    """The record of the run, to be changed."""
    path = project / "reports" / "latest" / "report.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture
def save(tmp_path):
    """Write a record, or any text, to a file."""

    def write(content, name="report.json"):
        path = tmp_path / name
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8")
        return path

    return write


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
        (["report", "nowhere"], ["nowhere", "does not exist"]),
        (["diff", "nowhere", "nowhere"], ["nowhere", "does not exist"]),
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


# ---------------------------------------------------------------- report


def test_report_prints_every_format(project):
    folder = project / "reports" / "latest"
    texts = {
        form: command("report", folder, f"--format={form}").output
        for form in ("html", "md", "tex", "junit", "json")
    }
    assert texts["html"].lower().startswith("<!doctype html>")
    assert json.loads(texts["json"])["run"]["exit_code"] == 0
    assert ElementTree.fromstring(texts["junit"]).tag in {"testsuites", "testsuite"}
    assert all("theorem-1" in text for text in texts.values())


def test_report_writes_all_views_again(project, tmp_path):
    journal = project / "reports" / "latest" / "journal.jsonl"
    (tmp_path / "journal.jsonl").write_bytes(journal.read_bytes())
    result = command("report", tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert result.exit_code == 0
    assert {"report.json", "index.html", "summary.md", "claims.tex"} < names
    assert "REFUTED      toy/theorem-1@wrong" in result.output


def test_report_of_a_killed_run(project, tmp_path):
    journal = project / "reports" / "latest" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:50])
    result = command("report", tmp_path)
    run = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["run"]
    assert result.exit_code == 0
    assert run["exit_code"] == 3
    assert run["partial"]
    assert "crash: the run did not finish" in result.output


def test_report_of_no_run(tmp_path, save):
    result = command("report", tmp_path)
    assert result.exit_code == 2
    assert is_one_line(result.output, "holds no run", "verify run --out")


def test_report_of_a_file_needs_a_format(save, record):
    path = save(record)
    assert command("report", path, "--format=md").exit_code == 0
    result = command("report", path)
    assert result.exit_code == 2
    assert is_one_line(result.output, "--format")


# ---------------------------------------------------------------- recheck


def rechecked(path, *options):
    """Exit code and text of a recheck, which writes to the real streams."""
    done = verify(path.parent, "recheck", str(path), *options)
    return done.returncode, done.stdout, done.stderr


def test_recheck_of_a_good_report(save, record):
    code, out, _ = rechecked(save(record))
    assert code == 0
    last = out.splitlines()[-1].split()
    assert last[0] == last[2]  # "7 items: 7 ok": nothing bad, nothing undecided
    assert last[-1] == "ok"


def test_deep_recheck_decides_enclosures(save, record):
    below = {"kind": "enclosure", "says": "pi is below 3", "inputs": {}}
    below |= {"relation": ["<", ["pi"], 3]}
    record["claims"][0]["checks"][0]["certificate"] = below
    record["result_digest"] = recheck.result_digest(record)
    path = save(record)
    code, out, _ = rechecked(path)
    assert code == 0
    assert "1 not rechecked here" in out
    code, out, _ = rechecked(path, "--deep")
    assert code == 1
    assert " 1 BAD" in out


def test_recheck_of_a_tampered_witness(save, record):
    wrong = next(c for c in record["claims"] if c["id"].endswith("@wrong"))
    witness = wrong["checks"][0]["witness"]
    assert witness["inputs"]["total"] == 5
    witness["inputs"]["total"] = 4
    code, out, _ = rechecked(save(record))
    assert code == 1
    assert "BAD" in next(line for line in out.splitlines() if "@wrong" in line)


def test_recheck_of_a_tampered_result(save, record):
    record["claims"][0]["checks"][0]["margin"] = 2.0
    code, out, _ = rechecked(save(record))
    assert code == 1
    assert "result_digest: differs" in out
    assert "verdict_digest: matches" in out


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '{"schema_version": 1}', '{"a": NaN}', "\x00"]
)
def test_recheck_of_a_malformed_report(save, text):
    code, _, err = rechecked(save(text))
    assert code == 2
    assert is_one_line(err, "recheck: ")


def test_recheck_of_a_newer_report(save, record):
    code, _, err = rechecked(save(record | {"schema_version": 2}))
    assert code == 2
    assert is_one_line(err, "schema_version 2", "newer release")


def test_recheck_of_no_file(tmp_path):
    code, _, err = rechecked(tmp_path / "absent.json")
    assert code == 2
    assert is_one_line(err, "absent.json")


# ---------------------------------------------------------------- diff


def test_diff_of_a_report_with_itself(save, record):
    path = save(record)
    result = command("diff", path, path)
    assert result.exit_code == 0
    assert "3 claims without a difference" in result.output


def test_diff_of_run_folders(project):
    folder = project / "reports" / "latest"
    assert command("diff", folder, folder / "report.json").exit_code == 0


def test_diff_of_a_changed_verdict(save, record):
    old = save(record, "old.json")
    record["claims"][0]["verdict"] = "INCONCLUSIVE"
    record["claims"][0]["reason"] = "gave up"
    result = command("diff", old, save(record, "new.json"))
    assert result.exit_code == 1
    assert "toy/theorem-1@right: HOLDS -> INCONCLUSIVE  gave up" in result.output


def test_diff_of_a_new_fault_and_a_missing_claim(save, record):
    old = save(record, "old.json")
    record["claims"][0]["fault"] = "BROKEN"
    del record["claims"][2]
    result = command("diff", old, save(record, "new.json"), "--json")
    rows = {row["id"]: row["new"] for row in json.loads(result.output)}
    assert result.exit_code == 1
    assert rows == {"toy/theorem-1@right": "HOLDS (BROKEN)", "toy/remark-3": "absent"}


def test_diff_of_a_changed_margin_is_no_changed_verdict(save, record):
    old = save(record, "old.json")
    record["claims"][0]["checks"][0]["margin"] = 0.5
    result = command("diff", old, save(record, "new.json"))
    assert result.exit_code == 0
    assert "margins {'proof': [1.0, 0.5]}" in result.output
    assert "2 claims without a difference" in result.output


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": 1}', "\x00"])
def test_diff_with_a_malformed_report(save, record, text):
    good, bad = save(record, "good.json"), save(text, "bad.json")
    for pair in ((good, bad), (bad, good)):
        result = command("diff", *pair)
        assert result.exit_code == 2
        assert is_one_line(result.output, "bad.json")


def test_diff_with_a_report_that_lacks_a_field(save, record):
    good = save(record, "good.json")
    del record["claims"][0]["scope"]
    result = command("diff", good, save(record, "bad.json"))
    assert result.exit_code == 2
    assert is_one_line(result.output, "claims.0.scope", "write it again")


def test_diff_with_a_newer_report(save, record):
    newer = save(record | {"schema_version": 2}, "newer.json")
    result = command("diff", save(record), newer)
    assert result.exit_code == 2
    assert is_one_line(result.output, "schema_version 2", "newer release")


def test_binary_file_is_one_line(tmp_path, save, record):
    path = tmp_path / "binary.json"
    path.write_bytes(b"\xff\xfe\x00")
    result = command("diff", save(record), path)
    assert result.exit_code == 2
    assert is_one_line(result.output, "binary.json")
