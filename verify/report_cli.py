"""The part of the command line that reads reports: report, recheck, diff."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verify.training_cli import Trouble

if TYPE_CHECKING:
    from verify.diff import Difference
    from verify.record import Report

# All formats, so that help needs no report code; a test compares them with the views.
FORMATS = ("html", "md", "tex", "junit", "json", "badge", "crate")


def load_report(path: Path) -> Report:
    """Read a report, or a run folder: finished or not.

    Args:
        path: What the user named.

    Returns:
        The report.

    Raises:
        Trouble: It cannot be read.
    """
    from verify.report.load import LoadError, load

    try:
        return load(path)
    except LoadError as error:
        raise Trouble(str(error)) from error


@click.command()
@click.argument("run_dir", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="One view, printed; without it all views are written.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="File of the view; folder of all views or of the crate [default: RUN_DIR].",
)
@click.option("--paper", help="With --format badge: one paper only.")
def report(
    run_dir: Path, form: str | None, out: Path | None, paper: str | None
) -> None:
    """Make the report of a run again, also of one that was killed.

    RUN_DIR is the folder of a run, or a report.json.
    """
    _report(run_dir, form, out, paper)


def _report(
    run_dir: Path, form: str | None, out: Path | None, paper: str | None
) -> None:
    if paper is not None and form != "badge":
        raise Trouble("--paper goes with --format badge")
    loaded = load_report(run_dir)
    try:
        if form == "crate":
            _crate(loaded, run_dir, out)
        elif form is not None:
            _one_view(loaded, form, out, paper)
        else:
            _all_views(loaded, run_dir, out)
    except OSError as error:
        where = error.filename or out or run_dir
        raise Trouble(
            f"cannot write {where} ({error.strerror}); choose another --out"
        ) from error


def _print(text: str) -> None:
    """Write text to standard output as UTF-8, whatever it holds."""
    click.echo(text.encode("utf-8", "backslashreplace"), nl=False)


def _one_view(loaded: Report, form: str, out: Path | None, paper: str | None) -> None:
    from verify.report import render
    from verify.report.badge import BadgeError, to_badge
    from verify.report.views import write

    try:
        text = to_badge(loaded, paper) if paper else render(loaded, form)
    except BadgeError as error:
        raise Trouble(str(error)) from error
    if out is None:
        _print(text)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    click.echo(write(out, text))


def _all_views(loaded: Report, run_dir: Path, out: Path | None) -> None:
    from verify.report import ReportError, write_views
    from verify.terminal import table

    if out is None and not run_dir.is_dir():
        raise Trouble("name the folder of the run, or give --format or --out")
    try:
        for path in write_views(loaded, out or run_dir):
            click.echo(path)
    except ReportError as error:
        raise Trouble(str(error)) from error
    for line in table(loaded):
        click.echo(line)


def _crate(loaded: Report, run_dir: Path, out: Path | None) -> None:
    if not run_dir.is_dir():
        raise Trouble(f"{run_dir} is a file; a crate is made of the folder of a run")
    from verify.report.crate import CrateError, write_crate

    try:
        for path in write_crate(loaded, run_dir, out or run_dir / "crate"):
            click.echo(path)
    except CrateError as error:
        raise Trouble(str(error)) from error


@click.command("recheck")
@click.argument("report_json", type=click.Path(path_type=Path))
@click.option("--deep", is_flag=True, help="Integrals as well, in ball arithmetic.")
def recheck_command(report_json: Path, deep: bool) -> None:
    """Decide every witness, certificate and digest again, without running anything.

    The same as `python verify/recheck.py REPORT.json`, which needs Python alone and
    leaves records of kind `enclosure` to --deep, which needs python-flint.
    """
    from verify import recheck, recheck_deep

    module = recheck_deep if deep else recheck
    sys.exit(module.main([str(_report_in(report_json))]))


def _report_in(path: Path) -> Path:
    """The report.json of a folder; any other path as it is."""
    if not path.is_dir():
        return path
    if not (path / "report.json").exists():
        raise Trouble(f"{path} holds no report.json; `verify report {path}` writes it")
    return path / "report.json"


@click.command()
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "md", "json", "github"]),
    default="text",
    show_default=True,
    help="github: annotations, and a step summary.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Also what is within noise, and all ids."
)
def diff(old: Path, new: Path, form: str, everything: bool) -> None:
    """Compare two reports, or run folders; exit 1 on a changed verdict.

    A claim that NEW leaves out, because of its profile, its device or its selection,
    is listed as not run here; one that is gone counts as changed. Margins and times
    are listed when they moved by more than noise.
    """
    from verify.diff import compare
    from verify.report import changes

    difference = compare(load_report(old), load_report(new))
    if form == "github":
        _annotate(difference, everything)
    else:
        write = {
            "text": changes.to_text,
            "md": changes.to_markdown,
            "json": changes.to_json,
        }[form]
        _print(write(difference, everything=everything))
    sys.exit(1 if difference.verdicts_changed else 0)


def _annotate(difference: Difference, everything: bool) -> None:
    """Print annotations, then the differences as plain text; write the summary."""
    from verify.catalog import CatalogError, theorem_root
    from verify.report import append_step_summary, changes
    from verify.report.annotations import annotate, quoted

    try:
        root = theorem_root(Path.cwd()).parent
    except CatalogError:
        root = Path.cwd()
    for line in annotate(difference, root):
        click.echo(line)
    _print(quoted(changes.to_text(difference, everything=everything)))
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        append_step_summary(
            changes.to_markdown(difference, everything=everything), summary
        )
