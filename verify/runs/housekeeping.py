"""Looking at a store and making room in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from verify.runs.errors import StoreError, StudyError
from verify.runs.store import SUFFIX, Store
from verify.runs.study import FORMAT
from verify.runs.version import code_version


@dataclass
class Row:
    """The entries of one study.

    Attributes:
        study: Name of the study.
        current: Whether the code and packages here could ask for them; None where
            their trainer is not found, so that this cannot be told.
        entries: Number of entries.
        runs: Runs in them.
        bytes: Their size.
        used: When one was last used, in seconds since the epoch.
    """

    study: str
    current: bool | None
    entries: int = 0
    runs: int = 0
    bytes: int = 0
    used: float = 0.0


def inventory(store: Store) -> list[Row]:
    """Sum up a store by study; entries of other code are rows of their own.

    Args:
        store: Which need not exist.

    Returns:
        Rows by name.
    """
    rows: dict[tuple[str, bool | None], Row] = {}
    for path, header in _headers(store):
        made = header.get("made", {})
        study, runs = made.get("study"), made.get("runs")
        study = study if isinstance(study, str) and study.isprintable() else "damaged"
        current = is_current(header)
        row = rows.setdefault((study, current), Row(study, current))
        state = path.stat()
        row.entries += 1
        row.runs += runs if type(runs) is int else 0
        row.bytes += state.st_size
        row.used = max(row.used, state.st_mtime)
    return [rows[key] for key in sorted(rows, key=str)]


def is_current(header: dict[str, Any]) -> bool | None:
    """Whether the code and packages here could ask for an entry; None if unknown."""
    content = header.get("content", {})
    try:
        asked = content["format"], content["torch"]
        code, trainer = content["code"], str(content["trainer"])
    except KeyError:
        return False
    if asked != (FORMAT, metadata.version("torch")):
        return False
    try:
        return bool(code == code_version(trainer.partition(":")[0]))
    except StudyError:
        return None


def collect(store: Store, *, older_than: float) -> tuple[int, int]:
    """Remove what can never be read again, and entries not used for long.

    Args:
        store: The store.
        older_than: Entries last used before, in seconds since the epoch, are removed.

    Returns:
        Files removed, and their bytes.

    Raises:
        StoreError: Something cannot be removed.
    """

    def useless() -> Iterator[Path]:
        for path, header in _headers(store):
            if path.stat().st_mtime < older_than or is_current(header) is False:
                yield path
        yield from _litter(store)

    return _remove(store, list(useless()))


def clear(store: Store) -> tuple[int, int]:
    """Remove every entry, and what lies beside them.

    Args:
        store: The store.

    Returns:
        Files removed, and their bytes.

    Raises:
        StoreError: Something cannot be removed.
    """
    entries = [store.path(key) for key in store]
    return _remove(store, [*entries, *_litter(store)])


def _headers(store: Store) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The header of every entry; an empty one for a damaged file."""
    for key in store:
        path = store.path(key)
        try:
            with path.open("rb") as file:
                size = int.from_bytes(file.read(8), "little")
                stored = json.loads(file.read(min(size, 1 << 26)))["__metadata__"]
            content, made = (json.loads(stored[name]) for name in ("chunk", "made"))
        except (ValueError, KeyError, TypeError, RecursionError):
            yield path, {}
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreError(f"cannot read {path}: {error.strerror}") from error
        else:
            sound = isinstance(content, dict) and isinstance(made, dict)
            yield path, {"content": content, "made": made} if sound else {}


def _litter(store: Store) -> Iterator[Path]:
    """What is no entry: damaged ones, halves that kills left, locks nobody holds."""
    yield from store.quarantine.glob("*")
    for key in {p.name.split(".")[1] for p in store.folder.glob("entries/*/.*")}:
        with store.lock(key, wait=False) as held:  # its writer is dead if this is held
            if held:
                yield from store.folder.glob(f"entries/*/.{key}{SUFFIX}.*")
    yield from store.folder.glob(".probe-*")
    for path in sorted(store.folder.glob("locks/*.lock")):
        lock = FileLock(path, timeout=0)
        try:
            lock.acquire()
        except Timeout:
            continue
        lock.release()
        yield path


def _remove(store: Store, paths: Iterable[Path]) -> tuple[int, int]:
    removed = freed = 0
    for path in paths:
        try:
            size = path.stat().st_size
            path.unlink()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreError(
                f"cannot remove {path} from the cache folder {store.folder}: "
                f"{error.strerror}"
            ) from error
        removed, freed = removed + 1, freed + size
    return removed, freed
