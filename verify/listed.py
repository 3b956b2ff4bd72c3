"""What ``verify list`` prints, kept until a file changes that it was made of.

Listing a few hundred claims means importing every theorem module, which takes seconds:
their parameters are expressions that sympy builds. What was listed is therefore kept in
the cache folder, with a stamp of every file that took part: all files in ``theorems/``
and every source that was imported from outside the standard library. Sources of the
project count with their content, installed ones with their time and size. Runs never
read it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from verify import listing
from verify.catalog import Catalog
from verify.listing import Row

FOLDER = "listings"
Stamps = dict[str, str]


@dataclass(frozen=True)
class Listed:
    """A catalogue as far as it is listed.

    Attributes:
        papers: Keys of the papers.
        claims: One row per claim.
        coverage: One row per numbered item.
    """

    papers: list[str]
    claims: list[Row]
    coverage: list[Row]

    def rows(self, paper: str | None, *, coverage: bool) -> list[Row]:
        """The rows of one paper or of all.

        Args:
            paper: Key of a paper.
            coverage: Numbered items instead of claims.

        Returns:
            Rows, as :mod:`verify.listing` makes them.
        """
        if coverage:
            return [r for r in self.coverage if paper in {None, r["paper"]}]
        return [r for r in self.claims if paper in {None, r["id"].partition("/")[0]}]


def listed(root: Path, cache: Path) -> Listed:
    """List the claims of a project.

    Args:
        root: Folder ``theorems``.
        cache: Cache folder; need not exist or be writable.

    Returns:
        What was listed before if every file is as it was, else what is listed now.

    Raises:
        CatalogError: A theorem module cannot be loaded; nothing is kept then.
    """
    place = [str(root), sys.version, *sys.path]
    name = hashlib.sha256("\n".join(place).encode()).hexdigest()[:32]
    path = cache / FOLDER / f"{name}.json"
    return _kept(root, path) or _made(root, path)


def _kept(root: Path, path: Path) -> Listed | None:
    try:
        kept = json.loads(path.read_bytes())
        stamps: Stamps = kept.pop("files")
        found = Listed(**kept)
        own = set(map(str, _files(root)))
        if own <= stamps.keys() and _stamps(root, map(Path, stamps)) == stamps:
            return found
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None  # none, or damaged: it is made again
    return None


def _made(root: Path, path: Path) -> Listed:
    before = _stamps(root, _files(root))
    catalog = Catalog.load([root])
    catalog.raise_errors()
    found = Listed(
        list(catalog.papers), listing.claims(catalog), listing.coverage(catalog)
    )
    with contextlib.suppress(OSError):  # unreadable sources, no room: nothing is kept
        stamps = _stamps(root, {*_files(root), *_imported()})
        if before.items() <= stamps.items():  # else a file changed on the way
            _keep(path, asdict(found) | {"files": stamps})
    return found


def _keep(path: Path, kept: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(kept, file)
    Path(name).replace(path)


def _files(root: Path) -> list[Path]:
    """Everything in the folder, data included, but what Python writes itself."""
    return [
        path
        for path in root.rglob("*")
        if "__pycache__" not in path.parts and path.is_file()
    ]


def _imported() -> list[Path]:
    """Sources of imported modules, those of the standard library left out."""
    library = Path(sysconfig.get_path("stdlib"))
    files = {
        Path(file)
        for module in list(sys.modules.values())
        if isinstance(file := getattr(module, "__file__", None), str)
    }
    inside = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return [
        path
        for path in files
        if path.is_absolute()
        and (not path.is_relative_to(library) or any(map(path.is_relative_to, inside)))
    ]


def _stamps(root: Path, files: Iterable[Path]) -> Stamps:
    installed = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    stamps = {}
    for path in files:
        if any(map(path.is_relative_to, installed)) and not path.is_relative_to(root):
            state = path.stat()
            stamps[str(path)] = f"{state.st_mtime_ns} {state.st_size}"
        else:
            stamps[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return stamps
