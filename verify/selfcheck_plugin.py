"""Self-checks as nodes of pytest, in the process of the checks or of a worker.

Those of a paper stand in its modules and are collected there. Those of the engine join
whenever at least one paper is run as a whole, so that trying one claim stays quick.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from verify.catalog import Catalog, CatalogError, theorem_files, theorem_root
from verify.selfcheck import ENGINE, SelfCheck

if TYPE_CHECKING:
    from verify.selfcheck_run import SelfCheckRecord

JOURNAL_KEY = "self-check"
"""Stands for the claim where journals and resumed runs name finished nodes."""


class Disagreement(Exception):
    """Two ways to one quantity differ by more than their bounds explain."""


class SelfCheckItem(pytest.Item):
    """One self-check."""

    def __init__(self, *, check: SelfCheck, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.check = check
        self.record: SelfCheckRecord | None = None
        self.add_marker("self_check")

    @property
    def key(self) -> tuple[str, str]:
        """What a journal calls it."""
        return JOURNAL_KEY, self.check.name

    def runtest(self) -> None:
        """Compare, and fail on a difference that is not explained."""
        from verify.selfcheck_run import judge

        if self.check.unavailable:
            pytest.skip(self.check.unavailable)
        self.record = judge(self.check)
        if self.record.failed:
            raise Disagreement(self.record.reason)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> Any:
        """Show what differs, and the bound's derivation."""
        if not isinstance(excinfo.value, Disagreement):
            return super().repr_failure(excinfo, style)
        check = self.check
        return "\n".join([
            check.name, check.says, str(excinfo.value), f"bound: {check.why_bound}"
        ])  # fmt: skip

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Place and title of the node."""
        code = self.check.function.__code__
        return Path(code.co_filename), code.co_firstlineno - 1, self.name


def items_of(parent: pytest.Collector, checks: Iterable[SelfCheck]) -> list[Any]:
    """The nodes of some self-checks.

    Args:
        parent: A theorem file, or the session for those of the engine.
        checks: What to run.

    Returns:
        Nodes, in order.
    """
    return [
        SelfCheckItem.from_parent(
            parent,
            name=check.function.__name__,
            nodeid=f"{parent.nodeid or check.module}::{check.function.__name__}",
            check=check,
        )
        for check in checks
    ]


def belonging(catalog: Catalog, patterns: Sequence[str]) -> list[SelfCheck]:
    """The self-checks that belong to a run, those of the engine first.

    Args:
        catalog: Of the files that pytest was given.
        patterns: Ids and globs; none selects every claim.

    Returns:
        Those in the given files, less those of papers of which the patterns leave
        claims out; those of the engine if a paper is run as a whole.
    """
    if not catalog.files or catalog.errors:
        return []
    try:
        chosen = set(catalog.select(patterns))
    except CatalogError:  # said where the claims are selected
        return []
    in_part = {e.claim.paper for e in catalog if e.claim.id not in chosen}
    own = [c for c in catalog.self_checks.values() if c.owner not in in_part]
    root, given = theorem_root(catalog.files[0]), set(catalog.files)
    for key in catalog.papers.keys() - in_part:
        if given.issuperset(p.resolve() for p in theorem_files(root / key)):
            from verify.selfcheck_engine import CHECKS

            return [*CHECKS, *own]
    return own


def add_option(group: pytest.OptionGroup) -> None:
    """Add the option of self-checks to those of the plugin."""
    group.addoption(
        "--verify-self-checks",
        choices=("auto", "none"),
        default="auto",
        help="compare independent ways to one quantity, in runs of whole papers",
    )


class SelfChecks:
    """Hooks of pytest, for one session.

    Args:
        checks: The self-checks that belong to the run.
    """

    def __init__(self, checks: Sequence[SelfCheck]) -> None:
        self.checks = checks

    @classmethod
    def of(cls, config: pytest.Config, catalog: Catalog) -> SelfChecks:
        """Those that belong to a session.

        Args:
            config: With the options of the plugin.
            catalog: Of the files that pytest was given.

        Returns:
            The hooks.
        """
        option = config.option
        wanted = option.verify_self_checks == "auto"
        return cls(belonging(catalog, option.verify_select) if wanted else [])

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, items: list[pytest.Item]
    ) -> None:
        """Add those of the engine, before -k and -m choose; drop foreign ones."""
        wanted = {check.name for check in self.checks}
        items[:] = [
            item
            for item in items
            if not isinstance(item, SelfCheckItem) or item.check.name in wanted
        ]
        items += items_of(session, [c for c in self.checks if c.owner == ENGINE])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the record to the report of the node, as text."""
        report = yield
        if isinstance(item, SelfCheckItem) and report.when == "call":
            more = {"verify_node": item.name, "verify_word": "NOT_RUN"}
            if item.record is not None:
                more["verify_self_check"] = item.record.model_dump_json()
                more["verify_word"] = item.record.verdict
            elif not report.skipped:
                del more["verify_word"]
            vars(report).update(more)
        return report
