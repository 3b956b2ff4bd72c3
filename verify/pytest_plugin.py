"""The pytest plugin: theorem modules are collected, one check is one node.

Loaded with ``-p verify.pytest_plugin`` (or from a root ``conftest.py``). At import it
needs the standard library and pytest alone; pydantic, sympy and torch are imported when
a check runs.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from verify.catalog import (
    Catalog,
    CatalogError,
    Entry,
    is_theorem_file,
    theorem_files,
)
from verify.check import Check
from verify.collector import settle
from verify.paper import ClaimError
from verify.profiles import NAMES
from verify.selfcheck_plugin import SelfCheckItem, SelfChecks, add_option, items_of
from verify.trouble import CannotRun
from verify.verdict import Finding, Grade, Verdict

if TYPE_CHECKING:
    from verify.judge import Bench
    from verify.record import CheckRecord
    from verify.runs import Settings

CATALOG = pytest.StashKey[Catalog]()
BENCH = pytest.StashKey["Bench"]()

MARKERS = (
    "claim(paper, id, reading): the claim that a check decides",
    *(f"{grade.value}: checks of this grade" for grade in Grade),
    "necessity: checks that drop an assumption",
    "self_check: independent ways to one quantity, compared",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of a run; ``verify run`` passes its own on."""
    group = parser.getgroup("verify", "theorem verification")
    add = group.addoption
    add("--verify-profile", choices=NAMES, default="default", help="budgets of the run")
    add(
        "--verify-out",
        default="reports/latest",
        metavar="DIR",
        help="folder of the run, relative to the root (default: %(default)s)",
    )
    add("--verify-device", choices=("auto", "cpu", "cuda"), default="auto")
    add("--verify-seed", type=int, default=0, metavar="N", help="root seed")
    add(
        "--verify-select",
        action="append",
        default=[],
        metavar="ID",
        help="claim id or glob; may be repeated",
    )
    add("--verify-resume", action="store_true", help="skip what the journal has")
    add("--verify-strict", action="store_true", help="fail unless every claim HOLDS")
    add(
        "--verify-progress",
        choices=("none", "lines", "bar"),
        default="none",
        help="how progress is shown",
    )
    add_option(group)
    add("--verify-cache", metavar="DIR", default="", help="folder of trained runs")
    add(
        "--verify-backend",
        choices=("auto", "local", "processes", "slurm"),
        default="auto",
        help="where studies are trained",
    )
    add("--verify-study-jobs", type=int, default=1, metavar="N")
    add(
        "--verify-slurm",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="option of the Slurm back-end; may be repeated",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register markers; open the journal when theorem modules are to be run."""
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if config.option.collectonly or not any(map(theorem_files, places_of(config))):
        return
    # Before torch is imported: tiny models are slower on several threads, and the last
    # digits of sums depend on their number.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if not distributes(config):
        own = SelfChecks.of(config, catalog_of(config))
        config.pluginmanager.register(own, "verify-self-checks")
    if is_worker(config):
        return
    from verify.ledger import Ledger

    config.pluginmanager.register(Ledger(config), "verify-ledger")


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is a worker of pytest-xdist."""
    return hasattr(config, "workerinput")


def distributes(config: pytest.Config) -> bool:
    """Whether this process hands checks out to workers, and runs none itself."""
    option = config.option
    distant = getattr(option, "dist", "no") != "no" and getattr(option, "tx", None)
    return bool(distant) and not is_worker(config)


def catalog_of(config: pytest.Config) -> Catalog:
    """The claims in the files and folders that pytest was given, loaded once."""
    if CATALOG not in config.stash:
        config.stash[CATALOG] = Catalog.load(places_of(config))
        settle()
    return config.stash[CATALOG]


def places_of(config: pytest.Config) -> list[Path]:
    """The files and folders that pytest was given."""
    base = config.invocation_params.dir
    places = [base / argument.partition("::")[0] for argument in config.args]
    return [place for place in places if place.exists()]


def bench_of(config: pytest.Config) -> Bench:
    """What this process supplies to checks; evidence is shared through it."""
    if BENCH not in config.stash:
        from verify.accelerator import device_of
        from verify.feed import Feed
        from verify.judge import Bench
        from verify.profiles import profile

        config.stash[BENCH] = Bench(
            profile(config.option.verify_profile),
            root_seed=config.option.verify_seed,
            device=device_of(config),
            progress=Feed(out_folder(config)),
            settings=settings_of(config),
        )
    return config.stash[BENCH]


def settings_of(config: pytest.Config) -> Settings:
    """Where studies are kept and trained.

    Args:
        config: With the options of the plugin.

    Returns:
        The settings.

    Raises:
        UsageError: An option of Slurm is no ``KEY=VALUE``.
    """
    from verify.runs.settings import Settings, default_cache

    option = config.option
    slurm = {}
    for text in option.verify_slurm:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise pytest.UsageError(f"--verify-slurm {text}: write KEY=VALUE")
        slurm[key] = value
    cache = config.invocation_params.dir / option.verify_cache
    return Settings(
        cache if option.verify_cache else default_cache(),
        option.verify_backend,
        option.verify_study_jobs,
        slurm,
    )


def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> TheoremFile | None:
    """Collect theorem modules."""
    if not is_theorem_file(file_path):
        return None
    return TheoremFile.from_parent(parent, path=file_path)


class TheoremFile(pytest.File):
    """A theorem module."""

    def collect(self) -> Iterable[CheckItem | SelfCheckItem]:
        """Yield a node for each check and claim of the module, and each self-check."""
        catalog = catalog_of(self.config)
        path = self.path.resolve()
        error = catalog.errors.get(path)
        if isinstance(error, ClaimError | CatalogError):
            raise self.CollectError(str(error)) from error
        if error is not None:
            raise error
        for entry in catalog:
            if entry.path == path:
                for check in entry.checks:
                    name = entry.node_name(check)
                    # Named in full: pytest 9.2 finds [..] of --lf only so.
                    yield CheckItem.from_parent(
                        self,
                        name=name,
                        nodeid=f"{self.nodeid}::{name}",
                        entry=entry,
                        check=check,
                    )
        yield from items_of(self, catalog.self_checks_in(path))


class Contradiction(Exception):
    """A check contradicts the recorded finding, or is itself at fault."""


class CheckItem(pytest.Item):
    """One check of one claim, its mutants and anchors included."""

    def __init__(self, *, entry: Entry, check: Check, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.entry = entry
        self.check = check
        self.record: CheckRecord | None = None
        self.trouble = ""
        claim = entry.claim
        self.key = claim.id, check.name  # what a journal calls it
        self.add_marker(
            pytest.mark.claim(
                paper=claim.paper, id=claim.base_id, reading=claim.reading
            )
        )
        self.add_marker("necessity" if check.is_necessity else check.grade.value)

    def runtest(self) -> None:
        """Judge the check, and fail when it contradicts what is recorded as known."""
        from verify.declare import node_of
        from verify.judge import judge

        bench = bench_of(self.config)
        missing = self.check.unavailable(bench.device, bench.profile.name)
        if missing:
            pytest.skip(missing)
        claim = self.entry.claim
        node = node_of(self.entry, self.check)
        try:
            self.record = judge(bench, self.check, claim, node)
        except CannotRun as error:
            self.trouble = " ".join(str(error).split())
            raise
        why = contradiction(self.record, claim.finding, self.entry)
        if why:
            raise Contradiction(why)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> Any:
        """Show what a reader needs: the claim, the contradiction, how to rerun."""
        if isinstance(excinfo.value, CannotRun):
            return f"{self.entry.claim.id} cannot be run here: {excinfo.value}"
        if not isinstance(excinfo.value, Contradiction):
            return super().repr_failure(excinfo, style)
        claim = self.entry.claim
        lines = [claim.id, claim.says, str(excinfo.value)]
        if self.record is not None and self.record.traceback:
            lines.append(self.record.traceback.rstrip())
        lines.append(f"again: verify run {claim.id}")
        return "\n".join(lines)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Place and title of the node."""
        line = self.check.function.__code__.co_firstlineno - 1
        return self.path, line, self.name


def contradiction(record: CheckRecord, finding: Finding, entry: Entry) -> str:
    """Say how a check contradicts the recorded finding; empty when it does not."""
    from verify.build import summary
    from verify.verdict import contradicts

    if record.role == "check" or record.broken:
        claim = entry.claim
        return contradicts(finding, claim.kind, summary(record, claim.recipe_complete))
    found = record.verdict is Verdict.REFUTED
    if record.verdict is Verdict.INCONCLUSIVE or found is not record.needed:
        expected = "a counterexample" if record.needed else "none"
        return f"without {record.assumption!r}: {record.verdict}, expected {expected}"
    return ""


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Keep what ``--verify-select`` names; drop what a resumed run has done."""
    catalog = catalog_of(config)
    dropped: set[pytest.Item] = set()
    checks = [item for item in items if isinstance(item, CheckItem)]
    if config.option.verify_select and not catalog.errors:
        try:
            chosen = set(catalog.select(config.option.verify_select))
        except CatalogError as error:
            raise pytest.UsageError(str(error)) from error
        dropped |= {i for i in checks if i.entry.claim.id not in chosen}
    done = _done_before(config)
    dropped |= {i for i in items if getattr(i, "key", None) in done}
    if dropped:
        config.hook.pytest_deselected(items=list(dropped))
        items[:] = [item for item in items if item not in dropped]


def _done_before(config: pytest.Config) -> set[tuple[str, str]]:
    """What the run that is resumed had finished when it was taken up again."""
    if is_worker(config):
        # Told by the controller: a worker that replaces a dead one would read more.
        told: dict[str, Any] = vars(config)["workerinput"]
        return {(claim, check) for claim, check in told.get("verify_done", ())}
    ledger: Any = config.pluginmanager.get_plugin("verify-ledger")
    return set() if ledger is None else ledger.done_before


def out_folder(config: pytest.Config) -> Path:
    """Folder of the run: ``--verify-out``, relative to the project's root."""
    return config.rootpath / str(config.option.verify_out)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the record to the report of the node, as text: workers send it so."""
    report = yield
    if isinstance(item, CheckItem) and report.when == "call":
        more = {"verify_node": item.name}
        if item.record is not None:
            more["verify_record"] = item.record.model_dump_json()
            more["verify_word"] = item.record.word
        elif report.skipped:
            more["verify_word"] = Verdict.NOT_RUN.value
        elif trouble := item.trouble:
            more["verify_trouble"] = trouble
        vars(report).update(more)
    return report


def pytest_report_teststatus(
    report: pytest.TestReport, config: pytest.Config
) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Print the verdict word of a node, so that REFUTED never reads PASSED."""
    word = getattr(report, "verify_word", None)
    if word is None:
        return None
    colour = {"failed": "red", "passed": "green", "skipped": "yellow"}[report.outcome]
    letter = "" if config.option.verify_progress != "none" else word[0]
    category = "failed" if report.failed else word
    return category, letter, (word, {colour: True})


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say with which budgets the theorem modules run."""
    if not config.pluginmanager.has_plugin("verify-ledger"):
        return None
    option = config.option
    return (
        f"verify: profile {option.verify_profile}, seed {option.verify_seed}, "
        f"out {option.verify_out}"
    )
