r"""``claims.tex``: macros for a paper's text, an appendix table, an artefact appendix.

Data and layout are apart: the macros (``templates/claims.tex``) lay out rows that are
written here. They need nothing but LaTeX itself, break between rows, and work in one
column and in two; ``booktabs``, where a paper loads it, gives its rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from verify.record import ClaimRecord, PaperRecord, Report
from verify.report.formulas import Readable, readable
from verify.report.typeset import escaped, flowing, typewriter
from verify.report.words import (
    GROUPS,
    WORDS,
    base_id,
    because,
    difference,
    duration,
    is_red,
    ordered,
    paper_name,
    red_lines,
    run_line,
    tally,
)
from verify.verdict import Verdict

__all__ = ["escaped", "to_tex"]

_MACROS = Path(__file__).with_name("templates") / "claims.tex"
_SAFE_ID = re.compile(r"[A-Za-z0-9/.@_-]+")
_TITLES = {
    "refuted": "Refuted",
    "reading_dependent": "Refuted under one reading of the text",
    "failing_steps": "Failing proof steps",
    "inconclusive": "Inconclusive",
    "not_run": "Not run",
    "holds": "Hold",
}
_COUNTS = {
    "holds": "holds",
    "refuted": "refuted",
    "reading_dependent": "readings",
    "failing_steps": "steps",
    "inconclusive": "inconclusive",
    "not_run": "notrun",
}
_TEXT = 600  # characters of a note
_WITNESS = 420  # characters of a witness: what a person can redo by hand
_ROWS = 6
_SCOPE = 24  # characters of a scope that stands beside its grade
_GRADE = 14  # characters that fit into that column
_WORDINGS = {"ours": " (ours)", "guessed": " (wording guessed)"}
# "Equation (13) (from Eq. (12))" stands at Equation (13).
_PLACE = re.compile(r"(Equations? \([^)]*\)(?:-\([^)]*\))?|[^(]*?)(?: \(|$)")


def to_tex(report: Report) -> str:
    r"""The verdicts of a run as LaTeX macros, ``\claimstable`` and ``\claimsartefact``.

    Args:
        report: The record.

    Returns:
        ASCII to read into a document; every text of the record is escaped.
    """
    grouped = ordered(report.claims)
    lines = ["% Made by `verify report --format tex`; any LaTeX will do."]
    lines.append(_MACROS.read_text(encoding="ascii").rstrip())
    for claim in report.claims:
        if _SAFE_ID.fullmatch(claim.id):
            lines += _definitions(claim)
    lines += _readings(report.claims)
    lines.append(rf"\claimdefine{{setup}}{{}}{{{_setup(report)}}}")
    everything = dict.fromkeys(["table", "artefact"], "")
    for number, (key, paper) in enumerate(_papers(report).items()):
        name = key if _SAFE_ID.fullmatch(key) else f"paper-{number}"
        claims = [(group, claim) for group, claim in grouped if claim.paper == key]
        for kind, body in _parts(report, paper, claims).items():
            lines.append(rf"\claimdefine{{{kind}}}{{{name}}}{{%{body}}}")
            everything[kind] += f"\n\\claimlookup{{{kind}}}{{{name}}}"
        lines += _counts(name, [group for group, _ in claims])
    for kind, calls in everything.items():
        body = calls or f"{_intro(report)}\n\\claimsays{{No claims.}}"
        lines.append(rf"\claimdefine{{{kind}}}{{}}{{%{body}}}")
    return "\n".join(lines) + "\n"


def _papers(report: Report) -> dict[str, PaperRecord | None]:
    """Every paper that is described or has a claim."""
    papers: dict[str, PaperRecord | None] = {p.key: p for p in report.papers}
    return dict.fromkeys(claim.paper for claim in report.claims) | papers


def _definitions(claim: ClaimRecord) -> Iterator[str]:
    values = {
        "verdict": WORDS[claim.verdict],
        "grade": claim.grade or "none",
        "scope": claim.scope or "none",
    }
    for field, value in values.items():
        yield rf"\claimdefine{{{field}}}{{{claim.id}}}{{{escaped(value)}}}"


def _readings(claims: Sequence[ClaimRecord]) -> Iterator[str]:
    """For the warning about an id that has only readings."""
    found: dict[str, list[str]] = {}
    for claim in claims:
        if claim.reading and _SAFE_ID.fullmatch(claim.id + claim.reading):
            found.setdefault(base_id(claim), []).append(claim.reading)
    for base, names in found.items():
        yield rf"\claimdefine{{readings}}{{{base}}}{{{', '.join(names)}}}"


def _counts(name: str, groups: Sequence[str]) -> Iterator[str]:
    yield rf"\claimdefine{{count/all}}{{{name}}}{{{len(groups)}}}"
    for group, word in _COUNTS.items():
        yield rf"\claimdefine{{count/{word}}}{{{name}}}{{{groups.count(group)}}}"


def _parts(
    report: Report, paper: PaperRecord | None, claims: Sequence[tuple[str, ClaimRecord]]
) -> dict[str, str]:
    heading = _heading(paper, claims)
    seconds = alone(report)
    total = sum(seconds[claim.id] for _, claim in claims)
    runs = [_run(claim, seconds[claim.id]) for _, claim in _as_printed(report, claims)]
    table = [_intro(report), heading, *_table(claims)]
    artefact = [*_artefact(report), heading, _minutes_of_all(total)]
    artefact += [r"\claimrunhead", *runs, r"\claimtoprule"]
    return {
        kind: "".join(f"\n{line}" for line in lines)
        for kind, lines in (("table", table), ("artefact", artefact))
    }


def _intro(report: Report) -> str:
    lines = [run_line(report), *red_lines(report)]
    return "\n".join(rf"\claimsays{{{flowing(_short(line))}}}" for line in lines)


def _heading(
    paper: PaperRecord | None, claims: Sequence[tuple[str, ClaimRecord]]
) -> str:
    if paper is None:
        return rf"\claimheading{{{flowing(claims[0][1].paper)}}}{{}}"
    name = paper_name(paper)
    if paper.arxiv:
        name += f", arXiv {paper.arxiv}"
    return (
        rf"\claimheading{{{flowing(_short(name))}}}{{{escaped(tally(paper.counts))}}}"
    )


def _table(claims: Sequence[tuple[str, ClaimRecord]]) -> Iterator[str]:
    yield r"\claimhead"
    for group in GROUPS:
        rows = [_row(claim) for found, claim in claims if found == group]
        if rows:
            yield rf"\claimgroup{{{_TITLES[group]}: {len(rows)}}}"
            yield from rows
    yield r"\claimtoprule"


def _row(claim: ClaimRecord) -> str:
    verdict = WORDS[claim.verdict] + (f" ({claim.fault.value})" if claim.fault else "")
    scope = claim.scope if len(claim.scope) <= _SCOPE else ""
    evidence = ", ".join(filter(None, [claim.grade, scope]))
    cells = [
        verdict,
        typewriter(claim.id),
        flowing(_short(claim.title, 200) + _WORDINGS.get(claim.wording, "")),
        flowing(evidence or "no grade", hang=_GRADE),
        "".join(
            rf"\claimnote{{{name}}}{{{flowing(_short(text))}}}"
            for name, text in _notes(claim)
        ),
    ]
    return r"\claimrow" + "".join(f"{{{cell}}}" for cell in cells)


def _notes(claim: ClaimRecord) -> Iterator[tuple[str, str]]:
    """What a reader needs beside the verdict."""
    if len(claim.scope) > _SCOPE:
        yield "Scope", claim.scope
    if is_red(claim):
        yield "Not as recorded", because(claim)
    elif claim.verdict is not Verdict.HOLDS:
        yield "Why", claim.finding.reason or claim.reason
    if claim.verdict is Verdict.HOLDS and claim.weaker:
        yield "Weaker than the default", claim.weaker
    if claim.verdict is Verdict.REFUTED:
        if claim.nearest:
            yield "Nearest that holds", claim.nearest
        if text := _witness(claim):
            yield "Witness", text


def _witness(claim: ClaimRecord) -> str:
    """The shortest witness of the claim, for reading."""
    records = [
        check.witness
        for check in claim.checks
        if check.role == "check" and check.verdict is Verdict.REFUTED and check.witness
    ]
    views = [readable(record) for record in records]
    texts = sorted(map(_in_words, views), key=len)
    if not texts or len(texts[0]) <= _WITNESS:
        return texts[0] if texts else ""
    says = min((view.says for view in views), key=len)
    return f"{_sentence(_short(says, _WITNESS))} Its numbers are in report.json."


def _in_words(view: Readable) -> str:
    parts = [_sentence(view.says)]
    named = [f"{name} = {value}" for name, value in view.scalars]
    for matrix in view.matrices:
        rows = "; ".join(" ".join(row) for row in matrix.rows)
        named.append(f"{matrix.name} = [{rows}] {matrix.note}".rstrip())
    parts += [_sentence(", ".join(named))] if named else []
    if view.kind == "table":
        rows = ", ".join(f"({', '.join(row)})" for row in view.rows[:_ROWS])
        more = ", …" if len(view.rows) > _ROWS else ""
        parts.append(_sentence(f"({', '.join(view.columns)}) = {rows}{more}"))
    if view.kind != "kkt":  # its rows would not fit; the claimed values say it
        parts.append(_sentence(view.sentence))
    return " ".join(filter(None, parts))


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text[-1] in ".!?" else f"{text}."


def _short(text: str, limit: int = _TEXT) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit].rpartition(' ')[0] or text[:limit]} … (report.json has all)"


def alone(report: Report) -> dict[str, float]:
    """Seconds that each claim takes by itself, as far as the run tells.

    A study that several claims use is trained by the first that asks, so that its time
    stands there only; here every claim that uses it is charged with it.

    Args:
        report: The record.

    Returns:
        Seconds of the checks, without start-up, by claim.
    """
    dearest: dict[str, float] = {}
    for claim in report.claims:
        for check in claim.checks:
            for study in check.studies:
                known = dearest.get(study.name, 0.0)
                dearest[study.name] = max(known, study.seconds)
    return {claim.id: _seconds(claim, dearest) for claim in report.claims}


def _seconds(claim: ClaimRecord, dearest: dict[str, float]) -> float:
    used = [study for check in claim.checks for study in check.studies]
    own = sum(check.seconds for check in claim.checks) - sum(x.seconds for x in used)
    return max(own, 0.0) + sum(dearest[name] for name in {x.name for x in used})


def _as_printed(
    report: Report, claims: Sequence[tuple[str, ClaimRecord]]
) -> list[tuple[str, ClaimRecord]]:
    """The claims in the record's order: an evaluator works along the paper."""
    place = {claim.id: number for number, claim in enumerate(report.claims)}
    return sorted(claims, key=lambda pair: place[pair[1].id])


def _run(claim: ClaimRecord, seconds: float) -> str:
    found = _PLACE.match(claim.source)
    place = (found and found[1]) or claim.source
    title = "" if claim.title == claim.id else claim.title
    expected = WORDS[claim.verdict]
    if claim.grade:
        expected += f", {claim.grade.value}"
    if is_red(claim):
        expected += f"; {difference(claim) or 'a fault of the suite'}"
    cells = [
        flowing(_short(f"{place}: {title}" if title else place, 200)),
        typewriter(claim.command),
        "--" if claim.verdict is Verdict.NOT_RUN else _minutes(seconds),
        flowing(_short(expected, 200)),
    ]
    return r"\claimrun" + "".join(f"{{{cell}}}" for cell in cells)


def _minutes(seconds: float) -> str:
    return r"\ensuremath{<}0.1" if seconds < 6 else f"{seconds / 60:.1f}"


def _minutes_of_all(seconds: float) -> str:
    return rf"\claimsays{{The rows below: {seconds / 60:.1f} minutes in all.}}"


def _artefact(report: Report) -> Iterator[str]:
    yield _intro(report)
    yield r"\claimsays{Set-up, in a checkout of the project:}"
    yield r"\claimssetup"
    facts = report.provenance
    packages = facts.get("packages")
    torch = packages.get("torch") if isinstance(packages, dict) else None
    made = [
        f"Python {facts['python']}" if facts.get("python") else "",
        f"torch {torch}" if torch else "",
        str(facts.get("processor") or ""),
        f"{facts['cores']} cores" if facts.get("cores") else "",
    ]
    machine = _short(", ".join(filter(None, made)), 200)
    took = (
        f"The run reported here took {_took(report)} ({machine or 'machine unknown'})."
    )
    yield (
        rf"\claimsays{{{flowing(took)} The minutes of a row are those of its checks in "
        "that run, without start-up; training that several claims share is charged to "
        "each of them. Its command decides that claim alone; claims that this profile "
        "leaves out read NOT RUN.}"
    )


def _took(report: Report) -> str:
    run = report.run
    jobs = "job" if run.jobs == 1 else "jobs"
    return f"{duration(run.seconds)} with {run.jobs} {jobs}"


def _setup(report: Report) -> str:
    run, facts = report.run, report.provenance
    again = f"verify run --profile {run.profile} --seed {run.seed}"
    again += f" --device {run.device} --jobs {run.jobs}"
    commit = str(facts.get("commit") or "")
    dirty = "with uncommitted changes" if facts.get("uncommitted_changes") else ""
    lines = [
        (f"git checkout {commit}", dirty) if commit else None,
        (
            "make verify PROFILE=smoke",
            "environment, installation and a first short run",
        ),
        (". .venv/bin/activate", ""),
        (again, f"every claim; {_took(report)}"),
        ("verify recheck reports/latest/report.json", "every witness again, exactly"),
    ]
    return "".join(
        f"%\n\\claimcommandline{{{typewriter(command)}}}{{{flowing(says)}}}"
        for command, says in filter(None, lines)
    )
