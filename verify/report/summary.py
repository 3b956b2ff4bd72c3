"""``summary.md``: the verdicts as one Markdown table, then what refutes."""

from __future__ import annotations

import re

from verify.record import ClaimRecord, Json, Report
from verify.report.formulas import as_lines
from verify.report.words import (
    GROUPS,
    WORDS,
    because,
    clean,
    num,
    ordered,
    paper_name,
    plural,
    red_lines,
    run_line,
    tally,
    worst_margin,
)
from verify.verdict import Verdict

MAX_BYTES = 900_000
MAX_LINES, MAX_LINE = 24, 240  # of one witness, and characters of a line of it
_SPARE = 1_000  # bytes for saying what is missing
_HEADER = (
    "| Verdict | Claim | Grade · scope | Worst margin | Why |\n|---|---|---|---|---|"
)


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, in one line."""
    text = clean(" ".join(text.split())).replace("&", "&amp;")
    text = text.replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~#$])", r"\\\1", text)


def html(text: str) -> str:
    """Text inside an HTML element of Markdown, in one line."""
    text = clean(" ".join(text.split()))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def code(text: str) -> str:
    """Text as a code span that cannot end early, also inside a table."""
    text = clean(" ".join(text.split())).replace("`", "'")
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
    lines += _self_checks(report)
    if not report.claims:
        lines += ["", "No claims were selected."]
        return capped(clean("\n".join(lines) + "\n"), MAX_BYTES)
    lines += ["", _HEADER]
    lines += [_row(group, claim) for group, claim in ordered(report.claims)]
    text = clean("\n".join(lines) + "\n")
    return capped(text + _witnesses(report, MAX_BYTES - _size(text)), MAX_BYTES)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace"))


def _self_checks(report: Report) -> list[str]:
    """One line about the suite's own second opinions, if it has any."""
    words = [check.verdict for check in report.self_checks]
    found = [f"{words.count(w)} {w}" for w in dict.fromkeys(words)]
    said = f"- Self-checks of the suite: {', '.join(found)}"
    return [said.replace("_", " ")] if words else []


def _witnesses(report: Report, room: int) -> str:
    """What refutes, claim by claim, as far as there is room; whole blocks only."""
    blocks = []
    for _, claim in ordered(report.claims):
        found = _witness(claim)
        if found is not None:
            blocks.append(_details(claim, *found))
    if not blocks:
        return ""
    parts = ["\n## Witnesses\n\nWhat refutes each claim, to be redone by hand.\n\n"]
    left = room - _size(parts[0]) - _SPARE
    for number, block in enumerate(blocks):
        left -= _size(block)
        if left < 0:
            missing = plural(len(blocks) - number, "further claim")
            parts.append(f"Cut: what refutes {missing} is in report.json.\n")
            break
        parts.append(block)
    return "".join(parts)


def _witness(claim: ClaimRecord) -> tuple[str, Json] | None:
    """The check of strongest grade that refutes a claim, and its witness."""
    if claim.verdict is not Verdict.REFUTED:
        return None
    found = [
        (check.grade.rank, check.name, check.witness)
        for check in claim.checks
        if check.verdict is Verdict.REFUTED and check.witness
    ]
    if not found:
        return None
    _, name, witness = min(found, key=lambda entry: entry[0])
    return name, witness


def _details(claim: ClaimRecord, check: str, witness: Json) -> str:
    lines = [" ".join(line.split("\n")) for line in as_lines(witness, "witness")]
    left = len(lines) - MAX_LINES
    shown = [
        line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]} … (cut)"
        for line in lines[:MAX_LINES]
    ]
    shown += [f"(cut: {plural(left, 'further line')})"] if left > 0 else []
    text = clean("\n".join([f"check {check}", *shown]))
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", text)), default=0))
    title = f"<code>{html(claim.id)}</code> {html(because(claim))}"
    return (
        f"<details><summary>{title}</summary>\n\n{fence}text\n{text}\n{fence}\n\n"
        f"{code(claim.command)}\n\n</details>\n"
    )


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
