"""A theorem module to start from: it loads and runs, and says that nothing is decided.

``verify new mypaper2025/lemma-1`` writes ``theorems/mypaper2025/lemma_1_statement.py``
and, where it is missing, the paper's ``__init__.py``.
"""

from __future__ import annotations

import re
from pathlib import Path

from verify.claim import ID
from verify.paper import ClaimError
from verify.verdict import Kind

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
    items=(Item("{label}", claims=("{id}",)),),
)
'''

MODULE = '''\
"""{label}: the statement in one line.

Statement: in unicode, with its hypotheses as a numbered list.
Deviations from the paper: as a numbered list. Not checked: what is left out.
"""

from sympy import Symbol
from theorems.{key} import PAPER

from verify import Cause, Claim, Inconclusive, Kind, check, inconclusive

n = Symbol("n", positive=True, integer=True)

CLAIM = Claim(
    id="{id}",
    says="State in one sentence what {label} asserts.",
    source=PAPER.at("{label}"),
    kind=Kind.{kind},
    parameters={{"value": n**2}},  # every number and formula that it asserts
    # mutants=(Mutant("cubed", why="why this is false", value=n**3),),
    # Without a finding the claim is expected to hold.
    finding=inconclusive(Cause.NO_PROOF, "a check that reads claim.value"),
)


@check(CLAIM, grade="symbolic", scope="all")
def proved(claim):
    """Return Holds(steps=[...]) or Refuted(witness=...), from the claim's data."""
    return Inconclusive(f"{{claim.value}} is not decided yet", cause=Cause.NO_PROOF)
'''


def scaffold(root: Path, claim: str, slug: str) -> list[Path]:
    """Write a theorem module, and its paper where it is missing.

    Args:
        root: The folder ``theorems``.
        claim: Id of the claim, ``<paper>/<kind>-<number>``, with part and reading.
        slug: Last part of the file name.

    Returns:
        The files written.

    Raises:
        ClaimError: The id or the slug is malformed, or the module exists.
    """
    if not ID.fullmatch(claim) or not re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", slug):
        raise ClaimError(
            f"{claim!r} with slug {slug!r}: write <paper>/<kind>-<number>, such as "
            "mypaper2025/lemma-1, and a slug such as sum_of_odds"
        )
    key, name = re.split(r"[/@]", claim)[:2]
    kind = next((k for k in Kind if name.startswith(f"{k}-")), Kind.THEOREM)
    words = {
        "key": key,
        "id": claim,
        "label": name[0].upper() + name[1:].replace("-", " "),
        "kind": kind.name,
    }
    module = root / key / f"{re.sub(r'[-.]', '_', name)}_{slug}.py"
    if module.exists():
        raise ClaimError(f"{module} exists; choose another --slug, or edit it")
    texts = {module.with_name("__init__.py"): PAPER, module: MODULE}
    written = [path for path in texts if not path.exists()]
    module.parent.mkdir(parents=True, exist_ok=True)
    for path in written:
        path.write_text(texts[path].format(**words), encoding="utf-8")
    return written
