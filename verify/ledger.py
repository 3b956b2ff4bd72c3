"""The ledger of a pytest session: journal, progress, report, exit code.

Lives in the controller of a run, serial or distributed, and never in a worker.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

from verify.accelerator import device_of
from verify.build import build
from verify.catalog import Catalog, CatalogError, theorem_files, theorem_root
from verify.collector import paused
from verify.declare import declare, declare_papers, module_of, node_of
from verify.journal import JournalError, Writer
from verify.progress import Progress
from verify.provenance import provenance, run_key
from verify.pytest_plugin import catalog_of, out_folder
from verify.record import CheckRecord, Header, Report
from verify.report import append_step_summary, render, write_views
from verify.selfcheck_plugin import SelfChecks
from verify.selfcheck_run import SelfCheckRecord, declared
from verify.terminal import table


class EachOnce(LoadFileScheduling):  # type: ignore[misc]
    """Checks that share evidence stay together; none kills more than one worker.

    pytest-xdist 3.8 hands a check that killed its worker to the next one, until no more
    may be started; and it waits forever for a replacement that has one check left, for
    a worker begins a check when it knows the next, or that there is none.

    Args:
        config: Of the session.
        log: Of pytest-xdist.
        scopes: What a node is kept together with, by node.
    """

    def __init__(
        self, config: pytest.Config, log: Any, scopes: Mapping[str, str]
    ) -> None:
        super().__init__(config, log)
        self.scopes = scopes

    def _split_scope(self, nodeid: str) -> str:
        path, _, name = nodeid.partition("::")
        node = "/".join(path.split("/")[-3:]) + "::" + name
        return self.scopes.get(node, path)

    def _reschedule(self, node: Any) -> None:
        if node not in self.registered_collections:
            return  # a replacement that still collects, when another worker dies
        super()._reschedule(node)
        load = self.assigned_work[node]
        while self._pending_of(load) < 2 and not node.shutting_down:
            if self.workqueue:
                self._assign_work_unit(node)
            else:
                node.shutdown()

    def remove_node(self, node: Any) -> str | None:
        """Take a dead worker's load off it; name the check that it died of."""
        load = self.assigned_work[node]
        left = [
            (unit, name) for unit in load.values() for name in unit if not unit[name]
        ]
        for unit, name in left[:1]:
            unit[name] = True
        for module in [module for module, unit in load.items() if all(unit.values())]:
            del load[module]
        super().remove_node(node)
        return left[0][1] if left else None


def scopes(catalog: Catalog) -> dict[str, str]:
    """What each check is kept together with: its evidence, or nothing but itself."""
    found = {}
    for entry in catalog:
        for check in entry.checks:
            node = node_of(entry, check)
            shared = "+".join(sorted(check.evidence))
            found[node] = f"{module_of(entry.path)}::{shared}" if shared else node
    return found


class Ledger:
    """Keeps the record of a session.

    Args:
        config: Of a session whose arguments include theorem modules.
    """

    writer: Writer
    done_before: set[tuple[str, str]]
    progress: Progress

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.started = time.monotonic()
        self.folder = out_folder(config)
        self.report: Report | None = None
        self.trouble = ""
        self.collection_errors = 0
        self.failures = 0

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionstart(self) -> Generator[None, object, object]:
        """Begin the record; workers are started first, and load the modules meanwhile.

        They have to be told what a resumed run skips, so that this one begins before.

        Returns:
            What the other hooks return.
        """
        resumes = self.config.option.verify_resume
        if resumes:
            self._begin()
        result = yield
        if not resumes:
            self._begin()
        return result

    def _begin(self) -> None:
        option = self.config.option
        catalog = catalog_of(self.config)
        try:
            if not catalog.errors:  # what is missing may be in a module with an error
                catalog.select(option.verify_select)
            self.writer = Writer(
                self.folder, self._header(), resume=option.verify_resume
            )
        except (CatalogError, JournalError) as error:
            raise pytest.UsageError(str(error)) from error
        self.done_before = self.writer.journal.done
        self.progress = Progress(
            option.verify_progress, dict(self.writer.expected), self.folder
        )

    def _header(self) -> Header:
        config, option = self.config, self.config.option
        catalog = catalog_of(config)
        device = device_of(config)
        started = datetime.now(UTC)
        root = theorem_root(catalog.files[0])
        facts = provenance(root, device)
        everything = {p.resolve() for p in theorem_files(root)}
        return Header(
            id=f"{started:%Y%m%dT%H%M%S}-{os.getpid()}",
            started=started.isoformat(timespec="seconds"),
            profile=option.verify_profile,
            seed=option.verify_seed,
            device=device,
            jobs=_jobs(config),
            command=_command(config),
            key=run_key(catalog, facts),
            partial=everything != set(catalog.files) or bool(catalog.errors),
            papers=declare_papers(catalog.papers.values()),
            claims=declare(catalog, device=device, profile=option.verify_profile),
            self_checks=[*map(declared, SelfChecks.of(config, catalog).checks)],
            provenance=facts,
            notes=[f"{p.name} could not be loaded" for p in catalog.errors],
        )

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Count what could not be collected."""
        self.collection_errors += report.failed

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Learn how much there is to do (serial runs)."""
        self.progress.start(len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(
        self, config: pytest.Config, log: Any
    ) -> EachOnce | None:
        """Distribute checks, those that share evidence together."""
        if config.option.dist != "loadfile":
            return None
        return EachOnce(config, log, scopes(catalog_of(config)))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker what a resumed run skips."""
        done = self.done_before if self.config.option.verify_resume else ()
        node.workerinput["verify_done"] = sorted(done)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        """Learn how much there is to do (distributed runs)."""
        del node
        self.progress.start(len(ids))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Journal a finished check; a dead worker or a failed set-up is a crash.

        What cannot be journaled would be lost, so a full disk ends the run.
        """
        self.failures += report.failed
        try:
            self._journal(report)
        except JournalError as error:
            self.trouble = str(error)
            pytest.exit(self.trouble, returncode=3)

    def _journal(self, report: pytest.TestReport) -> None:
        text = getattr(report, "verify_record", None)
        if text is not None:
            record = CheckRecord.model_validate_json(text)
            self.writer.check(record)
            self.progress.advance(record)
        elif hasattr(report, "verify_self_check"):
            own = report.verify_self_check
            self.writer.self_check(SelfCheckRecord.model_validate_json(own))
            self.progress.skip()
        elif report.skipped:
            self.progress.skip()
        elif str(report.when) == "???" or (
            report.failed and (report.when != "call" or hasattr(report, "verify_node"))
        ):
            trouble = getattr(report, "verify_trouble", "")
            self.writer.crash(": ".join(filter(None, (report.nodeid, trouble))))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the report and its views; the exit code is that of the report."""
        self.progress.stop()
        status = 1 if self._stopped_as_asked(session) else int(session.exitstatus)
        could_not_collect = bool(
            self.collection_errors or catalog_of(self.config).errors
        )
        finished = status in {0, 1, 5} and not could_not_collect
        try:
            self._conclude(status if finished else None)
        except Exception as error:  # ruff: ignore[blind-except] - said, exit 3
            why = f"the report could not be written: {error}"
            self.trouble = self.trouble or why
            session.exitstatus = 3
        finally:
            self.writer.close()
        if self.report is not None and not self.trouble:
            ours = self.report.run.exit_code
            session.exitstatus = ours or status if status in {0, 1} else ours
        if could_not_collect:
            session.exitstatus = 2
        del exitstatus

    def _conclude(self, status: int | None) -> None:
        """Write the closing line of a run that finished, and what there is to show."""
        if status is not None:
            self.writer.end(status, time.monotonic() - self.started)
        with paused():
            self.report = build(
                self.writer.journal, strict=self.config.option.verify_strict
            )
            write_views(self.report, self.folder)
            self._step_summary()

    def _stopped_as_asked(self, session: pytest.Session) -> bool:
        """Whether -x ended a distributed run, which pytest-xdist calls an interrupt."""
        limit = int(self.config.option.maxfail or 0)
        interrupted = int(session.exitstatus) == pytest.ExitCode.INTERRUPTED
        return interrupted and 0 < limit <= self.failures

    def _step_summary(self) -> None:
        path = os.environ.get("GITHUB_STEP_SUMMARY")
        if path and self.report is not None:
            append_step_summary(render(self.report, "md"), path)

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Print one line per claim and where the report is."""
        if self.report is not None:
            terminalreporter.ensure_newline()
            for line in table(self.report, colour=terminalreporter.hasmarkup):
                terminalreporter.write_line(line)
            terminalreporter.write_line(f"report: {self.folder / 'index.html'}")
        if self.trouble:
            terminalreporter.write_line(self.trouble, red=True)


def _jobs(config: pytest.Config) -> int:
    return int(getattr(config.option, "numprocesses", None) or 1)


def _command(config: pytest.Config) -> str:
    given = os.environ.get("VERIFY_COMMAND")
    if given:
        return given
    return "pytest " + " ".join(map(str, config.invocation_params.args))
