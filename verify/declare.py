"""From claims and checks as Python objects to what the record says of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from verify.catalog import Catalog, Entry
from verify.check import Check
from verify.claim import Mutant
from verify.describe import change_of, parameters_of
from verify.judge import role_of, variations
from verify.paper import Paper
from verify.record import (
    AssumptionRecord,
    Counts,
    DeclaredCheck,
    DeclaredClaim,
    DeclaredVariation,
    FindingRecord,
    NeedRecord,
    PaperRecord,
)


def declare(catalog: Catalog, *, device: str, profile: str) -> list[DeclaredClaim]:
    """Declare every claim of a catalogue, in its order.

    Args:
        catalog: Loaded theorem modules.
        device: Device of the run.
        profile: Profile of the run; with the device it decides which checks are left
            out.

    Returns:
        What a report needs to know of each claim before anything runs.
    """
    return [_claim(entry, device, profile) for entry in catalog]


def node_of(entry: Entry, check: Check) -> str:
    """Name of a node for the record: file below ``theorems`` and node name."""
    return f"{module_of(entry.path)}::{entry.node_name(check)}"


def module_of(path: Path) -> str:
    """A theorem file as ``theorems/<paper>/<name>.py``."""
    return "/".join(path.parts[-3:])


def _claim(entry: Entry, device: str, profile: str) -> DeclaredClaim:
    claim = entry.claim
    finding = claim.finding
    return DeclaredClaim(
        id=claim.id,
        paper=claim.paper,
        kind=claim.kind,
        wording=claim.wording,
        reading=claim.reading,
        title=claim.title or claim.short_id,
        statement_text=claim.says,
        statement_latex=claim.latex,
        quantifiers=claim.quantifiers,
        source=str(claim.source),
        parameters=parameters_of(claim),
        assumptions=[AssumptionRecord(id=a.id, says=a.says) for a in claim.assumes],
        finding=FindingRecord(
            verdict=finding.verdict, reason=finding.reason, cause=finding.cause
        ),
        nearest=claim.nearest,
        needs=[
            NeedRecord(
                grades=sorted(n.grades, key=lambda g: g.rank), everywhere=n.everywhere
            )
            for n in claim.requirement.needs
        ],
        weaker=claim.requirement.why,
        recipe_complete=claim.recipe_complete,
        checks=[_check(entry, check, device, profile) for check in entry.checks],
        variations=[
            DeclaredVariation(
                role=role_of(v),
                name=v.name,
                why=v.why,
                change=change_of(v),
                blind=dict(v.blind) if isinstance(v, Mutant) else {},
            )
            for v, _ in variations(claim)
        ],
        module=module_of(entry.path),
    )


def _check(entry: Entry, check: Check, device: str, profile: str) -> DeclaredCheck:
    return DeclaredCheck(
        name=check.name,
        node=node_of(entry, check),
        role="necessity" if check.is_necessity else "check",
        grade=check.grade,
        scope=check.scope,
        optional=check.optional,
        assumption=check.assumption,
        needed=check.needed,
        left_out=check.unavailable(device, profile),
    )


def declare_papers(papers: Iterable[Paper]) -> list[PaperRecord]:
    """Papers with counts still at zero."""
    return [
        PaperRecord(
            key=paper.key,
            title=paper.title,
            authors=paper.authors,
            venue=paper.venue,
            arxiv=paper.arxiv,
            counts=Counts(),
        )
        for paper in papers
    ]
