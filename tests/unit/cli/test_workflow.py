"""The workflow file and the commands of docs/ci.md: valid, pinned, and they run."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_project import MODULE, ROOT, run, written

from verify.cli import main

yaml = pytest.importorskip("yaml", reason="PyYAML reads the workflow file")

DOCS = ROOT / "docs"
TEXT = (DOCS / "github-actions.yml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def workflow():
    return yaml.safe_load(TEXT)


@pytest.fixture(scope="module")
def steps(workflow):
    return workflow["jobs"]["claims"]["steps"]


def named(steps, start):
    (step,) = [step for step in steps if step.get("name", "").startswith(start)]
    return step


def test_every_action_is_pinned_by_version(workflow):
    used = [
        step["uses"]
        for job in workflow["jobs"].values()
        for step in job["steps"]
        if "uses" in step
    ]
    assert len(used) >= 6
    for name in used:
        assert re.fullmatch(r"actions/[a-z/-]+@v\d+\.\d+\.\d+", name), name


def test_permissions_are_given_job_by_job(workflow):
    assert workflow["permissions"] == {}
    assert workflow["jobs"]["claims"]["permissions"] == {"contents": "read"}
    assert "contents" not in workflow["jobs"]["publish"]["permissions"]


def test_no_expression_reaches_a_shell(workflow):
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            assert "${{" not in step.get("run", "")


def test_the_cache_is_keyed_by_the_code_that_trains(workflow, steps):
    environment = workflow["jobs"]["claims"]["env"]
    (restore,) = [s for s in steps if "cache/restore" in s.get("uses", "")]
    (save,) = [s for s in steps if "cache/save" in s.get("uses", "")]
    assert restore["with"]["path"] == save["with"]["path"] == "${{ env.VERIFY_CACHE }}"
    assert environment["VERIFY_CACHE"].startswith("${{ github.workspace }}/")
    globs = re.search(r"hashFiles\((.*)\)", restore["with"]["key"])[1]
    for glob in re.findall(r"'(.*?)'", globs):
        assert next(ROOT.glob(glob), None) is not None, glob
    assert "verify/train/**/*.py" in globs
    assert "theorems/**/*.py" in globs


def commands():
    """Every command line of ours in the workflow and in the page about it."""
    page = (DOCS / "ci.md").read_text(encoding="utf-8")
    inline = re.findall(r"`(verify [^`]*)`", page)
    listed = re.findall(r"^ +- \.venv/bin/(verify .*)$", page, re.MULTILINE)
    text = "\n".join([TEXT, *inline, *listed])
    pattern = r"^[^#\n]*?\b(verify (?:run|diff|report|cache|recheck) .*)$"
    found = re.findall(pattern, text, flags=re.MULTILINE)
    return [re.split(r" [>|]|…", line)[0] for line in found]


def test_the_commands_are_found():
    words = {line.split()[1] for line in commands()}
    assert words == {"run", "diff", "report", "cache", "recheck"}


@pytest.mark.parametrize("line", commands())
def test_every_command_has_these_options(line):
    group, words = main, shlex.split(line)[1:]
    while words and hasattr(group, "commands"):
        group = group.commands[words.pop(0)]
    given = [word.replace("$PROFILE", "smoke") for word in words]
    if "diff" in line and len(given) < 3:
        given = ["old", "new", *(x for x in given if x.startswith("-"))]
    group.make_context(line, given)  # raises on an option or a value that is unknown


def shell(script, folder, **env):
    """Run a step as GitHub does."""
    here = str(Path(sys.executable).parent)
    return subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=folder,
        env={
            "PATH": f"{here}:/usr/bin:/bin",
            "PYTHONPATH": str(ROOT),
            "PYTEST_ADDOPTS": "--verify-self-checks=none",
            "HOME": str(folder),
            "PROFILE": "smoke",
            "CI": "true",
            "VERIFY_CACHE": str(folder / "cache"),
        }
        | env,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_the_steps_run_and_mark_the_one_changed_verdict(steps, tmp_path):
    folder = written(tmp_path / "checkout", MODULE)
    published = folder / "reports" / "published"
    compare = named(steps, "Compare")["run"]
    assert "no published report" in shell(compare, folder).stdout

    decided = shell(
        named(steps, "Decide the claims")["run"],
        folder,
        GITHUB_STEP_SUMMARY=str(tmp_path / "decided.md"),
    )
    assert decided.returncode == 0, decided.stdout + decided.stderr
    assert "| **FAIL**" in (tmp_path / "decided.md").read_text(encoding="utf-8")
    assert shell(named(steps, "Decide every")["run"], folder).returncode == 0
    assert shell(named(steps, "Make room")["run"], folder).returncode == 0
    assert shell(named(steps, "Collect")["run"], folder).returncode == 0
    assert {path.name for path in (folder / "site").iterdir()} == {
        *("index.html", "report.json", "badge.svg")
    }

    record = json.loads((folder / "reports/latest/report.json").read_text("utf-8"))
    for version, verdict in (("0.9.0", "HOLDS"), ("0.10.0", "INCONCLUSIVE")):
        record["claims"][0]["verdict"] = verdict
        (published / version).mkdir(parents=True)
        (published / version / "report.json").write_text(json.dumps(record))
    done = shell(
        compare,
        folder,
        GITHUB_STEP_SUMMARY=str(tmp_path / "compared.md"),
        GITHUB_WORKSPACE=str(folder),
    )
    assert done.returncode == 1
    errors = [x for x in done.stdout.splitlines() if x.startswith("::error")]
    assert len(errors) == 1  # against 0.10.0, which is newer than 0.9.0
    assert "title=toy/theorem-1@right::INCONCLUSIVE -> HOLDS" in errors[0]
    assert "1 verdict changed" in (tmp_path / "compared.md").read_text("utf-8")


def test_a_recheck_that_fails_is_shown(steps, tmp_path):
    folder = written(tmp_path / "checkout", MODULE)
    assert run(folder).returncode == 0
    path = folder / "reports" / "latest" / "report.json"
    path.write_text(path.read_text("utf-8").replace('"margin":1.0', '"margin":2.0'))
    done = shell(named(steps, "Decide every")["run"], folder)
    assert done.returncode == 1
    assert "result_digest: differs" in done.stdout
