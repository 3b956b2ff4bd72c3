"""The command line: run, list, show, report, recheck, new, diff, cache.

``verify run`` starts pytest with the plugin in a process of its own, so that a run that
is killed still ends in a truthful report.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from verify.profiles import NAMES
from verify.report_cli import diff, load_report, recheck_command, report
from verify.training_cli import Trouble, cache, training_arguments, training_options

if TYPE_CHECKING:
    from verify.catalog import Catalog

GRACE = 3.0  # seconds in which an interrupted pytest may end by itself

EXIT_CODES = """
\b
Exit codes:
  0  every finding is reproduced
  1  a verdict differs from its finding, a fault of the suite (BROKEN, CONFLICT),
     or trained evidence that disagrees with a mathematical statement
  2  usage or set-up error
  3  the run could not finish
"""


class OneLine(click.Group):
    """Commands whose usage errors are one line, like every other error."""

    def invoke(self, ctx: click.Context) -> object:
        """Run a command.

        Args:
            ctx: Of the group.

        Returns:
            What the command returns.

        Raises:
            Trouble: The command was used wrongly.
        """
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            where = error.ctx.command_path if error.ctx else "verify"
            said = " ".join(error.format_message().split()).rstrip(".")
            raise Trouble(f"{said} (`{where} --help` says more)") from error


@click.group(cls=OneLine, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="theorem-verify", prog_name="verify")
def main() -> None:
    """Decide the theorems of machine-learning papers, with verdicts that can fail."""


for command in (cache, report, recheck_command, diff):
    main.add_command(command)


@main.command(epilog=EXIT_CODES)
@click.argument("select", nargs=-1)
@click.option(
    "--profile", type=click.Choice(NAMES), default="default", show_default=True
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=2,
    show_default=True,
    help="Workers; checks that share evidence stay on one.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the run [default: reports/latest beside theorems/].",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Root seed.")
@click.option(
    "--strict-claims", is_flag=True, help="Fail unless every claim HOLDS (for authors)."
)
@click.option("--resume", is_flag=True, help="Skip what the run in --out has done.")
@click.option("--theorems", type=click.Path(path_type=Path, exists=True))
@training_options
@click.option("--quiet", is_flag=True, help="No progress.")
def run(
    select: tuple[str, ...],
    profile: str,
    device: str,
    jobs: int,
    out: Path | None,
    seed: int,
    strict_claims: bool,
    resume: bool,
    theorems: Path | None,
    quiet: bool,
    **training: Any,
) -> None:
    """Decide claims and write the report.

    SELECT takes claim ids and globs such as 'ren2024/*'; a bare id selects all its
    readings; nothing selects every claim.
    """
    root = _root(theorems)
    folder = (out or root.parent / "reports" / "latest").absolute()
    _writable(folder)
    arguments = [
        str(root),
        "-p",
        "verify.pytest_plugin",
        *("-q", "--no-header", "-r", "N"),
        f"--verify-profile={profile}",
        f"--verify-device={device}",
        f"--verify-out={folder}",
        f"--verify-seed={seed}",
        f"--verify-progress={_progress(quiet)}",
        *(f"--verify-select={pattern}" for pattern in select),
        *(["--verify-resume"] if resume else []),
        *(["--verify-strict"] if strict_claims else []),
        *training_arguments(**training),
        "--capture=sys",  # progress goes to the real standard output
        *(["-n", str(jobs), "--dist", "loadfile"] if jobs > 1 else []),
    ]
    before = _written(folder)
    code = _pytest(arguments)
    if before == _written(folder):  # ended before it began to record
        sys.exit(2 if code in {1, 2, 4, 5} else 3)
    sys.exit(_conclude(code, folder, strict=strict_claims))


def _root(theorems: Path | None) -> Path:
    from verify.catalog import CatalogError, theorem_root

    try:
        return theorem_root(theorems or Path.cwd())
    except CatalogError as error:
        raise Trouble(str(error)) from error


def _writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Trouble(
            f"cannot write to {folder} ({error.strerror}); choose another --out"
        ) from error
    if not os.access(folder, os.W_OK):
        raise Trouble(f"cannot write to {folder}; choose another --out")


def _progress(quiet: bool) -> str:
    if quiet:
        return "none"
    return "bar" if sys.stderr.isatty() and not os.environ.get("CI") else "lines"


def _pytest(arguments: list[str]) -> int:
    command = [sys.executable, "-m", "pytest", *arguments]
    shown = " ".join(["verify", *map(shlex.quote, sys.argv[1:])])
    environment = os.environ | {"VERIFY_COMMAND": shown}
    with subprocess.Popen(command, env=environment) as process:
        try:
            return _ended(process)
        except KeyboardInterrupt:  # a second one
            process.kill()
            return process.wait()


def _ended(process: subprocess.Popen[bytes]) -> int:
    """Wait for pytest; on an interrupt let it write its report."""
    try:
        return process.wait()
    except KeyboardInterrupt:
        try:
            return process.wait(GRACE)  # a terminal has interrupted it as well
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            return process.wait()


def _written(folder: Path) -> tuple[int, int] | None:
    """Tell whether a run has written to its journal: what changes when it has."""
    from verify.journal import NAME

    try:
        state = (folder / NAME).stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size


def _conclude(code: int, folder: Path, *, strict: bool) -> int:
    """Exit code of a run; a run that died gets its report from the journal."""
    if code in {4, 5}:  # pytest: usage error, nothing collected
        return 2
    from verify.journal import JournalError, read

    try:
        journal = read(folder)
    except JournalError:
        return code if code in {1, 2} else 3
    if journal.end is not None and code >= 0:
        return code
    if code == 2 and journal.end is None and not journal.records:
        return 2
    from verify.build import build
    from verify.report import ReportError, append_step_summary, render, write_views
    from verify.terminal import table

    report = build(journal, strict=strict)
    for line in table(report):
        click.echo(line)
    try:
        write_views(report, folder)
        if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
            append_step_summary(render(report, "md"), summary)
    except (OSError, ReportError) as error:
        said = f"{error}; make room, then `verify report {folder}` or --resume"
        click.echo(f"verify: the report could not be written: {said}", err=True)
        return 3
    click.echo(f"the run did not finish; report so far: {folder / 'index.html'}")
    return 3


def _catalog(theorems: Path | None) -> Catalog:
    from verify.catalog import Catalog, CatalogError

    catalog = Catalog.load([_root(theorems)])
    try:
        catalog.raise_errors()
    except CatalogError as error:
        raise Trouble(str(error)) from error
    return catalog


@main.command("list")
@click.option("--paper", help="Key of a paper.")
@click.option(
    "--coverage", is_flag=True, help="Every numbered item of a paper and its fate."
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable.")
@click.option("--theorems", type=click.Path(path_type=Path, exists=True))
def list_claims(
    paper: str | None, coverage: bool, as_json: bool, theorems: Path | None
) -> None:
    """List every claim, or what became of every numbered item."""
    from verify import listing
    from verify.catalog import CatalogError
    from verify.listed import listed
    from verify.runs.settings import default_cache

    try:
        found = listed(_root(theorems), default_cache())
    except CatalogError as error:
        raise Trouble(str(error)) from error
    if paper is not None and paper not in found.papers:
        known = ", ".join(found.papers) or "none"
        raise Trouble(f"no paper {paper!r}; there are: {known}")
    rows = found.rows(paper, coverage=coverage)
    click.echo(listing.as_json(rows) if as_json else listing.as_table(rows))


@main.command()
@click.argument("claim")
@click.option("--theorems", type=click.Path(path_type=Path, exists=True))
def show(claim: str, theorems: Path | None) -> None:
    """Show a claim: statement, assumptions, checks, mutants, last evidence."""
    from verify import listing
    from verify.catalog import CatalogError
    from verify.report.words import clean

    catalog = _catalog(theorems)
    latest = _root(theorems).parent / "reports" / "latest" / "report.json"
    try:
        chosen = catalog.select([claim])
    except CatalogError as error:
        raise Trouble(f"{error}{_reported(latest, claim)}") from error
    unread, last = None, None
    try:
        last = load_report(latest) if latest.exists() else None
    except Trouble as error:  # what the modules say is still worth showing
        unread = error
    for name in chosen:
        click.echo(clean(listing.show(catalog.entries[name], last)))
    if unread is not None:
        raise Trouble(f"the last evidence is not shown: {unread.message}")


def _reported(latest: Path, claim: str) -> str:
    """Say so if the last report knows a claim that the modules do not have."""
    try:
        records = load_report(latest).claims
    except Trouble:
        return ""
    known = [r for r in records if claim in {r.id, r.id.partition("@")[0]}]
    if not known:
        return ""
    found = ", ".join(f"{record.id} {record.verdict}" for record in known)
    return f"; the report {latest} has it ({found}), so it was renamed or removed"


@main.command()
@click.argument("claim")
@click.option(
    "--slug",
    default="",
    help="Ends the name of the file [default: part and reading, or 'statement'].",
)
@click.option(
    "--theorems",
    type=click.Path(path_type=Path),
    help="Folder of the papers [default: theorems/ here or above, begun if missing].",
)
def new(claim: str, slug: str, theorems: Path | None) -> None:
    """Write a module for CLAIM, such as mypaper2025/lemma-1, that loads and runs."""
    from verify.paper import ClaimError
    from verify.scaffold import home, scaffold, summary

    root = home(theorems or Path.cwd())
    try:
        written = scaffold(root, claim, slug)
    except (ClaimError, OSError) as error:
        raise Trouble(str(error)) from error
    for line in summary(root, claim, written):
        click.echo(line)
