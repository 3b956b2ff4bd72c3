"""The table of verdicts as plain text, for pytest and the command line."""

from __future__ import annotations

from verify.build import UNASKED
from verify.record import ClaimRecord, Report
from verify.verdict import Verdict

COLOURS = {
    Verdict.HOLDS: "32",
    Verdict.REFUTED: "31",
    Verdict.INCONCLUSIVE: "33",
    Verdict.NOT_RUN: "2",
}


def table(report: Report, *, colour: bool = False) -> list[str]:
    """One line per claim, refuted first within each paper, then what is red.

    Claims that a partial run did not ask for are counted and not listed, unless the run
    crashed: then they may be missing for that reason.

    Args:
        report: The report.
        colour: Use terminal colours.

    Returns:
        Lines without newlines.
    """
    run = report.run
    partial = ", PARTIAL" if run.partial else ""
    lines = [
        f"profile {run.profile}, seed {run.seed}, {run.device}{partial}, "
        f"{run.seconds:.0f} s, exit code {run.exit_code}"
    ]
    width = max((len(claim.id) for claim in report.claims), default=0)
    for paper in report.papers:
        lines.append(f"{paper.key}: {paper.title}")
        claims = [
            claim
            for claim in report.claims
            if claim.paper == paper.key
            and not (run.partial and not run.crashes and _not_asked_for(claim))
        ]
        for claim in sorted(claims, key=lambda c: c.verdict is not Verdict.REFUTED):
            lines += _rows(claim, width, colour)
        groups = [
            f"{count} {name.replace('_', ' ')}"
            for name, count in paper.counts.model_dump().items()
            if count
        ]
        lines.append("  " + ", ".join(groups))
    lines += [f"crash: {text}" for text in run.crashes]
    lines += [f"red: {text}" for text in run.red]
    lines += [f"note: {text}" for text in run.notes]
    return lines


def _not_asked_for(claim: ClaimRecord) -> bool:
    """Whether nothing ran, and no profile left out a check that the claim needs."""
    return all(
        check.verdict is Verdict.NOT_RUN and (check.optional or check.reason == UNASKED)
        for check in claim.checks
    )


def _rows(claim: ClaimRecord, width: int, colour: bool) -> list[str]:
    word = claim.verdict.value
    if colour:
        word = f"\x1b[{COLOURS[claim.verdict]}m{word:12}\x1b[0m"
    strength = f"{claim.grade} [{claim.scope}]" if claim.grade else claim.reason
    rejected = sum(m.rejected for m in claim.mutants)
    row = (
        f"  {word:12} {claim.id:{width}}  {strength}; "
        f"{rejected}/{len(claim.mutants)} mutants rejected"
    )
    rows = [row]
    if claim.verdict is Verdict.REFUTED:
        rows.append(f"  {'':12} {claim.reason}")
        if claim.nearest:
            rows.append(f"  {'':12} what does hold: {claim.nearest}")
    return rows
