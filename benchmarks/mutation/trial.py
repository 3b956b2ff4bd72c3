"""One trial: the tests of a module, run on a mutant of it in a forked process.

The parent has imported what the tests need from elsewhere, and nothing of ``verify``,
so that a child starts in a fraction of a second and imports the mutant afresh, from a
copy of the repository in which only that file is changed. Processes that tests start
themselves see the mutant as well.

Limits are in CPU time, which a busy machine does not stretch: a test may take ten times
what it takes on the original, and two seconds more. So may the import of all tests,
which takes less than two seconds on the original.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hypothesis
import pytest

SLOWER, SPARE = 10.0, 2.0  # a test on a mutant: factor and seconds over the original
QUICK = 0.3  # seconds of CPU time
MEMORY = 3 << 30  # bytes of address space a child may add
FIRST = 3600.0  # seconds for the run of the original
COPIED = ("verify", "tests", "theorems", "benchmarks", "pyproject.toml")


class TrialError(Exception):
    """Trials cannot be made; the message says what to do."""


@dataclass
class Outcome:
    """How the tests of a module fared.

    Attributes:
        status: ``killed``, ``time-out`` or ``survived``.
        killer: The test that failed, if a test did.
        seconds: CPU time.
        durations: CPU time of each test that ran.
        modules: What was imported from elsewhere.
    """

    status: str
    killer: str = ""
    seconds: float = 0.0
    durations: dict[str, float] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)


def copy_tree(root: Path, copy: Path) -> None:
    """Copy what the tests need."""
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    leave = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in COPIED:
        if (root / name).is_dir():
            shutil.copytree(root / name, copy / name, ignore=leave)
        else:
            shutil.copy(root / name, copy / name)


@dataclass
class Bench:
    """The tests of one module, and how long each takes on the original.

    Attributes:
        copy: The copy of the repository.
        path: The module, relative to it.
        tests: Its test files, relative to it.
        log: Where a child writes what pytest prints.
        quick: Leave out tests that take longer than `QUICK` on the original.
        durations: CPU time of each test on the original, by node id.
        kills: How many mutants each test has killed so far.
    """

    copy: Path
    path: str
    tests: tuple[str, ...]
    log: Path
    quick: bool = False
    durations: dict[str, float] = field(default_factory=dict)
    kills: dict[str, int] = field(default_factory=dict)

    def warm(self, known: Path) -> Outcome:
        """Run the original; what it imports from elsewhere stays imported.

        Args:
            known: A file that keeps the outcome for the same module and tests.

        Returns:
            The outcome, with the durations.

        Raises:
            TrialError: The tests fail on the original.
        """
        found = self._fork(limit=FIRST, write=True, collect=known.exists())
        if found.status != "survived":
            raise TrialError(
                f"{self.path}: {found.killer or 'the tests'} fails on the original "
                f"({found.status}): see {self.log}"
            )
        if known.exists():
            found = Outcome(**json.loads(known.read_text("utf-8")))
        known.write_text(json.dumps(vars(found)), "utf-8")
        self.durations = found.durations
        for name in found.modules:
            with suppress(Exception):  # parts that are only made by their packages
                importlib.import_module(name)
        gc.freeze()
        return found

    def try_mutant(self, source: str, hint: str = "") -> Outcome:
        """Run the tests on a mutant until one fails.

        Args:
            source: The text of the mutated module.
            hint: A test to begin with.

        Returns:
            How they fared.
        """
        target = self.copy / self.path
        original = target.read_bytes()
        for cache in target.parent.glob(f"__pycache__/{target.stem}.*.pyc"):
            cache.unlink()
        target.write_text(source, "utf-8")
        try:
            limit = SLOWER * sum(self.durations.values()) + 30
            found = self._fork(limit=limit, hint=hint)
        finally:
            target.write_bytes(original)
        if found.killer:
            self.kills[found.killer] = self.kills.get(found.killer, 0) + 1
        return found

    def _fork(
        self,
        *,
        limit: float,
        hint: str = "",
        write: bool = False,
        collect: bool = False,
    ) -> Outcome:
        read, end = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            try:
                self._enter(limit, write=write)
                plugin = _Plugin(end, self, hint)
                options = _options(self.copy, self.tests, collect=collect)
                plugin.finish(pytest.main(options, plugins=[plugin]))
            finally:
                os._exit(70)
        os.close(end)
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read()  # ends with the child
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        _, status, usage = os.wait4(child, 0)
        seconds = usage.ru_utime + usage.ru_stime
        if said.endswith(b"\n"):
            return Outcome(**json.loads(said) | {"seconds": seconds})
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) in {
            signal.SIGXCPU,
            signal.SIGALRM,
        }:
            return Outcome("time-out", seconds=seconds)
        return Outcome("killed", "the interpreter ended", seconds)

    def _enter(self, limit: float, *, write: bool) -> None:
        """Make the child one that imports from the copy, within limits."""
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(20 * limit) + 600)  # one that sleeps uses no CPU time
        _cap_memory()
        os.chdir(self.copy)
        sys.path[:] = [str(self.copy), *(x for x in sys.path if x not in {"", _ROOT})]
        os.environ |= {"PYTHONPATH": str(self.copy), "PYTHONHASHSEED": "0"}
        if not write:
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.dont_write_bytecode = not write
        out = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(out, stream)


_ROOT = str(Path(__file__).resolve().parents[2])


def _options(copy: Path, tests: Sequence[str], *, collect: bool) -> list[str]:
    base = [
        "-x",
        "-q",
        "--tb=line",
        "--doctest-modules",
        "-c",
        str(copy / "pyproject.toml"),
    ]
    base += ["-o", "addopts=", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    base += ["--collect-only"] * collect
    absent = ["cacheprovider", "xdist", "benchmark", "timeout"]
    return [*base, *(word for name in absent for word in ("-p", f"no:{name}")), *tests]


def _cap_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text("utf-8").split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


class _Plugin:
    """Order the tests, limit each, and say which one failed."""

    def __init__(self, pipe: int, bench: Bench, hint: str) -> None:
        self.pipe, self.hint, self.kills = pipe, hint, bench.kills
        self.usual, self.durations = bench.durations, dict[str, float]()
        self.most = QUICK if bench.quick else FIRST
        self.before, self.killer = set(sys.modules), ""

    def pytest_configure(self) -> None:
        """Examples are the same for every mutant, and none is shrunk."""
        hypothesis.settings.register_profile(
            "mutation",
            database=None,
            deadline=None,
            derandomize=True,
            phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        hypothesis.settings.load_profile("mutation")

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """First the test that killed it before, then those that kill most a second."""

        def worth(item: Any) -> tuple[bool, float]:
            cost = self.usual.get(item.nodeid, 0.0) + 0.005
            return item.nodeid != self.hint, -(
                1 + self.kills.get(item.nodeid, 0)
            ) / cost

        if self.usual:
            quick = [x for x in items if self.usual.get(x.nodeid, 0.0) <= self.most]
            items[:] = sorted(quick, key=worth)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """End the child when its tests, which compute their cases, are not imported."""
        with self._limited("import of the tests", SPARE if self.usual else FIRST):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, object, object]:
        """End the child when a test takes far more CPU time than on the original."""
        began, name = time.process_time(), item.nodeid
        usual = self.usual.get(name, SPARE if self.usual else FIRST)
        try:
            with self._limited(name, usual):
                return (yield)
        finally:
            self.durations[name] = time.process_time() - began

    @contextmanager
    def _limited(self, name: str, usual: float) -> Generator[None]:
        """Allow a multiple of the CPU time that something usually takes."""

        def late(*signal_and_frame: object) -> None:
            del signal_and_frame
            self.killer = name
            self.say("time-out")

        signal.signal(signal.SIGPROF, late)
        signal.setitimer(signal.ITIMER_PROF, SLOWER * usual + SPARE)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep the first failure."""
        if report.failed and not self.killer:
            self.killer = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        """An import that fails kills as well."""
        if report.failed and not self.killer:
            self.killer = f"import of {report.nodeid}"

    def finish(self, code: int) -> None:
        """Say what pytest's exit code means; it is 0 for the original."""
        self.killer = self.killer or "import of a conftest" * bool(code)
        self.say("killed" if code else "survived")

    def say(self, status: str) -> None:
        """Write the outcome and end the process at once."""
        found = Outcome(status, self.killer)
        if not self.usual:
            found.durations = self.durations
            new = [x for x in sys.modules if x not in self.before]
            found.modules = [x for x in new if _elsewhere(x)]
        text = json.dumps(vars(found)) + "\n"
        with os.fdopen(self.pipe, "wb") as pipe:
            pipe.write(text.encode())
        os._exit(0)


def _elsewhere(name: str) -> bool:
    """Whether a module belongs to no file of the copy, which is where we are."""
    file = getattr(sys.modules[name], "__file__", None) or ""
    ours = name.split(".")[0] in {"verify", "tests", "benchmarks", "theorems"}
    return not ours and not file.startswith(os.getcwd())
