"""Mutate the engine and see whether its tests notice; see README.md here.

python benchmarks/mutation/run.py --state DIR [--only verdict] [--again] [--write]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # a process that forks has one thread
HERE = Path(__file__).resolve().parent
sys.path[:] = [x for x in sys.path if Path(x or ".").resolve() != HERE]
sys.path.insert(0, str(HERE.parents[1]))

from benchmarks.commands import ROOT, say, table, write_trust  # ruff: ignore[module-import-not-at-top-of-file]
from benchmarks.mutation.mutants import Mutant, mutants  # ruff: ignore[module-import-not-at-top-of-file]
from benchmarks.mutation.tally import (  # ruff: ignore[module-import-not-at-top-of-file]
    COLUMNS,
    NO_CODE,
    Group,
    Journal,
    Line,
    add_gaps,
    examined,
    told,
    unexamined,
)
from benchmarks.mutation.trial import Bench, TrialError, copy_tree  # ruff: ignore[module-import-not-at-top-of-file]

UNIT = "tests/unit"
EXHAUSTIVE = {
    "verdict": (
        "verify/verdict.py",
        (f"{UNIT}/test_verdict.py", f"{UNIT}/test_verdict_mutants.py"),
    ),
    "recheck": (
        "verify/recheck.py",
        (
            f"{UNIT}/test_recheck.py",
            f"{UNIT}/test_recheck_mutants.py",
            f"{UNIT}/test_recheck_records_mutants.py",
            f"{UNIT}/test_recheck_budget_mutants.py",
            f"{UNIT}/test_recheck_limits_mutants.py",
        ),
    ),
}
SAMPLED = ("fit", "certify", "max_margin")  # packages; their tests mirror them
SAMPLE, SEED = 300, 1  # seeds below were drawn to find what the tests did not see yet
SURVIVORS = HERE / "survivors.md"


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", type=Path, required=True, help="keeps what is done")
    names = [*EXHAUSTIVE, *SAMPLED]
    parser.add_argument("--only", action="append", choices=names, help="only this one")
    parser.add_argument(
        "--again",
        action="store_true",
        help="try again whatever was tried with other tests or another module; by "
        "default survivors only",
    )
    parser.add_argument("--most", type=int, help="stop after so many trials")
    parser.add_argument("--seed", type=int, default=SEED, help="of the sample")
    parser.add_argument("--jobs", type=int, default=2, help="processes (%(default)s)")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="leave out slow tests; survivors are tried with all of them next time",
    )
    parser.add_argument("--list", action="store_true", help="print the survivors")
    parser.add_argument("--write", action="store_true", help="ship the figures")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study; 1 if a kill rate is below its target, 2 if it could not run."""
    given = arguments(argv)
    given.state.mkdir(parents=True, exist_ok=True)
    if given.write and (given.only or given.most or given.quick or given.seed != SEED):
        say("--write ships the whole study: leave out --only, --most, --quick, --seed")
        return 2
    groups = chosen(given.only or [*EXHAUSTIVE, *SAMPLED], given.seed)
    journal = Journal(given.state / "lines.jsonl")
    try:
        work(groups, journal, given)
    except TrialError as error:
        say(f"error: {error}")
        return 2
    reasons = examined(SURVIVORS)
    print(table(COLUMNS, [group.row(journal, reasons) for group in groups]))
    for line in unexamined(groups, journal, reasons, samples=True):
        print(f"{line.name}  line {line.line}\n  - {line.old}\n  + {line.new}")
    if given.write:
        return ship(groups, journal, reasons)
    return int(any(group.missed(journal) for group in groups))


def chosen(names: Sequence[str], seed: int) -> list[Group]:
    """The mutants of each group; the sample is the same whatever is selected."""
    groups = []
    for name, (path, _) in EXHAUSTIVE.items():
        if name in names:
            found = mutants(ROOT, path)
            groups.append(Group(path, len(found), tuple(found)))
    if not {*SAMPLED} & {*names}:
        return groups
    paths = [
        str(path.relative_to(ROOT))
        for package in SAMPLED
        for path in sorted((ROOT / "verify" / package).rglob("*.py"))
    ]
    pool = [x for path in paths for x in mutants(ROOT, path)]
    sample = drawn(pool, seed)
    for package in SAMPLED:
        here = f"verify/{package}/"
        part = tuple(x for x in sample if x.path.startswith(here))
        size = sum(x.path.startswith(here) for x in pool)
        if package in names:
            groups.append(Group(here, size, part, seed))
    if {*SAMPLED} <= {*names}:
        groups.append(Group("the three packages", len(pool), tuple(sample), seed))
    return groups


def drawn(pool: Sequence[Mutant], seed: int, size: int = SAMPLE) -> list[Mutant]:
    """Draw a sample that shares no mutant with those of lower seeds.

    Tests were written with those in view. The digest of seed and name decides, so that
    a mutant stays in its sample when the code elsewhere changes.

    Args:
        pool: All mutants.
        seed: 0 or more.
        size: Of each sample.

    Returns:
        The sample, in the order of the pool.
    """
    rest: list[Mutant] = [*pool]
    sample: list[Mutant] = []
    for draw in range(seed + 1):
        places = {
            x.name: hashlib.sha256(f"{draw} {x.name}".encode()).digest() for x in rest
        }
        first = {*sorted(places, key=places.__getitem__)[:size]}
        sample = [x for x in rest if x.name in first]
        rest = [x for x in rest if x.name not in first]
    return sample


def tests_of(path: str) -> tuple[str, ...]:
    """The test files of a module; those of a package have its doctests as well."""
    for module, tests in EXHAUSTIVE.values():
        if path == module:
            return tests
    folder = ROOT / UNIT / Path(path).parts[1]
    files = sorted(folder.glob("test_*.py"))
    return (*(str(file.relative_to(ROOT)) for file in files), path)


def key_of(path: str) -> str:
    """Digest of a module and of what tests it."""
    digest = hashlib.sha256()
    tests = {x for test in tests_of(path) for x in (ROOT / test).parent.glob("*.py")}
    named = {ROOT / x for x in tests_of(path)}
    files = sorted(named | {x for x in tests if not x.name.startswith("test_")})
    for file in (ROOT / path, *files):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def work(groups: Iterable[Group], journal: Journal, given: argparse.Namespace) -> None:
    """Try what was not tried, module by module.

    Args:
        groups: The mutants.
        journal: What came of them.
        given: The command line.

    Raises:
        TrialError: The tests of a module fail on the original.
    """
    todo: dict[str, dict[str, Mutant]] = {}
    keys = {x.path: key_of(x.path) for group in groups for x in group.tried}
    for mutant in (x for group in groups for x in group.tried):
        old = journal.lines.get(mutant.name)
        stale = old and (given.again or old.status == "survived")
        if old is None or (stale and old.key != keys[mutant.path]):
            todo.setdefault(mutant.path, {})[mutant.name] = mutant
    if given.list or not todo:
        return
    state, left = given.state.resolve(), given.most or sum(map(len, todo.values()))
    copy_tree(ROOT, state / "copy")
    for path, those in todo.items():
        tests, key = tests_of(path), keys[path] + "-quick" * given.quick
        bench = Bench(state / "copy", path, tests, state / "pytest.log", given.quick)
        found = bench.warm(state / f"original-{keys[path]}.json")
        say(f"{path}: {len(those)} mutants; {found.seconds:.1f} s CPU on the original")
        order = [*those.values()]  # at random: what is done so far is a fair sample
        random.Random(SEED).shuffle(order)  # ruff: ignore[suspicious-non-cryptographic-random-usage]
        share_out(Jobs(bench, key, journal, given.jobs), order[:left])
        left -= len(order[:left])


@dataclass(frozen=True)
class Jobs:
    """What the processes that try the mutants of one module share.

    Attributes:
        bench: Its tests.
        key: Of the module and its tests.
        journal: What came of each mutant.
        number: How many processes there are.
    """

    bench: Bench
    key: str
    journal: Journal
    number: int


def share_out(jobs: Jobs, order: Sequence[Mutant]) -> None:
    """Try mutants in several processes, each with a copy of the repository.

    Args:
        jobs: What they share.
        order: The mutants, dealt out in turn.

    Raises:
        TrialError: A process ended before it was through.
    """
    here, children = os.getpid(), []
    for job in range(1, min(jobs.number, len(order))):
        copy = jobs.bench.copy.with_name(f"copy-{job}")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(jobs.bench.copy, copy)  # with what was compiled there
        child = os.fork()
        if child == 0:
            code = 70
            try:
                log = jobs.bench.log.with_name(f"pytest-{job}.log")
                other = replace(jobs, bench=replace(jobs.bench, copy=copy, log=log))
                try_all(other, order[job :: jobs.number], here)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    try_all(jobs, order[:: jobs.number])
    codes = [os.waitpid(child, 0)[1] for child in children]
    jobs.journal.read()
    if any(codes):
        raise TrialError("a job ended early: see above, and run the command again")


def try_all(jobs: Jobs, those: Sequence[Mutant], parent: int = 0) -> None:
    """Try mutants one after the other, as long as the parent that forked us lives."""
    path, lines = jobs.bench.path, jobs.journal.lines
    for done, mutant in enumerate(those):
        if parent and os.getppid() != parent:
            return
        line = attempt(jobs.bench, mutant, jobs.key, lines.get(mutant.name))
        jobs.journal.add(line)
        if line.status != "killed":
            say(f"{line.status}: {line.name} line {line.line}: {line.new[:90]}")
        if done % 50 == 49:
            say(f"{path}: {done + 1} of {len(those)} in one of the jobs")


def attempt(bench: Bench, mutant: Mutant, key: str, before: Line | None) -> Line:
    """Try one mutant, with the test first that killed it before."""
    if not mutant.compiles:
        return Line(mutant.name, key, NO_CODE, "", 0.0, mutant.span[0], "", "")
    found = bench.try_mutant(mutant.source, before.killer if before else "")
    old, new = mutant.diff
    return Line(
        mutant.name, key, found.status, found.killer,
        round(found.seconds, 2), mutant.span[0], old, new,
    )  # fmt: skip


def ship(groups: Sequence[Group], journal: Journal, reasons: dict[str, str]) -> int:
    """Ship the figures, if they are those of this code and survivors were looked at.

    A rate of a sample is a statistic: a survivor of one need not be looked at, but is
    written down, and counts as one whatever tests are written with it in view.

    Args:
        groups: The mutants.
        journal: What came of them.
        reasons: What is known of survivors.

    Returns:
        The exit code.
    """
    lines = {x.name: x for group in groups for x in group.lines(journal)}
    paths = {x.name: x.path for group in groups for x in group.tried}
    keys = {path: key_of(path) for path in {*paths.values()}}
    old = sum(x.key != keys[paths[x.name]] for x in lines.values())
    unknown = sum(1 for _ in unexamined(groups, journal, reasons))
    left = sum(group.left(journal) for group in groups)
    if old or unknown or left:
        say(
            f"not written: {old} of another version (--again tries them), {unknown} "
            f"survivors that {SURVIVORS.name} does not name, {left} not tried"
        )
        return 2
    add_gaps(SURVIVORS, unexamined(groups, journal, reasons, samples=True))
    reasons = examined(SURVIVORS)
    say(f"wrote {write_trust('mutation', **told(groups, journal, reasons))}")
    return int(any(group.missed(journal) for group in groups))


if __name__ == "__main__":
    sys.exit(main())
