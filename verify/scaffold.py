"""A theorem module to start from: it loads and runs, and says what to fill in.

``verify new mypaper2025/lemma-1`` writes ``theorems/mypaper2025/lemma_1_statement.py``
and, where they are missing, the packages around it and the ``conftest.py`` that lets
``pytest theorems/`` see them. It reads other modules as text and imports none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from verify.catalog import FOLDER, CatalogError, theorem_root
from verify.claim import ID
from verify.paper import ClaimError
from verify.verdict import Kind

PLUGIN = "verify.pytest_plugin"
SETTINGS = {  # files that set pytest up, with what their section begins with
    "pytest.toml": "",
    ".pytest.toml": "",
    "pytest.ini": "",
    ".pytest.ini": "",
    "pyproject.toml": "[tool.pytest",
    "tox.ini": "[pytest]",
    "setup.cfg": "[tool:pytest]",
}

CONFTEST = f'''\
"""Let pytest collect theorem modules: `pytest theorems/` is a run of `verify`."""

pytest_plugins = ["{PLUGIN}"]
'''

THEOREMS = '''\
"""Papers whose claims are decided: one package each, one module per theorem."""
'''

PAPER = '''\
"""{key}: the paper in one line.

Authors, "Title", venue, arXiv number.

Notation (paper -> here):

    n               what it counts
"""

from verify import Item, Paper

PAPER = Paper(
    "{key}",
    "Title of {key}",
    items=({item},),
)
'''

MODULE = '''\
"""{label}: the statement in one line.

Statement: in unicode, with its hypotheses as a numbered list.
Deviations from the paper: as a numbered list. Not checked: what is left out.
"""

from sympy import Symbol
from verify import Cause, Claim, Inconclusive, Kind, check, inconclusive

from theorems.{key} import PAPER

n = Symbol("n", positive=True, integer=True)

CLAIM = Claim(
    id="{id}",
    says="State in one sentence what {label} asserts.",  # 1
    source=PAPER.at("{label}"),
    kind=Kind.{kind},
    parameters={{"value": n**2}},  # 2: every number and formula that it asserts
    # 3: mutants=(Mutant("cubed", why="why this is false", value=n**3),),
    # 5: without a finding the claim is expected to hold, and asks for a second check
    finding=inconclusive(Cause.NO_PROOF, "a check that reads claim.value"),
)


@check(CLAIM, grade="symbolic", scope="all")
def proved(claim):  # 4
    """Return Holds(steps=[...]) or Refuted(witness=...), from the claim's data."""
    return Inconclusive(
        "nothing is decided yet: fill in (1) says, (2) parameters, (3) mutants, (4) "
        "this check and (5) the finding",
        cause=Cause.NO_PROOF,
    )
'''


def home(start: Path) -> Path:
    """Find the folder ``theorems`` at or above a place, or say where it will be.

    Args:
        start: A folder, there or not.

    Returns:
        The folder; where there is none, ``start`` itself if it has that name, else
        ``theorems`` in it.
    """
    try:
        return theorem_root(start)
    except CatalogError:
        place = start.resolve()
        return place if place.name == FOLDER else place / FOLDER


def scaffold(root: Path, claim: str, slug: str = "") -> list[Path]:
    """Write a theorem module, and what it needs around it where that is missing.

    Args:
        root: The folder ``theorems``, there or not.
        claim: Id of the claim, ``<paper>/<kind>-<number>``, with part and reading.
        slug: Last part of the file name; by default the part and the reading, or
            ``statement``.

    Returns:
        The files written, the module last.

    Raises:
        ClaimError: The id or the slug is malformed, another module declares the claim,
            or the module exists.
    """
    key, name, *rest = [*re.split(r"[/@]", claim), ""]
    slug = slug or re.sub(r"[-.]", "_", "_".join(rest).strip("_")) or "statement"
    if not ID.fullmatch(claim) or not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", slug):
        raise ClaimError(
            f"{claim!r} with slug {slug!r}: write <paper>/<kind>-<number>, such as "
            "mypaper2025/lemma-1, and a slug such as sum_of_odds"
        )
    _require_new(root, claim)
    kind = next((k for k in Kind if name.startswith(f"{k}-")), Kind.THEOREM)
    words = {
        "key": key,
        "id": claim,
        "label": label_of(claim),
        "item": item_of(claim),
        "kind": kind.name,
    }
    module = root / key / f"{re.sub(r'[-.]', '_', name)}_{slug}.py"
    if module.exists():
        raise ClaimError(f"{module} exists; choose another --slug, or edit it")
    texts = {
        root / "__init__.py": THEOREMS,
        module.with_name("__init__.py"): PAPER.format(**words),
        module: MODULE.format(**words),
    }
    if not _registration(root):
        texts = {root.with_name("conftest.py"): CONFTEST} | texts
    written = [path for path in texts if not path.exists()]
    module.parent.mkdir(parents=True, exist_ok=True)
    for path in written:
        path.write_text(texts[path], encoding="utf-8")
    return written


def summary(root: Path, claim: str, written: list[Path]) -> list[str]:
    """What was written, what is left to do by hand, and what to run next.

    Args:
        root: The folder ``theorems``.
        claim: Id of the claim.
        written: The files written.

    Returns:
        One line each; paths below the working directory are relative to it.
    """
    lines = [f"wrote {_shown(path)}" for path in written]
    registered, paper = _registration(root), root / claim.partition("/")[0]
    if registered and PLUGIN not in _read(registered):
        remedy = _remedy(is_conftest=registered.name == "conftest.py")
        lines.append(f"for `pytest {FOLDER}/` add to {_shown(registered)}: {remedy}")
    base = claim.partition("@")[0]
    known = _read(paper / "__init__.py")
    names = (claim, base, base.partition("/")[2])
    if not any(f'"{name}"' in known for name in names):
        package = _shown(paper / "__init__.py")
        lines.append(f"add to the items of {package}: {item_of(claim)}")
    return [*lines, f"next: verify run {claim}", f"      verify show {claim}"]


def label_of(claim: str) -> str:
    """The item of the paper that an id names, as printed: ``Lemma b.2``."""
    name = re.split(r"[/@]", claim)[1]
    return name[0].upper() + name[1:].replace("-", " ")


def item_of(claim: str) -> str:
    """The item that names a claim, as Python; the id of a reading names them all."""
    base = claim.partition("@")[0]
    return f'Item("{label_of(claim)}", claims=("{base}",))'


def _require_new(root: Path, claim: str) -> None:
    """Refuse an id that is taken, or that mixes a claim with its readings."""
    base = claim.partition("@")[0]
    for path, known in _declared(root / claim.partition("/")[0]):
        if known == claim:
            raise ClaimError(f"{path} declares {claim} already; edit it")
        if known.partition("@")[0] == base and "@" not in min(known, claim, key=len):
            raise ClaimError(
                f"{path} declares {known}: a claim with readings has only rows with @; "
                f"rename that one to {base}@<reading> first"
                if known == base
                else f"{path} declares {known}: give {claim} a reading @... as well"
            )


def _declared(paper: Path) -> Iterator[tuple[Path, str]]:
    """The ids that stand in the modules of a paper as literal text."""
    for path in sorted(paper.glob("*.py")):
        for name in re.findall(r"\bid=\"([^\"]+)\"", _read(path)):
            yield path, name


def _registration(root: Path) -> Path | None:
    """The file with which pytest loads the plugin, or the one that has to.

    A conftest.py may name plugins only at the top of what pytest runs: not below the
    folder of its settings.

    Args:
        root: The folder ``theorems``.

    Returns:
        A file that names the plugin; else one that is there and has to; None where a
        new conftest.py beside ``theorems`` will do.
    """
    beside, *above = _project(root.parent.resolve())
    own = beside / "conftest.py"
    settings = [path for place in above for path in _settings(place)]
    candidates = [*settings, *([own] if own.is_file() else [])]
    naming = (p for p in (*candidates, *_settings(beside)) if PLUGIN in _read(p))
    return next(naming, None) or next(iter(candidates), None)


def _project(folder: Path) -> list[Path]:
    """A folder and those above it in its repository; alone where there is none."""
    above = [folder, *folder.parents]
    tops = [place for place in above if (place / ".git").exists()]
    return above[: above.index(tops[0]) + 1] if tops else [folder]


def _settings(place: Path) -> list[Path]:
    """The files in a folder that set pytest up."""
    paths = {place / name: section for name, section in SETTINGS.items()}
    return [p for p, section in paths.items() if p.is_file() and section in _read(p)]


def _remedy(*, is_conftest: bool) -> str:
    if is_conftest:
        return f'pytest_plugins = ["{PLUGIN}"]'
    return f"-p {PLUGIN} (in addopts)"


def _shown(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
