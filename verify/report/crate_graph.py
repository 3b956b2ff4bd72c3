"""The description of a crate: what is in it, what made it, which papers it is about.

Everything is said in the terms of RO-Crate 1.1 and Process Run Crate 0.5: an archive
finds the papers by their arXiv numbers and the verdicts as counts per paper, while the
claims themselves are in ``report.json``, with its schema beside it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from verify.journal import NAME
from verify.record import SCHEMA_VERSION, PaperRecord, Report, RunRecord
from verify.report.views import FILES
from verify.report.words import duration, paper_name, run_line, tally

if TYPE_CHECKING:
    from rocrate.rocrate import ROCrate

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
TERMS = {
    "environment": "https://w3id.org/ro/terms/workflow-run#environment",
    "sha256": "https://schema.org/sha256",
}
SOFTWARE = "theorem-verify"
LICENCE = "MIT"  # of the software and of what it writes
SCHEMA = f"report-{SCHEMA_VERSION}.schema.json"
_WHAT = {
    "report.json": ("The record of the run", "application/json"),
    "index.html": ("The report, for reading", "text/html"),
    "summary.md": ("The verdicts as a table", "text/markdown"),
    "junit.xml": ("The verdicts as test cases", "application/xml"),
    "claims.tex": ("The verdicts for a paper's appendix", "application/x-tex"),
    "badge.svg": ("The counts as a badge", "image/svg+xml"),
    NAME: ("The journal: one line per check as it finished", "application/x-ndjson"),
    SCHEMA: ("The JSON Schema of report.json", "application/schema+json"),
    "LICENSE": ("The licence of the software", "text/plain"),
}
_ARXIV = re.compile(r"\d{4}\.\d{4,5}(v\d+)?|[a-z.-]+(\.[A-Z]{2})?/\d{7}(v\d+)?")
Properties = dict[str, Any]


@dataclass(frozen=True)
class CrateFiles:
    """The files of a crate, the report they show, and how many paths were taken out."""

    report: Report
    paths: Sequence[Path]
    redacted: int


def describe(files: CrateFiles, folder: Path, *, resumed: bool, licence: str) -> None:
    """Write ``ro-crate-metadata.json``.

    Args:
        files: What is in the crate.
        folder: Where they are.
        resumed: The run was interrupted and taken up again.
        licence: SPDX identifier.
    """
    from rocrate.rocrate import ROCrate

    report = files.report
    crate = ROCrate(version="1.1")
    crate.metadata.extra_terms.update(TERMS)
    crate.metadata["license"] = {"@id": _spdx(licence)}
    for name in dict.fromkeys([licence, LICENCE]):
        _add(crate, _spdx(name), "CreativeWork", name=name, url=_spdx(name))
    results = [_add_file(crate, path) for path in files.paths]
    papers = [_add_paper(crate, paper) for paper in report.papers]
    action = _add_action(crate, report, results, resumed=resumed)
    reviews = [
        _add_review(crate, report, paper, about)
        for paper, about in zip(report.papers, papers, strict=True)
    ]
    root = crate.root_dataset
    _add(crate, PROFILE, "CreativeWork", name="Process Run Crate", version="0.5")
    root["conformsTo"] = {"@id": PROFILE}
    root["name"] = _title(report)
    root["description"] = _description(files)
    root["datePublished"] = _end(report) or report.run.started
    root["license"] = {"@id": _spdx(licence)}
    root["identifier"] = [
        _value(crate, f"#{name}", name, getattr(report, name))
        for name in ("verdict_digest", "result_digest")
    ]
    root["mainEntity"] = {"@id": "report.json"}
    root["citation"] = papers
    root["mentions"] = [action, *reviews]
    crate.metadata.write(folder)


def _spdx(licence: str) -> str:
    return f"https://spdx.org/licenses/{licence}"


def _add(crate: ROCrate, name: str, type_: str, /, **fields: Any) -> Properties:
    """Add an entity; a reference to it."""
    from rocrate.model.contextentity import ContextEntity

    given = {
        key: x[0] if isinstance(x, list) and len(x) == 1 else x
        for key, x in fields.items()
        if x not in ("", None, [])
    }
    crate.add(ContextEntity(crate, name, properties={"@type": type_, **given}))
    return {"@id": name}


def _value(crate: ROCrate, identifier: str, name: str, value: object) -> Properties:
    return _add(crate, identifier, "PropertyValue", name=name, value=value)


def _add_file(crate: ROCrate, path: Path) -> Properties:
    what, form = _WHAT.get(path.name, ("A view of the record", "text/plain"))
    data = path.read_bytes()
    properties: Properties = {
        "name": what,
        "encodingFormat": form,
        "contentSize": str(len(data)),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    if path.name == "report.json":
        properties["conformsTo"] = {"@id": SCHEMA}
    elif path.name in FILES.values():
        properties["isBasedOn"] = {"@id": "report.json"}
    crate.add_file(path, dest_path=path.name, properties=properties)
    return {"@id": path.name}


def _add_paper(crate: ROCrate, paper: PaperRecord) -> Properties:
    known = _ARXIV.fullmatch(paper.arxiv)
    url = f"https://arxiv.org/abs/{paper.arxiv}" if known else ""
    return _add(
        crate,
        url or f"#paper-{_slug(paper.key)}",
        "ScholarlyArticle",
        name=paper.title or paper.key,
        alternateName=paper.key,
        description=paper_name(paper),
        identifier=f"arXiv:{paper.arxiv}" if known else paper.arxiv,
        url=url,
    )


def _slug(key: str) -> str:
    return re.sub(r"[^\w.-]", "-", key)


def _add_review(
    crate: ROCrate, report: Report, paper: PaperRecord, about: Properties
) -> Properties:
    """What the run came to for a paper: a sentence, and its counts as data."""
    identifier = f"#verdicts-{_slug(paper.key)}"
    counts = [
        _value(crate, f"{identifier}-{name}", name.replace("_", " "), number)
        for name, number in paper.counts.model_dump().items()
    ]
    part = " Some checks did not run." if report.run.partial else ""
    return _add(
        crate,
        identifier,
        "Review",
        name=f"Verdicts on the claims of {paper.key}",
        itemReviewed=about,
        reviewBody=tally(paper.counts) + part,
        additionalProperty=counts,
        isBasedOn={"@id": "report.json"},
    )


def _add_action(
    crate: ROCrate, report: Report, results: Sequence[Properties], *, resumed: bool
) -> Properties:
    run = report.run
    settings = {
        name: _value(crate, f"#setting-{name}", name, getattr(run, name))
        for name in ("profile", "seed", "device", "jobs")
    }
    failed = _failed(run)
    status = "FailedActionStatus" if failed else "CompletedActionStatus"
    return _add(
        crate,
        f"#run-{_slug(run.id)}",
        "CreateAction",
        name=run.command or f"verify run --profile {run.profile}",
        description=_how(report, resumed=resumed),
        instrument=_add_software(crate, report),
        object=[*settings.values(), *_add_source(crate, report.provenance)],
        result=list(results),
        startTime=run.started,
        endTime="" if resumed else _end(report),
        actionStatus=f"http://schema.org/{status}",
        error="; ".join(run.crashes or [f"exit code {run.exit_code}"])
        if failed
        else "",
        environment=_add_environment(crate, report.provenance),
    )


def _add_software(crate: ROCrate, report: Report) -> Properties:
    packages = _mapping(report.provenance.get("packages"))
    needed = [
        _add_package(crate, "pypi", name, str(version))
        for name, version in packages.items()
        if version and name != SOFTWARE
    ]
    if python := report.provenance.get("python"):
        needed.append(_add_package(crate, "generic", "python", str(python)))
    return _add_package(
        crate,
        "generic",
        SOFTWARE,
        str(packages.get(SOFTWARE) or "unknown"),
        description="Decides the theorems of machine-learning papers.",
        license={"@id": _spdx(LICENCE)},
        softwareRequirements=needed,
    )


def _add_package(
    crate: ROCrate, kind: str, name: str, version: str, **fields: Any
) -> Properties:
    """A package by its package URL."""
    return _add(
        crate,
        f"pkg:{kind}/{quote(name, safe='')}@{quote(version, safe='+')}",
        "SoftwareApplication",
        name=name,
        softwareVersion=version,
        **fields,
    )


def _add_source(crate: ROCrate, facts: Mapping[str, Any]) -> list[Properties]:
    """The commit of the claims and their checks, where the run knew it."""
    if not facts.get("commit"):
        return []
    more = " with uncommitted changes" if facts.get("uncommitted_changes") else ""
    commit = f"{facts['commit']}{more}"
    return [_value(crate, "#commit", "commit of the claims and checks", commit)]


def _add_environment(crate: ROCrate, facts: Mapping[str, Any]) -> list[Properties]:
    variables = _mapping(facts.get("environment"))
    return [
        _value(crate, f"#variable-{_slug(name)}", name, str(value))
        for name, value in variables.items()
    ]


def _mapping(value: object) -> dict[str, Any]:
    return {str(k): x for k, x in value.items()} if isinstance(value, dict) else {}


def _failed(run: RunRecord) -> bool:
    """Whether it did not end; a verdict unlike its finding is no failure."""
    return run.exit_code not in {0, 1} or bool(run.crashes)


def _end(report: Report) -> str:
    """When the run ended; empty where that is not known."""
    run = report.run
    if not run.seconds:  # the journal has no last line
        return ""
    try:
        end = datetime.fromisoformat(run.started) + timedelta(seconds=run.seconds)
    except (ValueError, OverflowError):
        return ""
    return end.isoformat(timespec="seconds")


def _title(report: Report) -> str:
    keys = ", ".join(paper.key for paper in report.papers) or "no paper"
    return f"Verdicts on the claims of {keys} ({SOFTWARE}, run {report.run.id})"


def _description(files: CrateFiles) -> str:
    report = files.report
    parts = [f"{paper_name(p)}: {tally(p.counts)}" for p in report.papers]
    if report.run.partial:
        parts.append("The run is partial: some checks did not run.")
    if _failed(report.run):
        parts.append("The run did not finish: what is not decided reads NOT_RUN.")
    if files.redacted:
        n = files.redacted
        parts.append(f"Paths on the machine were replaced by <path> in {n} places.")
    parts.append("index.html is for reading, report.json is the record.")
    return " ".join(parts)


def _how(report: Report, *, resumed: bool) -> str:
    facts, run = report.provenance, report.run
    machine = [facts.get("system"), facts.get("machine"), facts.get("processor")]
    machine += [f"{facts['cores']} cores" if facts.get("cores") else None]
    said = [run_line(report), "Machine: " + ", ".join(map(str, filter(None, machine)))]
    if resumed:
        said.append(
            f"It was interrupted and resumed; the last part took "
            f"{duration(run.seconds)}, so that no end is given"
        )
    return ". ".join(said) + ". Who ran it is not recorded."
