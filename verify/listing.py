"""What ``verify list`` and ``verify show`` print.

Listing needs no record, which takes a third of a second to load: only showing does.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from verify.catalog import Catalog, Entry

if TYPE_CHECKING:
    from verify.record import ClaimRecord, Report

Row = dict[str, Any]


def claims(catalog: Catalog, paper: str | None = None) -> list[Row]:
    """One row per claim.

    Args:
        catalog: Loaded theorem modules.
        paper: Only this paper.

    Returns:
        Rows with id, kind, finding, grades of the checks and the sentence.
    """
    return [
        {
            "id": entry.claim.id,
            "kind": entry.claim.kind.value,
            "finding": entry.claim.finding.verdict.value,
            "checks": ", ".join(
                dict.fromkeys(c.grade for c in entry.checks if not c.is_necessity)
            ),
            "mutants": len(entry.claim.mutants),
            "says": entry.claim.says,
        }
        for entry in catalog
        if paper in {None, entry.claim.paper}
    ]


def coverage(catalog: Catalog, paper: str | None = None) -> list[Row]:
    """One row per numbered item of the papers: its claims, or why it has none.

    Args:
        catalog: Loaded theorem modules.
        paper: Only this paper.

    Returns:
        Rows with paper, item, status and detail. A claim that the catalogue lacks is
        said to be missing, and a claim that no item names is listed last.
    """
    rows: list[Row] = []
    for key, record in catalog.papers.items():
        if paper not in {None, key}:
            continue
        named: set[str] = set()
        for item in record.items:
            status, detail = _fate(catalog, item.claims), ", ".join(item.claims)
            if item.alias_of:
                status, detail = "alias", item.alias_of
            elif item.not_a_claim:
                status, detail = "not a claim", item.not_a_claim
            elif item.not_stated:
                status, detail = "not stated yet", item.not_stated
            named |= set(item.claims)
            rows.append({
                "paper": key,
                "item": item.label,
                "status": status,
                "detail": detail,
            })
        for entry in catalog:
            claim = entry.claim
            if claim.paper == key and not named & {claim.id, claim.base_id}:
                rows.append({
                    "paper": key,
                    "item": "-",
                    "status": "ours",
                    "detail": claim.id,
                })
    return rows


def _fate(catalog: Catalog, names: Sequence[str]) -> str:
    known = {e.claim.id for e in catalog} | {e.claim.base_id for e in catalog}
    missing = [name for name in names if name not in known]
    return f"MISSING {', '.join(missing)}" if missing else "claim"


def as_json(rows: Sequence[Row]) -> str:
    """Rows as JSON."""
    return json.dumps(list(rows), indent=1, ensure_ascii=False)


def as_table(rows: Sequence[Row]) -> str:
    """Rows as aligned text."""
    if not rows:
        return "nothing to list"
    names = list(rows[0])
    cells = [names, *([str(row[name]) for name in names] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip()
        for line in cells
    )


def show(entry: Entry, report: Report | None) -> str:
    """Describe one claim for the terminal.

    Args:
        entry: The claim with its checks.
        report: The last report, for its evidence.

    Returns:
        Several lines of text.
    """
    from verify.describe import change_of, parameters_of

    claim = entry.claim
    lines = [
        claim.id,
        *_wrapped(claim.says),
        f"  source      {claim.source}; {claim.kind}, wording {claim.wording}",
        f"  finding     {claim.finding.verdict} {claim.finding.reason}".rstrip(),
    ]
    if claim.quantifiers:
        lines.append(f"  for         {claim.quantifiers}")
    lines += [f"  assumes     {a.id}: {a.says}" for a in claim.assumes]
    lines += [f"  parameter   {n} = {f.text}" for n, f in parameters_of(claim).items()]
    lines += [
        f"  check       {c.grade:9} {c.name} [{c.scope}]"
        for c in entry.checks
        if not c.is_necessity
    ]
    lines += [
        f"  necessity   {c.assumption}: {c.name}" for c in entry.checks if c.assumption
    ]
    for role, group in (
        ("mutant", claim.mutants),
        ("anchor", claim.anchors),
        ("variant", claim.variants),
    ):
        for variation in group:
            change = ", ".join(
                f"{n} = {f.text}" for n, f in change_of(variation).items()
            )
            lines.append(f"  {role:11} {variation.name}: {change}; {variation.why}")
    records = report.claims if report else []
    found = [record for record in records if record.id == claim.id]
    lines += _evidence(found[0]) if found else ["  evidence    none; verify run it"]
    return "\n".join(lines)


def _evidence(record: ClaimRecord) -> list[str]:
    from verify.report.formulas import as_lines

    lines = [f"  last run    {record.verdict} {record.reason}".rstrip()]
    for check in record.checks:
        margin = "" if check.margin is None else f", margin {check.margin}"
        lines.append(f"    {check.verdict:12} {check.name}{margin}  {check.reason}")
        for role, evidence in (
            ("witness", check.witness),
            ("certificate", check.certificate),
        ):
            if evidence:
                lines += [f"      {line}" for line in as_lines(evidence, role)]
    lines.append(f"  again       {record.command}")
    return lines


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 84, initial_indent="  ", subsequent_indent="  ")
