"""``junit.xml``: one suite per paper, one case per claim.

A case fails when the verdict differs from the recorded finding or the suite has a
fault. A claim that is refuted, as it was found to be, is no failure of the build: its
verdict stands in the properties and in ``system-out``.

Readers differ. Jenkins shows properties (``keepProperties``), ``system-out`` and the
message and text of a failure. GitLab passes over properties and messages; it shows the
text of a failure and ``system-out``, and links to ``file``. Actions for GitHub annotate
``file``. So what matters stands in the text as well as in the properties, and names are
unique, because GitLab keeps only the first of two.
"""

from __future__ import annotations

from xml.etree.ElementTree import (  # ruff: ignore[suspicious-xml-etree-import] - only writes
    Element,
    SubElement,
    indent,
    tostring,
)

from verify.record import ClaimRecord, Report
from verify.report.words import (
    WORDS,
    because,
    clean,
    difference,
    headline,
    is_red,
    ordered,
    paper_name,
)
from verify.verdict import Verdict


def to_junit(report: Report) -> str:
    """The verdicts of a run as JUnit XML.

    Args:
        report: The record.

    Returns:
        Well-formed XML, whatever the record's texts contain.
    """
    root = Element("testsuites", name="verify")
    names = {paper.key: paper_name(paper) for paper in report.papers}
    groups = {claim.id: group for group, claim in ordered(report.claims)}
    for key in dict.fromkeys([*names, *(claim.paper for claim in report.claims)]):
        suite = SubElement(root, "testsuite", name=clean(key))
        _properties(suite, {"title": names.get(key, key), "run": report.run.id})
        for claim in report.claims:
            if claim.paper == key:
                _case(suite, claim, groups[claim.id])
    _self_checks(root, report)
    _run_suite(root, report)
    for suite in root:
        _count(suite, report.run.started)
    indent(root)
    declaration = '<?xml version="1.0" encoding="utf-8"?>\n'
    return declaration + tostring(root, encoding="unicode") + "\n"


def _case(suite: Element, claim: ClaimRecord, group: str) -> None:
    seconds = sum(check.seconds for check in claim.checks)
    case = SubElement(suite, "testcase", classname=clean(claim.paper))
    case.set("name", clean(claim.id))
    case.set("time", f"{seconds:.3f}")
    if claim.module.endswith(".py"):
        case.set("file", clean(claim.module))
    _properties(
        case,
        {
            "verdict": WORDS[claim.verdict],
            "group": group,
            "grade": claim.grade or "",
            "scope": claim.scope,
            "finding": WORDS[claim.finding.verdict],
            "wording": claim.wording,
            "module": claim.module,
            "command": claim.command,
            "seconds": f"{seconds:.3f}",
        },
    )
    why = because(claim)
    if is_red(claim):
        kind = claim.fault.value if claim.fault else "differs"
        said = f"{WORDS[claim.verdict]}: {why}"
        _say(case, "failure", said, kind).text = clean(_details(claim))
    elif claim.verdict is Verdict.NOT_RUN:
        _say(case, "skipped", "NOT RUN: " + why.removeprefix("not run: "))
    elif claim.verdict is Verdict.INCONCLUSIVE:
        _say(case, "skipped", f"INCONCLUSIVE: {why}")
    lines = [
        headline(claim),
        why,
        f"wording: {claim.wording}",
        f"again: {claim.command}",
    ]
    SubElement(case, "system-out").text = clean("\n".join(filter(None, lines)))


def _details(claim: ClaimRecord) -> str:
    lines = [headline(claim), difference(claim), claim.reason]
    for check in claim.checks:
        lines += [f"{check.name}: {check.broken}" if check.broken else ""]
        lines += [check.traceback]
    return "\n".join([*filter(None, lines), f"Run again: {claim.command}"])


def _self_checks(root: Element, report: Report) -> None:
    """The suite's own second opinions: a disagreement is a failure of the suite."""
    if not report.self_checks:
        return
    suite = SubElement(root, "testsuite", name="self-checks")
    for check in report.self_checks:
        case = SubElement(suite, "testcase", classname="self-checks")
        case.set("name", clean(check.name))
        case.set("time", f"{check.seconds:.3f}")
        if check.failed:
            said = f"{check.says}\n{check.reason}"
            _say(case, "failure", check.reason, "self-check").text = clean(said)
        elif check.verdict == "NOT_RUN":
            _say(case, "skipped", f"NOT RUN: {check.reason}")


def _run_suite(root: Element, report: Report) -> None:
    """What is red and belongs to no claim: a crash must not read as a green file."""
    run, failing = report.run, root.find(".//failure") is not None
    if not run.crashes and (failing or not run.red):
        return
    suite = SubElement(root, "testsuite", name="run")
    case = SubElement(suite, "testcase", classname="run", name="finished", time="0")
    if run.crashes:
        _say(case, "error", "; ".join(run.crashes), "crash")
    else:
        _say(case, "failure", "; ".join(run.red), "red")


def _count(suite: Element, started: str) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for attribute, tag in (
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    seconds = sum(float(case.get("time", "0")) for case in cases)
    suite.set("time", f"{seconds:.3f}")
    suite.set("timestamp", clean(started))


def _properties(parent: Element, values: dict[str, str]) -> None:
    properties = SubElement(parent, "properties")
    for name, value in values.items():
        SubElement(properties, "property", name=name, value=clean(value))


def _say(case: Element, tag: str, message: str, kind: str = "") -> Element:
    said = SubElement(case, tag, {"type": kind} if kind else {})
    said.set("message", clean(message))
    return said
