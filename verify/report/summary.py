"""``summary.md``: the verdicts as one Markdown table."""

from __future__ import annotations

import re

from verify.record import ClaimRecord, Report
from verify.report.words import (
    GROUPS,
    WORDS,
    because,
    clean,
    num,
    ordered,
    paper_name,
    red_lines,
    run_line,
    tally,
    worst_margin,
)

MAX_BYTES = 900_000
_HEADER = (
    "| Verdict | Claim | Grade · scope | Worst margin | Why |\n|---|---|---|---|---|"
)


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, in one line."""
    text = " ".join(text.split()).replace("&", "&amp;")
    text = text.replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~#$])", r"\\\1", text)


def code(text: str) -> str:
    """Text as a code span that cannot end early, also inside a table."""
    text = " ".join(text.split()).replace("`", "'")
    return f"`{text}`".replace("|", "\\|")


def to_markdown(report: Report) -> str:
    """The verdicts of a run as Markdown, refuted first, within GitHub's limits.

    Args:
        report: The record.

    Returns:
        Markdown; where it is cut, it says so.
    """
    run = report.run
    lines = ["# Verdicts", "", escaped(run_line(report)), ""]
    if run.partial:
        lines += [
            "**Partial run:** some checks did not run; claims that they are required "
            "for read NOT RUN.",
            "",
        ]
    lines += [f"- **{escaped(text)}**" for text in red_lines(report)]
    lines += [f"- Note: {escaped(text)}" for text in run.notes]
    lines.append("")
    lines += [
        f"- {escaped(paper_name(paper))}: {tally(paper.counts)}"
        for paper in report.papers
    ]
    if not report.claims:
        lines += ["", "No claims were selected."]
    else:
        lines += ["", _HEADER]
        lines += [_row(group, claim) for group, claim in ordered(report.claims)]
    return capped(clean("\n".join(lines) + "\n"), MAX_BYTES)


def _row(group: str, claim: ClaimRecord) -> str:
    label = GROUPS[group][0]
    verdict = f"**{WORDS[claim.verdict]}**"
    if claim.fault:
        verdict += f" ({claim.fault.value})"
    elif group in {"reading_dependent", "failing_steps"}:
        verdict += f" ({label})"
    strength = " · ".join(filter(None, [claim.grade, claim.scope]))
    title = f"{code(claim.id)}<br>{escaped(claim.title)}"
    why = escaped(because(claim))
    if claim.nearest:
        why = f"{why.rstrip('.')}. Nearest that holds: {escaped(claim.nearest)}"
    margin = num(worst_margin(claim), 3)
    return f"| {verdict} | {title} | {escaped(strength)} | {margin} | {why} |"


def capped(text: str, limit: int) -> str:
    """Cut text to a number of bytes, at the end of a line, and say so."""
    data = text.encode("utf-8", "backslashreplace")
    if len(data) <= limit:
        return text
    kept = data[: max(limit - 200, 0)].decode("utf-8", "ignore").rpartition("\n")[0]
    missing = text.count("\n") - kept.count("\n")
    return f"{kept}\n\nCut: {missing} further lines are in report.json and index.html."
