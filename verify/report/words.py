"""What all views say alike: verdict words, groups, counts, order, numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from verify.build import group_of
from verify.record import (
    ClaimRecord,
    Counts,
    Number,
    PaperRecord,
    Report,
)
from verify.verdict import Verdict

WORDS = {
    Verdict.HOLDS: "PASS",
    Verdict.REFUTED: "FAIL",
    Verdict.INCONCLUSIVE: "INCONCLUSIVE",
    Verdict.NOT_RUN: "NOT RUN",
}

# Reading order of the groups: what a reviewer has to act on comes first. Each entry
# has its label, then how a sentence says it of one claim and of several.
GROUPS = {
    "refuted": ("refuted", "is refuted", "are refuted"),
    "reading_dependent": (
        "depends on the reading",
        "depends on the reading",
        "depend on the reading",
    ),
    "failing_steps": (
        "failing proof step",
        "is a failing proof step",
        "are failing proof steps",
    ),
    "inconclusive": ("inconclusive", "is inconclusive", "are inconclusive"),
    "not_run": ("not run", "was not run", "were not run"),
    "holds": ("holds", "holds", "hold"),
}

WORDINGS = {
    "printed": "as printed in the paper",
    "derived": "derived from the paper",
    "guessed": "guessed: the paper leaves this open",
    "ours": "ours: a repair or a sharpening, not the paper's statement",
}

EXITS = {
    0: "the recorded findings are reproduced",
    1: "a verdict differs from its finding, or the suite has a fault",
    2: "nothing was selected, or the set-up failed",
    3: "the run could not finish",
}

MAX_NUMBER = 120  # characters of one number; nobody reads more, report.json has all

# What XML and HTML cannot hold; further controls, which a terminal obeys; line and
# paragraph separators; and what turns the direction of writing, so that a text would
# read otherwise than it is.
_UNSHOWN = re.compile(
    r"[^\t\n\r\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd"
    r"\U00010000-\U0010ffff]"
)


def clean(text: str) -> str:
    """Text without characters that a page cannot hold or that disguise it."""
    return _UNSHOWN.sub("\N{REPLACEMENT CHARACTER}", text)


def base_id(claim: ClaimRecord) -> str:
    """The id without its reading."""
    return claim.id.partition("@")[0]


def ordered(claims: Sequence[ClaimRecord]) -> list[tuple[str, ClaimRecord]]:
    """Claims with their groups, refuted first, otherwise in the record's order."""
    rank = list(GROUPS)
    grouped = [(group_of(claim, claims), claim) for claim in claims]
    return sorted(grouped, key=lambda pair: (rank.index(pair[0]), not pair[1].fault))


def tally_parts(counts: Counts) -> list[tuple[str, int, str]]:
    """Each group that a sentence about a paper names: its key, its size, the words."""
    fields = counts.model_dump()
    parts = []
    for key in ("holds", *(k for k in GROUPS if k != "holds")):
        n, (_, one, several) = fields[key], GROUPS[key]
        if n or key in {"holds", "refuted"}:
            parts.append((key, n, f"{n} {one if n == 1 else several}"))
    return parts


def plural(n: int, noun: str) -> str:
    """A number with its noun: ``1 claim``, ``2 claims``."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def tally(counts: Counts) -> str:
    """One sentence: how many claims there are, and how many in each group."""
    total = sum(counts.model_dump().values())
    if not total:
        return "No claims."
    said = ", ".join(text for _, _, text in tally_parts(counts))
    return f"{plural(total, 'claim')}: {said}."


def paper_name(paper: PaperRecord) -> str:
    """Authors, title and venue in one line."""
    quoted = f"“{paper.title}”" if paper.title else paper.key
    name = f"{paper.authors}, {quoted}" if paper.authors else quoted
    return f"{name} ({paper.venue})" if paper.venue else name


def is_red(claim: ClaimRecord) -> bool:
    """Whether this claim turns a run red: a fault, or a verdict unlike its finding."""
    decided = claim.verdict is not Verdict.NOT_RUN
    unlike = decided and claim.verdict is not claim.finding.verdict
    return bool(claim.fault or claim.differs or unlike)


def difference(claim: ClaimRecord) -> str:
    """How a verdict differs from its finding; empty when it does not."""
    if claim.differs or claim.fault or not is_red(claim):
        return claim.differs
    return f"{WORDS[claim.verdict]} against the finding {WORDS[claim.finding.verdict]}"


def headline(claim: ClaimRecord) -> str:
    """Verdict with grade and scope, in words."""
    parts = [WORDS[claim.verdict]]
    if claim.grade:
        parts.append(claim.grade.value)
    if claim.scope:
        parts.append("scope: " + claim.scope)
    return " · ".join(parts)


def because(claim: ClaimRecord) -> str:
    """One line: the fault or difference if any, else the reason of the verdict.

    A finding's reason was written for readers, a check's says what it computed: where
    the run reproduces the finding, the former is the better line.

    Args:
        claim: The claim.

    Returns:
        One sentence without its full stop, or nothing.
    """
    if claim.fault:
        return f"{claim.fault.value}: {claim.reason}"
    if claim.verdict is claim.finding.verdict and not is_red(claim):
        return claim.finding.reason or claim.reason
    return difference(claim) or claim.reason or claim.finding.reason


def as_float(value: Number) -> float | None:
    """The value as a float, from any of the record's spellings."""
    if value is None:
        return None
    try:
        if isinstance(value, str):
            if "0x" in value:
                return float.fromhex(value)
            return float(Fraction(value)) if "/" in value else float(value)
        return float(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def worst_margin(claim: ClaimRecord) -> float | None:
    """Smallest margin over the checks of a claim; NaN if any margin is NaN."""
    found = [as_float(c.margin) for c in claim.checks if c.role == "check"]
    margins = [m for m in found if m is not None]
    if any(math.isnan(m) for m in margins):
        return math.nan
    return min(margins, default=None)


def away(value: Number, claimed: Number) -> str:
    """How far a value is from a claimed one, signed; the value itself if that is words.

    Args:
        value: A number, or an exact rational as text.
        claimed: The same.

    Returns:
        For instance ``+1.5e-11``.
    """
    try:
        distance = _rational(value) - _rational(claimed)
        return f"{float(distance):+.2g}" if distance else "±0"
    except (ValueError, ZeroDivisionError, OverflowError):
        return num(value)


_LONG_EXPONENT = re.compile(r"[eE][+-]?0*\d{4}")


def _rational(value: Number) -> Fraction:
    """A number exactly; one with a long exponent would fill the memory."""
    text = str(value)
    if _LONG_EXPONENT.search(text):
        raise OverflowError(text[:MAX_NUMBER])
    return Fraction(text)


def num(value: Any, digits: int = 6) -> str:
    """Write a number for reading: floats rounded, everything else as it is."""
    if value is None:
        return "—"
    if isinstance(value, float):
        return f"{value:.{digits}g}".replace("-", "−")
    return clipped(value)


def clipped(value: Any) -> str:
    """A value as text, its middle left out where it is too long to be read.

    Args:
        value: A number, or text that stands for one.

    Returns:
        Text.

    >>> clipped("12"), clipped("7" * 200)[10:40]
    ('12', '77777777777777 … (200 characte')
    """
    try:
        text = str(value)
    except ValueError:  # CPython writes no integer above 4300 digits in decimal
        return "a number of more than 4300 digits"
    if len(text) <= MAX_NUMBER:
        return text
    return f"{text[:24]} … ({len(text)} characters) … {text[-12:]}"


_ZEROS = re.compile(r"(?<!\d)\d*[1-9](0{6,})(?!\d)")
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def exact(value: Any) -> str:
    """Write an exact number: hex doubles as shortest decimals, integers bare.

    Args:
        value: A number, or an exact one as text.

    Returns:
        Text; long tails of zeros as a power of ten.

    >>> exact("0x1.8p+1"), exact("7/1"), exact("-25000000/3"), exact(10**36)
    ('3.0', '7', '-25·10⁶/3', '10³⁶')
    """
    if isinstance(value, int) and value.bit_length() > 14_000:
        return clipped(value)
    text = str(value)
    if "0x" in text:
        try:
            return repr(float.fromhex(text))
        except (ValueError, OverflowError):
            return clipped(text)
    return clipped(_ZEROS.sub(_with_power, text.removesuffix("/1")))


def _with_power(digits: re.Match[str]) -> str:
    """An integer that ends in many zeros as a multiple of a power of ten."""
    zeros = len(digits[1])
    head = digits[0][:-zeros]
    power = "10" + str(zeros).translate(_RAISED)
    return power if head == "1" else f"{head}·{power}"


def red_lines(report: Report) -> list[str]:
    """Everything that a reader must see before anything else."""
    lines = [f"Crash: {text}" for text in report.run.crashes]
    return lines + [f"Red: {text}" for text in report.run.red]


def run_line(report: Report) -> str:
    """How the run was made, in one line."""
    run = report.run
    part = "PARTIAL RUN" if run.partial else "whole profile"
    return (
        f"{part} · profile {run.profile} · seed {run.seed} · device {run.device} · "
        f"{run.jobs} jobs · {duration(run.seconds)} · exit code {run.exit_code}: "
        f"{EXITS.get(run.exit_code, 'unknown exit code')}"
    )


def duration(seconds: float) -> str:
    """Seconds for reading."""
    if not seconds >= 100 or math.isinf(seconds):
        return f"{seconds:.3g} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
