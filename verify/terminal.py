"""The table of verdicts as plain text, for pytest and the command line."""

from __future__ import annotations

from verify.build import UNASKED
from verify.record import ClaimRecord, Report
from verify.report.words import because, clean
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
    known = {paper.key: paper for paper in report.papers}
    for key in dict.fromkeys([*known, *(claim.paper for claim in report.claims)]):
        paper = known.get(key)
        lines.append(_plain(f"{key}: {paper.title if paper else 'unknown paper'}"))
        for claim in _shown(report, key):
            lines += _rows(claim, width, colour)
        counts = paper.counts.model_dump() if paper else {}
        groups = [f"{n} {name.replace('_', ' ')}" for name, n in counts.items() if n]
        lines.append("  " + ", ".join(groups))
    lines += _self_checks(report)
    lines += [f"crash: {_plain(text)}" for text in run.crashes]
    lines += [f"red: {_plain(text)}" for text in run.red]
    lines += [f"note: {_plain(text)}" for text in run.notes]
    return lines


def _shown(report: Report, key: str) -> list[ClaimRecord]:
    """The claims of a paper that have a line, refuted first."""
    selected = report.run.partial and not report.run.crashes
    claims = [
        claim
        for claim in report.claims
        if claim.paper == key and not (selected and _not_asked_for(claim))
    ]
    return sorted(claims, key=lambda claim: claim.verdict is not Verdict.REFUTED)


def _self_checks(report: Report) -> list[str]:
    """How many self-checks came to what; nothing where none ran or failed."""
    words = [check.verdict for check in report.self_checks]
    found = ", ".join(f"{words.count(w)} {w}" for w in dict.fromkeys(words))
    return [f"self-checks: {found}"] if {*words} - {"NOT_RUN"} else []


def _plain(text: str) -> str:
    """Text that stays in one line and steers no terminal."""
    return clean(" ".join(text.split()))


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
        f"  {word:12} {_plain(claim.id):{width}}  {_plain(strength)}; "
        f"{rejected}/{len(claim.mutants)} mutants rejected"
    )
    rows = [row]
    if claim.verdict is Verdict.REFUTED:
        rows.append(f"  {'':12} {_plain(because(claim))}")
        if claim.nearest:
            rows.append(f"  {'':12} what does hold: {_plain(claim.nearest)}")
    return rows
