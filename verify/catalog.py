"""The catalogue: every theorem module found, its claims and their checks, validated.

pytest, the command line and the rebuilding of reports all load theorem modules here,
under one module name each, so that they mean the same claims.
"""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import importlib
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from verify.check import Check
from verify.claim import Claim
from verify.paper import ClaimError, Paper
from verify.selfcheck import SelfCheck
from verify.verdict import CheckSummary, Verdict

FOLDER = "theorems"


class CatalogError(ValueError):
    """Theorem modules cannot be found, loaded or told apart; says what to do."""


def theorem_root(start: Path) -> Path:
    """Find the folder ``theorems`` at or above a place.

    Args:
        start: A folder, or a file in one.

    Returns:
        The folder.

    Raises:
        CatalogError: There is none.
    """
    start = start.resolve()
    for folder in (start, *start.parents):
        if folder.name == FOLDER and folder.is_dir():
            return folder
        if (folder / FOLDER).is_dir():
            return folder / FOLDER
    raise CatalogError(
        f"no folder {FOLDER}/ in {start} or above it; run where your theorem modules "
        "are, or name the folder with --theorems"
    )


def is_theorem_file(path: Path) -> bool:
    """Whether a file may hold claims: ``theorems/<paper>/<name>.py``, not private."""
    return (
        path.suffix == ".py"
        and path.parent.parent.name == FOLDER
        and not path.name.startswith(("_", "test_", "conftest"))
    )


def theorem_files(place: Path) -> list[Path]:
    """The theorem files at or below a file or folder, in order of their names."""
    if place.is_file():
        return [place] if is_theorem_file(place) else []
    return sorted(filter(is_theorem_file, place.rglob("*.py")))


def load_module(path: Path) -> ModuleType:
    """Import a theorem module under its package name.

    Args:
        path: A file below a folder ``theorems``.

    Returns:
        The module; the one already imported, when it is.

    Raises:
        CatalogError: Another file is imported under that name.
    """
    path = path.resolve()
    root = theorem_root(path.parent).parent
    name = ".".join(path.relative_to(root).with_suffix("").parts)
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    module = importlib.import_module(name.removesuffix(".__init__"))
    origin = Path(module.__file__ or "").resolve()
    if origin != path:
        raise CatalogError(
            f"module {name} is {origin}, not {path}; run one project at a time"
        )
    return module


@dataclass(frozen=True)
class Entry:
    """A claim with its checks.

    Attributes:
        claim: As declared.
        checks: Its checks and necessity checks, in the order of the module.
        path: File of its module.
    """

    claim: Claim
    checks: tuple[Check, ...]
    path: Path

    def node_name(self, check: Check) -> str:
        """Name of the node in which a check decides this claim."""
        return f"{check.name}[{self.claim.short_id}]"


def entries_of(module: ModuleType, path: Path) -> list[Entry]:
    """The claims that a module decides, with their checks.

    Args:
        module: A theorem module.
        path: Its file.

    Returns:
        One entry per claim, in the order in which the module names them.

    Raises:
        ClaimError: A claim has no check, or its checks cannot decide it.
    """
    members = list(vars(module).values())
    checks = [
        c for c in members if isinstance(c, Check) and c.module == module.__name__
    ]
    claims = {id(c): c for c in members if isinstance(c, Claim)}
    decided = {id(c): c for check in checks for c in check.claims}
    entries = []
    for key, claim in {**claims, **decided}.items():
        own = tuple(c for c in checks if any(x is claim for x in c.claims))
        if key in decided:
            _validate(claim, own)
            entries.append(Entry(claim, own, path))
        elif not _is_imported(claim, module):
            raise ClaimError(f"{claim.id} has no check")
    return entries


def self_checks_of(module: ModuleType) -> list[SelfCheck]:
    """The self-checks that a module declares, in its order."""
    return [
        member
        for member in vars(module).values()
        if isinstance(member, SelfCheck) and member.module == module.__name__
    ]


def _is_imported(claim: Claim, module: ModuleType) -> bool:
    """Whether a claim stands in another theorem module, which decides it."""
    others = [
        other
        for name, other in list(sys.modules.items())
        if name.startswith(f"{FOLDER}.") and other is not module
    ]
    return any(x is claim for other in others for x in vars(other).values())


def _validate(claim: Claim, checks: tuple[Check, ...]) -> None:
    """Check that the declared checks can decide the claim and see its mutants."""
    deciding = [c for c in checks if not c.is_necessity]
    if not deciding:
        raise ClaimError(f"{claim.id} has no check")
    names = [c.name for c in deciding]
    for name in (c.name for c in checks):
        if [c.name for c in checks].count(name) > 1:
            raise ClaimError(f"{claim.id}: two of its checks are called {name!r}")
    for mutant in claim.mutants:
        unknown = sorted(set(mutant.blind) - set(names))
        if unknown:
            raise ClaimError(
                f"{claim.id}: mutant {mutant.name!r} is blind in {unknown}; its checks "
                f"are {names}"
            )
        if set(names) <= set(mutant.blind):
            raise ClaimError(
                f"{claim.id}: every check is blind to {mutant.name!r}; a change that "
                "no check can refute is a Variant"
            )
    for name in names:
        if claim.mutants and all(name in m.blind for m in claim.mutants):
            raise ClaimError(f"{claim.id}: check {name!r} is blind to every mutant")
    if claim.finding.verdict is Verdict.HOLDS:
        required = [c for c in deciding if not c.optional]
        unmet = claim.requirement.unmet(map(summary_of, required))
        if unmet:
            raise ClaimError(
                f"{claim.id}: no check is {unmet[0]}; add one, or state a weaker "
                "requires=Requires(..., why=...)"
            )


def summary_of(check: Check) -> CheckSummary:
    """A check as declared, before it runs."""
    return CheckSummary(
        check.name,
        check.grade,
        covers_all=check.covers_all,
        scope=check.scope,
        optional=check.optional,
    )


@dataclass
class Catalog:
    """Everything that was found.

    Attributes:
        entries: Claims by id.
        papers: Papers by key.
        self_checks: Those of the papers, by name.
        errors: What could not be loaded, by file.
        files: The files that were looked at.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    papers: dict[str, Paper] = field(default_factory=dict)
    self_checks: dict[str, SelfCheck] = field(default_factory=dict)
    errors: dict[Path, BaseException] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    _first: dict[str, Claim] = field(default_factory=dict, repr=False)

    @classmethod
    def load(cls, places: Iterable[Path]) -> Catalog:
        """Load every theorem module at or below the given places.

        Args:
            places: Files and folders.

        Returns:
            The catalogue; modules that fail to load are in ``errors``.
        """
        found = {file.resolve(): None for p in places for file in theorem_files(p)}
        catalog = cls(files=tuple(found))
        for path in catalog.files:
            try:
                module = load_module(path)
                for entry in entries_of(module, path):
                    catalog.add(entry)
                for check in self_checks_of(module):
                    catalog.add_self_check(check)
            except (Exception, SystemExit) as error:  # ruff: ignore[blind-except]
                catalog.errors[path] = error
        return catalog

    def add(self, entry: Entry) -> None:
        """Add a claim.

        Args:
            entry: The claim with its checks.

        Raises:
            CatalogError: Its id is taken, or mixes a claim with its readings.
        """
        claim = entry.claim
        other = self.entries.get(claim.id)
        if other is not None:
            raise CatalogError(
                f"two claims are called {claim.id!r}: in {other.path.name} and in "
                f"{entry.path.name}; rename one, or give it a reading @..."
            )
        known = self._first.setdefault(claim.base_id, claim)
        if known is not claim and not (known.reading and claim.reading):
            raise CatalogError(
                f"{known.id!r} and {claim.id!r}: a claim with readings has only rows "
                "with @"
            )
        self.entries[claim.id] = entry
        self._add_paper(entry)

    def self_checks_in(self, path: Path) -> list[SelfCheck]:
        """The self-checks that a theorem module declares."""
        module = ".".join(path.with_suffix("").parts[-3:])
        return [c for c in self.self_checks.values() if c.module == module]

    def add_self_check(self, check: SelfCheck) -> None:
        """Add a self-check of a paper.

        Args:
            check: The self-check.

        Raises:
            CatalogError: Its name is taken.
        """
        other = self.self_checks.get(check.name)
        if other is not None:
            raise CatalogError(
                f"two self-checks are called {check.name!r}: in {other.module} and in "
                f"{check.module}; rename one"
            )
        self.self_checks[check.name] = check

    def _add_paper(self, entry: Entry) -> None:
        key = entry.claim.paper
        if key in self.papers:
            return
        package = sys.modules.get(f"{FOLDER}.{key}")
        paper = getattr(package, "PAPER", None)
        self.papers[key] = paper if isinstance(paper, Paper) else Paper(key, key)

    def raise_errors(self) -> None:
        """Fail on the first module that could not be loaded.

        Raises:
            CatalogError: Names the module and what is wrong with it.
        """
        for path, error in self.errors.items():
            text = f"{path.parent.name}/{path.name}: {type(error).__name__}: {error}"
            raise CatalogError(text) from error

    def select(self, patterns: Iterable[str]) -> list[str]:
        """Resolve ids and globs; a bare id selects all its readings.

        Args:
            patterns: For instance ``huang2024/*`` or ``ren2024/theorem-3.1``.

        Returns:
            Ids in the order of the catalogue; all of them for no patterns.

        Raises:
            CatalogError: A pattern matches nothing; suggests the nearest id.
        """
        patterns = list(patterns)
        if not patterns:
            return list(self.entries)
        chosen: dict[str, None] = {}
        for pattern in patterns:
            matched = [
                name
                for name, entry in self.entries.items()
                if fnmatch.fnmatchcase(name, pattern) or entry.claim.base_id == pattern
            ]
            if not matched:
                raise CatalogError(self._unknown(pattern))
            chosen.update(dict.fromkeys(matched))
        return [name for name in self.entries if name in chosen]

    def _unknown(self, pattern: str) -> str:
        bases = [entry.claim.base_id for entry in self.entries.values()]
        near = difflib.get_close_matches(pattern, [*self.entries, *bases], 1, 0.3)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        return f"no claim matches {pattern!r}{hint} (`verify list` shows them all)"

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    def digest(self) -> str:
        """Digest of the sources of every module that was loaded and of the engine."""
        digest = hashlib.sha256()
        engine = Path(__file__).parent
        roots = sorted({theorem_root(path) for path in self.files})
        for root in (engine, *roots):
            for path in sorted(root.rglob("*.py")):
                digest.update(str(path.relative_to(root)).encode())
                digest.update(hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()
