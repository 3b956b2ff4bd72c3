"""Whether a report claims more than what ran, read from the journal's own lines.

Written apart from the engine: an error in how the engine builds its report must not
be shared by what looks for it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Lines = Sequence[Mapping[str, Any]]


def overclaims(report: Mapping[str, Any], lines: Lines) -> list[str]:
    """List what a report says beyond the finished checks of its journal.

    Args:
        report: As written, or as built from what a killed run left.
        lines: Of the journal, whole ones alone.

    Returns:
        Sentences; none when everything that is claimed ran.
    """
    ran = {(x["claim"], x["name"]): x for x in lines if x["type"] == "check"}
    declared = {claim["id"]: claim for claim in lines[0]["claims"]}
    found = [text for claim in report["claims"] for text in _of_claim(claim, ran)]
    for claim in report["claims"]:
        found += _of_verdict(claim, declared[claim["id"]], ran)
    found += _of_self_checks(report, lines)
    return [*found, *_of_counts(report), *_of_run(report, lines, len(ran))]


def overclaims_when_written(report: Mapping[str, Any], lines: Lines) -> list[str]:
    """List what a report that lies in the run folder said too much when it was written.

    It is written after a closing line. A run that is taken up and killed before its
    own leaves the report of an earlier one, which must be true of the lines until then.

    Args:
        report: As written.
        lines: Of the journal, whole ones alone.

    Returns:
        Sentences; none when the report is true of the journal at one of its ends.
    """
    ends = [i + 1 for i, line in enumerate(lines) if line["type"] == "end"]
    found = [overclaims(report, lines[:end]) for end in ends or [len(lines)]]
    return min(found, key=len)


def _of_claim(
    claim: Mapping[str, Any], ran: Mapping[tuple[str, str], Any]
) -> Iterator[str]:
    here = claim["id"]
    for check in claim["checks"]:
        record = ran.get((here, check["name"]), {"verdict": "NOT_RUN"})
        if check["verdict"] != record["verdict"]:
            yield (
                f"{here}: {check['name']} is {check['verdict']} in the report and "
                f"{record['verdict']} in the journal"
            )
    for need in claim["necessity"]:
        if need["verdict"] != "not run" and (here, need["check"]) not in ran:
            yield f"{here}: {need['check']} is {need['verdict']} and did not run"
    for mutant in claim["mutants"]:
        for name in mutant["by"]:
            if not _rejected(ran.get((here, name)), mutant["name"]):
                yield f"{here}: {name} did not reject {mutant['name']!r}"
    for anchor in claim["anchors"]:
        for name in anchor["held"]:
            if (here, name) not in ran:
                yield f"{here}: {name} did not hold for {anchor['name']!r}"


def _rejected(record: Mapping[str, Any] | None, mutant: str) -> bool:
    return record is not None and any(
        trial["name"] == mutant and trial["rejected"] for trial in record["trials"]
    )


def _of_self_checks(report: Mapping[str, Any], lines: Lines) -> Iterator[str]:
    ran = {x["name"]: x["verdict"] for x in lines if x["type"] == "self-check"}
    for own in report.get("self_checks", ()):
        if own["verdict"] != ran.get(own["name"], "NOT_RUN"):
            yield f"self-check {own['name']} is {own['verdict']} and did not run so"


def _of_verdict(
    claim: Mapping[str, Any],
    declared: Mapping[str, Any],
    ran: Mapping[tuple[str, str], Any],
) -> Iterator[str]:
    """What the verdict of a claim rests on has run."""
    here = claim["id"]
    own = {n: r for (i, n), r in ran.items() if i == here and r["role"] == "check"}
    if claim["verdict"] == "HOLDS":
        for check in declared["checks"]:
            if check["role"] != "check" or check["optional"]:
                continue
            record = own.get(check["name"])
            if record is None or record["verdict"] != "HOLDS" or record["broken"]:
                yield f"{here} HOLDS though {check['name']} did not hold"
    if claim["verdict"] == "REFUTED" and not any(
        r["verdict"] == "REFUTED" and r["witness"] and not r["broken"]
        for r in own.values()
    ):
        yield f"{here} is REFUTED without a witness in the journal"


def _of_counts(report: Mapping[str, Any]) -> Iterator[str]:
    """The counts of a paper are those of its claims."""
    for paper in report["papers"]:
        own = [c["verdict"] for c in report["claims"] if c["paper"] == paper["key"]]
        counts = paper["counts"]
        refuted = ("refuted", "reading_dependent", "failing_steps")
        if counts["holds"] != own.count("HOLDS"):
            yield f"{paper['key']}: {counts['holds']} counted as HOLDS"
        if sum(counts[name] for name in refuted) != own.count("REFUTED"):
            yield f"{paper['key']}: REFUTED is counted wrongly"


def _of_run(report: Mapping[str, Any], lines: Lines, ran: int) -> Iterator[str]:
    """A run without its closing line is not told as finished."""
    run = report["run"]
    after = [x["type"] for x in lines]
    resumed = max((i for i, x in enumerate(after) if x == "resume"), default=0)
    if "end" not in after[resumed:] and (run["exit_code"] != 3 or not run["crashes"]):
        yield f"the run did not end and its exit code is {run['exit_code']}"
    if ran < _to_run(lines[0]) and not run["partial"]:
        yield "checks are missing and the run is not called partial"


def _to_run(header: Mapping[str, Any]) -> int:
    return sum(
        not check["left_out"] for claim in header["claims"] for check in claim["checks"]
    )
