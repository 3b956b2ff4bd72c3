"""Self-checks as nodes: which runs have them, what a disagreement does, resuming."""

import json

import pytest
from toy import CHECKS, FEW_PLUGINS, holds

# Those of the engine load much: compiled once where it is installed, not here again.
WITH = {
    "PYTEST_ADDOPTS": FEW_PLUGINS.replace("=none", "=auto"),
    "PYTHONPYCACHEPREFIX": "",
}
OWN = """\
from verify import compare, self_check


@self_check(says="Four, by counting and by adding.", why="integers do not round")
def four():
    yield compare("four", OTHER, 2 + 2, 0)
"""


@pytest.fixture
def checked(bare):
    """A project with a claim and a self-check that agrees."""
    bare.add("theorem_1", holds() + CHECKS)
    bare.add("second_opinions", OWN.replace("OTHER", "4"))
    return bare


def verdicts(project):
    return {c["name"]: c["verdict"] for c in project.report()["self_checks"]}


def test_a_run_of_a_whole_paper_has_its_own_and_the_engines(checked):
    done = checked.pytest("theorems", "-v", **WITH)
    report = checked.report()
    found = verdicts(checked)
    assert done.code == report["run"]["exit_code"] == 0, done.text
    assert set(found.values()) == {"AGREE"}
    assert {name.partition("/")[0] for name in found} == {"engine", "toy"}
    assert len(found) == 8
    assert "theorems/toy/second_opinions.py::four AGREE" in done.out
    assert not report["run"]["partial"]


def test_a_distributed_run_agrees_with_a_serial_one(checked):
    arguments = ("theorems", "-k", "theorem_1 or four or elementary_functions")
    assert checked.pytest(*arguments, **WITH).code == 0
    serial = checked.report()
    done = checked.pytest(*arguments, "-n", "2", "--dist", "loadfile", **WITH)
    assert done.code == 0
    assert verdicts(checked)["engine/elementary-functions"] == "AGREE"
    assert checked.report()["result_digest"] == serial["result_digest"]


def test_a_disagreement_turns_the_run_red(checked):
    checked.add("second_opinions", OWN.replace("OTHER", "5"))
    done = checked.pytest("theorems", "-k", "theorem_1 or four", **WITH)
    run = checked.report()["run"]
    assert done.code == run["exit_code"] == 1
    reason = "1 of 1 comparisons: four: 1 apart, 0 explained"
    assert run["red"] == [f"self-check toy/four: {reason}"]
    assert "bound: integers do not round" in done.out
    assert verdicts(checked)["toy/four"] == "DISAGREE"
    assert verdicts(checked)["engine/fits"] == "NOT_RUN"
    assert checked.verdicts() == {"theorem-1": "HOLDS"}


def test_an_exception_is_a_disagreement(checked):
    checked.add("second_opinions", OWN.replace("OTHER", "1 // 0"))
    assert checked.pytest("theorems", "-k", "four", **WITH).code == 1
    (own,) = [c for c in checked.report()["self_checks"] if c["name"] == "toy/four"]
    assert own["reason"].startswith("ZeroDivisionError")
    assert own["measured"] is None


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["theorems", "-k", "four", "--verify-select=toy/theorem-2"], set()),
        (["theorems/toy/theorem_1.py"], set()),
        (["theorems/toy/second_opinions.py"], {"toy/four"}),
        (["theorems", "-m", "self_check", "-k", "four"], {"toy/four"}),
    ],
    ids=["claim", "file", "own-file", "marker"],
)
def test_selection(checked, arguments, names):
    checked.add("theorem_2", holds("toy/theorem-2") + CHECKS)
    done = checked.pytest(*arguments, **WITH)
    found = verdicts(checked)
    assert {name for name, verdict in found.items() if verdict == "AGREE"} == names
    assert done.code == (0 if names or "-k" not in arguments else 2)


def test_none_on_request(checked):
    assert checked.pytest("theorems").code == 0
    assert verdicts(checked) == {}


def test_a_resumed_run_skips_what_is_done(checked):
    run = ("theorems", "-k", "theorem_1 or four")
    assert checked.pytest(*run, **WITH).code == 0
    whole = checked.report()
    lines = [line for line in checked.journal() if json.loads(line)["type"] != "end"]
    assert len(lines) == 4  # header, self-check, two checks
    path = checked.out / "journal.jsonl"
    own = [x for x in lines if json.loads(x)["type"] == "self-check"]
    path.write_text("\n".join([lines[0], *own]) + "\n", encoding="utf-8")
    assert checked.pytest(*run, "--verify-resume", **WITH).code == 0
    kinds = [json.loads(line)["type"] for line in checked.journal()]
    assert kinds.count("self-check") == 1
    assert kinds.count("check") == 2
    assert checked.report()["result_digest"] == whole["result_digest"]


def test_two_of_one_name_are_an_error(checked):
    checked.add("third_opinions", OWN.replace("OTHER", "4"))
    done = checked.pytest("theorems", **WITH)
    assert done.code == 2
    assert "two self-checks are called 'toy/four'" in done.text
