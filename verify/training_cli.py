"""The part of the command line that is about training: its options, and the cache."""

from __future__ import annotations

import contextlib
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from verify.runs.store import Store

F = TypeVar("F", bound=Callable[..., Any])


class Trouble(click.ClickException):
    """A one-line error that names the remedy."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        """Print the line on standard error."""
        del file
        click.echo(f"verify: {self.message}", err=True)


CACHE = click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="VERIFY_CACHE",
    help="Folder of trained runs [default: theorem-verify in the user's cache folder; "
    "VERIFY_CACHE].",
)
_OPTIONS = (
    CACHE,
    click.option(
        "--backend",
        type=click.Choice(["auto", "local", "processes", "slurm"]),
        default="auto",
        show_default=True,
        envvar="VERIFY_BACKEND",
        help="Where studies train; auto: in processes if --study-jobs is above 1.",
    ),
    click.option(
        "--study-jobs",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="Training processes of one study.",
    ),
    click.option("--slurm-partition", help="Partition [VERIFY_SLURM_PARTITION]."),
    click.option(
        "--slurm-gpus", help="GPUs of a job, such as 1 or h200:1 [VERIFY_SLURM_GPUS]."
    ),
    click.option("--slurm-minutes", help="Time limit of a job [VERIFY_SLURM_MINUTES]."),
    click.option(
        "--slurm-option",
        multiple=True,
        metavar="KEY=VALUE",
        help="Any other option of sbatch; may be repeated.",
    ),
)


def training_options(command: F) -> F:
    """Add the options of training to a command.

    Args:
        command: Takes them as keywords.

    Returns:
        The command.
    """
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def training_arguments(
    *,
    cache: Path | None,
    backend: str,
    study_jobs: int,
    slurm_option: tuple[str, ...],
    **slurm: str | None,
) -> list[str]:
    """Write the options of training as options of the pytest plugin.

    Args:
        cache: Folder of the store.
        backend: Its name.
        study_jobs: Training processes.
        slurm_option: Other options of sbatch, ``KEY=VALUE``.
        **slurm: Named options of the Slurm back-end.

    Returns:
        Arguments of pytest.

    Raises:
        Trouble: They do not fit together, or the back-end cannot work here.
    """
    given = {key.removeprefix("slurm_"): value for key, value in slurm.items() if value}
    options = [f"{key}={value}" for key, value in given.items()]
    if any(not (t.partition("=")[0] and t.partition("=")[1]) for t in slurm_option):
        raise Trouble(f"--slurm-option {slurm_option}: write KEY=VALUE")
    if slurm_option:
        options.append(f"extra={shlex.join(slurm_option)}")
    if options and backend != "slurm":
        raise Trouble(f"options of Slurm {options} need --backend slurm")
    if backend == "slurm":
        _require_slurm(options)
    return [
        f"--verify-backend={backend}",
        f"--verify-study-jobs={study_jobs}",
        *([f"--verify-cache={cache.absolute()}"] if cache else []),
        *(f"--verify-slurm={text}" for text in options),
    ]


def _require_slurm(options: list[str]) -> None:
    from verify.runs import RunsError, Settings
    from verify.runs.slurm import require_slurm

    given = dict(text.split("=", 1) for text in options)
    try:
        Settings(Path(), "slurm", slurm=given).make()
        require_slurm()
    except RunsError as error:
        raise Trouble(str(error)) from error


@click.group()
def cache() -> None:
    """Look at the store of trained runs, and make room in it."""


_STATE = {
    True: "",
    False: "  stale: of other code or packages",
    None: "  its trainer is not here",
}


def _store(folder: Path | None) -> Store:
    """Open the store, with the trainers of the project at hand on ``sys.path``."""
    from verify.catalog import CatalogError, theorem_root
    from verify.runs import Store
    from verify.runs.settings import default_cache

    with contextlib.suppress(CatalogError):
        sys.path.insert(0, str(theorem_root(Path.cwd()).parent))
    return Store(folder or default_cache())


@cache.command("ls")
@CACHE
def list_entries(cache: Path | None) -> None:
    """List the studies in the store: runs, size, last use."""
    from verify.runs import RunsError
    from verify.runs.housekeeping import inventory

    store = _store(cache)
    try:
        rows = inventory(store)
    except RunsError as error:
        raise Trouble(str(error)) from error
    for row in rows:
        click.echo(
            f"{row.study:40} {row.entries:5} entries {row.runs:7} runs "
            f"{_size(row.bytes):>9}  {_ago(row.used)}{_STATE[row.current]}"
        )
    total = sum(row.bytes for row in rows)
    entries = sum(row.entries for row in rows)
    aside = len(list(store.quarantine.glob("*")))
    more = f", {aside} damaged in quarantine" if aside else ""
    click.echo(f"{store.folder}: {entries} entries, {_size(total)}{more}")


@cache.command("gc")
@CACHE
@click.option(
    "--days",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    help="Keep what was used since.",
)
def collect_garbage(cache: Path | None, days: float) -> None:
    # ruff: ignore[escape-sequence-in-docstring] - a form feed ends the help
    """Remove what can never be read again, and what was not used for long.

    That is: entries of other code or packages than are installed here, damaged ones,
    and what killed processes left.
    \f

    Raises:
        Trouble: The store cannot be read or changed.
    """
    from verify.runs import RunsError
    from verify.runs.housekeeping import collect

    store = _store(cache)
    try:
        removed, freed = collect(store, older_than=time.time() - days * 86400)
    except RunsError as error:
        raise Trouble(str(error)) from error
    click.echo(f"{store.folder}: removed {removed} files, {_size(freed)}")


@cache.command("clear")
@CACHE
@click.option("--yes", is_flag=True, help="Do not ask.")
def clear(cache: Path | None, yes: bool) -> None:
    """Remove every trained run; they are trained again when they are asked for."""
    from verify.runs import RunsError
    from verify.runs.housekeeping import clear as clear_store

    store = _store(cache)
    if not yes:
        click.confirm(f"remove every trained run in {store.folder}?", abort=True)
    try:
        removed, freed = clear_store(store)
    except RunsError as error:
        raise Trouble(str(error)) from error
    click.echo(f"{store.folder}: removed {removed} files, {_size(freed)}")


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def _ago(when: float) -> str:
    hours = (time.time() - when) / 3600
    return (
        f"used {hours:.1f} h ago" if hours < 48 else f"used {hours / 24:.0f} days ago"
    )
