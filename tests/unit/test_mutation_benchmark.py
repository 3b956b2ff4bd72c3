"""The study of mutants: what it changes, what it calls killed, and how it counts."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOY = """
def double(x: int) -> int:
    return 2 * x


def loop(n: int) -> int:
    while n > 3:
        n -= 1
    return n
"""
TESTS = """
from verify.toy import double, loop


def test_double():
    assert double(3) == 6


def test_loop():
    assert loop(9) == 3
"""
TRIALS = """
import json, sys
from pathlib import Path
from benchmarks.mutation import trial
from benchmarks.mutation.trial import Bench, TrialError

copy, trial.SLOWER = Path(sys.argv[1]), float(sys.argv[2])
bench = Bench(copy, "verify/toy.py", ("tests/test_toy.py",), copy / "log")
try:
    bench.warm(copy / "warm.json")
except TrialError as error:
    sys.exit(str(error))
toy = (copy / "verify/toy.py").read_text()
changes = [("2 * x", "3 * x"), ("2 * x", "x * 2"), ("n -= 1", "n -= 0"),
           ("2 * x", "__import__('os')._exit(0)"), ("2 * x", "2 * y"), ("def", "if")]
found = [bench.try_mutant(toy.replace(*change)) for change in changes]
print(json.dumps([[x.status, x.killer] for x in found]))
assert (copy / "verify/toy.py").read_text() == toy
"""


def trials(folder, tests, slower=10):
    """Try changes of the toy in a process that has imported nothing of `verify`."""
    for name, text in (
        ("verify/__init__.py", ""),
        ("verify/toy.py", TOY),
        ("tests/test_toy.py", tests),
        ("pyproject.toml", '[tool.pytest]\npythonpath = ["."]\n'),
    ):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", TRIALS, str(folder), str(slower)]
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False
    )


def test_a_mutant_is_killed_by_a_failing_test_a_loop_or_an_exit_and_else_survives(
    tmp_path,
):
    done = trials(tmp_path, TESTS)
    assert done.returncode == 0, done.stderr
    double, loop = (f"tests/test_toy.py::test_{x}" for x in ("double", "loop"))
    assert json.loads(done.stdout) == [
        ["killed", double],
        ["survived", ""],
        ["time-out", loop],
        ["killed", "the interpreter ended"],
        ["killed", double],
        ["killed", "import of tests/test_toy.py"],
    ]


def test_tests_that_are_never_imported_are_a_time_out(tmp_path):
    done = trials(tmp_path, TESTS + "\n\nCASES = [loop(5)]\n", slower=1)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[2] == ["time-out", "import of the tests"]


def test_tests_that_fail_on_the_original_kill_nothing(tmp_path):
    done = trials(tmp_path, TESTS.replace("== 6", "== 7"))
    assert done.returncode == 1
    assert "test_double fails on the original" in done.stderr


MODULE = '''
"""A docstring."""
from functools import cache

SIGN: dict[str, int] = {"a b": 1}


class Word:
    NAME = "w"


@cache
def f(x: "int" = 2) -> "int":
    """Another."""
    if x < 3:
        raise ValueError("this is wording", x)
    return x + 1
'''


def changes(folder, text):
    mutants = pytest.importorskip("benchmarks.mutation.mutants", reason="needs mutmut")
    (folder / "m.py").write_text(textwrap.dedent(text), "utf-8")
    return mutants.mutants(folder, "m.py")


def test_every_place_that_a_run_can_see_is_changed_once_per_operator(tmp_path):
    found = changes(tmp_path, MODULE)
    assert all(mutant.compiles for mutant in found)
    assert len({mutant.source for mutant in found}) == len(found)
    news = {mutant.diff[1] for mutant in found}
    assert {
        'SIGN: dict[str, int] = {"a b": 2}',
        'SIGN: dict[str, int] = {"A B": 1}',
        'NAME = "XXwXX"',
        "NAME = None",
        'def f(x: "int" = 3) -> "int":',
        "if x <= 3:",
        "return x - 1",
        'raise ValueError("this is wording", None)',
        "raise ValueError(x)",
    } <= news
    told = " ".join(news).lower()
    assert not any(x in told for x in ("xxint", "docstring.xx", "xxthis is wording"))


def test_the_name_of_a_mutant_does_not_change_with_edits_elsewhere(tmp_path):
    before = {mutant.name: mutant.diff for mutant in changes(tmp_path, MODULE)}
    after = changes(tmp_path, MODULE.replace("class Word", "OTHER = 7\n\n\nclass Word"))
    assert before.items() <= {mutant.name: mutant.diff for mutant in after}.items()


def journal_of(folder, found, fates):
    """A journal with the fate of each mutant, read again from its file."""
    tally = pytest.importorskip("benchmarks.mutation.tally", reason="needs mutmut")
    journal = tally.Journal(folder / "lines.jsonl")
    for mutant, status in zip(found, fates, strict=False):
        status = tally.NO_CODE if status is None else status
        journal.add(tally.Line(mutant.name, "key", status, "", 1.0, 1, "a | b", "c"))
    return tally, tally.Journal(folder / "lines.jsonl")


def test_a_survivor_counts_against_the_tests_unless_it_is_no_python(tmp_path):
    found = changes(tmp_path, MODULE)[:6]
    fates = ["killed", "time-out", "survived", "survived", None]
    tally, journal = journal_of(tmp_path, found, fates)
    names = [mutant.name for mutant in found]
    table = [f"| `{names[2]}` | x | the same |", f"| `{names[3]}` | x | gap: no test |"]
    (tmp_path / "s.md").write_text("\n".join(table), "utf-8")
    reasons = tally.examined(tmp_path / "s.md")
    assert reasons == {names[2]: "the same", names[3]: "gap: no test"}
    group = tally.Group("m.py", 60, tuple(found))
    *counts, interval = group.row(journal, reasons)
    assert counts == ["m.py", 60, 4, 1, 1, 2, 1, 1, 0.5]
    assert interval == "0.068 to 0.932"  # Clopper and Pearson's for 2 of 4
    assert group.left(journal) == 1
    assert group.missed(journal)
    left = list(tally.unexamined([group], journal, {names[2]}))
    assert [line.name for line in left] == [names[3]]


def test_a_sample_keeps_its_survivors_whatever_tests_are_written_later(tmp_path):
    found = changes(tmp_path, MODULE)[:4]
    fates = ["killed", "killed", "survived", "survived"]
    tally, journal = journal_of(tmp_path, found, fates)
    group = tally.Group("three", 60, tuple(found), seed=1)
    assert group.row(journal, {})[:-1] == ["three, draw 1", 60, 4, 2, 0, 2, 0, 2, 0.5]
    assert not group.missed(journal)  # half is a statistic, no target
    assert not [*tally.unexamined([group], journal, {})]
    path = tmp_path / "s.md"
    path.write_text("# Survivors\n", "utf-8")
    tally.add_gaps(path, tally.unexamined([group], journal, {}, samples=True))
    reasons = tally.examined(path)
    assert reasons == dict.fromkeys([x.name for x in found[2:]], tally.NOT_EXAMINED)
    _, journal = journal_of(tmp_path, found, ["killed"] * 4)
    assert group.row(journal, reasons)[5:9] == [2, 0, 2, 0.5]
    whole = tally.Group("m.py", 4, tuple(found))
    assert whole.row(journal, reasons)[5:9] == [0, 0, 0, 1.0]  # there tests count


def test_samples_of_several_seeds_are_disjoint_and_outlive_changes(tmp_path):
    run = pytest.importorskip("benchmarks.mutation.run", reason="needs mutmut")
    pool = changes(tmp_path, MODULE)
    samples = [{x.name for x in run.drawn(pool, seed, 8)} for seed in range(4)]
    assert [len(x) for x in samples[:2]] == [8, 8]
    assert len(set().union(*samples)) == sum(map(len, samples))
    longer = changes(
        tmp_path, MODULE.replace("class Word", "OTHER = 7\n\n\nclass Word")
    )
    assert len(longer) > len(pool)
    again = {x.name for x in run.drawn(longer, 0, 8)}
    new = {x.name for x in longer} - {x.name for x in pool}
    assert len(samples[0] - again) == len(again & new)


UNTESTED = "def double(x):\n    return 2 * x\n\n\ndef keep(x):\n    return x + 0\n"
DOUBLE = "from verify.toy import double\n\n\ndef test():\n    assert double(3) == 6\n"
JOBS = """
import os, sys
from pathlib import Path
from benchmarks.mutation import run, tally
from benchmarks.mutation.trial import Bench, TrialError

copy, jobs = Path(sys.argv[1]) / "copy", int(sys.argv[2])
bench = Bench(copy, "verify/toy.py", ("tests/test_toy.py",), copy.parent / "log")
bench.warm(copy.parent / "warm.json")
journal = tally.Journal(copy.parent / "lines.jsonl")
found = run.mutants(copy, "verify/toy.py")
if jobs < 0:  # one of the processes dies
    jobs, attempt, here = -jobs, run.attempt, os.getpid()
    run.attempt = lambda *x: attempt(*x) if os.getpid() == here else os._exit(3)
try:
    run.share_out(run.Jobs(bench, "key", journal, jobs), found)
except TrialError as error:
    sys.exit(str(error))
for mutant in found:
    print(mutant.name, journal.lines[mutant.name].status)
"""


def shared_out(folder, jobs):
    """Each mutant of the toy and its fate, and what went wrong."""
    copy = folder / "copy"
    for name, text in (
        ("verify/__init__.py", ""),
        ("verify/toy.py", UNTESTED),
        ("tests/test_toy.py", DOUBLE),
        ("pyproject.toml", '[tool.pytest]\npythonpath = ["."]\n'),
    ):
        (copy / name).parent.mkdir(exist_ok=True, parents=True)
        (copy / name).write_text(text, "utf-8")
    command = [sys.executable, "-c", JOBS, str(folder), str(jobs)]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines(), done.stderr


def test_several_processes_find_what_one_finds(tmp_path):
    pytest.importorskip("benchmarks.mutation.mutants", reason="needs mutmut")
    one, two = tmp_path / "one", tmp_path / "two"
    (alone, _), (both, _) = shared_out(one, 1), shared_out(two, 2)
    assert len(alone) == 4
    assert both == alone
    assert {line.split()[1] for line in alone} == {"killed", "survived"}
    assert "ended early" in shared_out(tmp_path / "dead", -2)[1]
