"""The RO-Crate of a run, before a validator and before a reader.

The validator asks the network for one thing, the JSON-LD context. It is served from the
copy that rocrate ships (of version 1.3, which has all terms of 1.1), any other request
fails; that no later term is used is a test of its own.
"""

import hashlib
import json
import sys
import zipfile
from importlib.resources import files

import pytest

from verify import recheck
from verify.journal import NAME
from verify.record import Header
from verify.report import views
from verify.report.crate import CrateError, write_crate
from verify.verdict import Verdict

CONTEXT = "https://w3id.org/ro/crate/1.1/context"
HOME = "/home/annabelle/secret"
# Looked up in the context of RO-Crate 1.1.
TERMS = {
    "CreateAction", "CreativeWork", "Dataset", "File", "PropertyValue", "Review",
    "ScholarlyArticle", "SoftwareApplication", "about", "actionStatus",
    "additionalProperty", "alternateName", "citation", "conformsTo", "contentSize",
    "datePublished", "description", "encodingFormat", "endTime", "error", "hasPart",
    "identifier", "instrument", "isBasedOn", "itemReviewed", "license",
    "mainEntity", "mentions", "name", "object", "result", "reviewBody",
    "softwareRequirements", "softwareVersion", "startTime", "url", "value",
    "version",
}  # fmt: skip
RUN = ("id", "started", "profile", "seed", "device", "jobs", "command", "partial")
PROVENANCE = {
    "commit": "0123abc",
    "uncommitted_changes": True,
    "python": "3.11.7",
    "system": "Linux 6.1",
    "machine": "x86_64",
    "processor": "AMD EPYC",
    "cores": 2,
    "packages": {"theorem-verify": "0.1.0", "torch": "2.13.0+cpu", "sympy": None},
    "environment": {"OMP_NUM_THREADS": "1"},
}


def with_run(report, **changes):
    return report.model_copy(
        update={"run": report.run.model_copy(update=changes), "provenance": PROVENANCE}
    )


@pytest.fixture(scope="module")
def died(report):
    """The report of a run that did not finish."""
    return with_run(report, command=f"verify run --out {HOME}/run")


@pytest.fixture(scope="module")
def finished(died):
    return with_run(died, exit_code=0, crashes=[], partial=False, red=[])


def run_folder(folder, report, *lines):
    """A folder with the journal of the report's run."""
    header = Header(
        **{name: getattr(report.run, name) for name in RUN},
        key="k",
        papers=report.papers,
        claims=[],
        provenance=report.provenance,
    )
    first = {"type": "header", **header.model_dump(mode="json")}
    folder.mkdir()
    text = "".join(json.dumps(line) + "\n" for line in (first, *lines))
    (folder / NAME).write_text(text, encoding="utf-8")
    return folder


def graph(folder):
    text = (folder / "ro-crate-metadata.json").read_text(encoding="utf-8")
    return {entity["@id"]: entity for entity in json.loads(text)["@graph"]}


def action(folder):
    (found,) = [e for e in graph(folder).values() if e["@type"] == "CreateAction"]
    return found


@pytest.fixture
def made(tmp_path, died):
    """The crate of a run that did not finish."""
    run = run_folder(tmp_path / "run", died)
    write_crate(died, run, tmp_path / "crate")
    return tmp_path / "crate"


@pytest.fixture
def issues(monkeypatch, tmp_path):
    """What the validator says of a crate; the fixture is the function that asks it."""
    services = pytest.importorskip("rocrate_validator.services")
    http = pytest.importorskip("rocrate_validator.utils.http")
    context = json.loads(files("rocrate").joinpath("data/ro-crate.jsonld").read_bytes())

    class Answer:
        status_code, headers = 200, {"Content-Type": "application/ld+json"}

        def json(self):
            return context

    def served(self, url, **_):
        assert url == CONTEXT, f"asked the network for {url}"
        return Answer()

    monkeypatch.setattr(http.HttpRequester, "get", served, raising=False)

    def ask(crate, profile):
        result = services.validate(
            services.ValidationSettings(
                rocrate_uri=str(crate),
                profile_identifier=profile,
                requirement_severity="REQUIRED",
                offline=True,
                cache_path=tmp_path / "cache",
            )
        )
        assert len(result.executed_checks) > 30  # not an empty validation
        return [f"{issue.check.identifier}: {issue.message}" for issue in result.issues]

    return ask


PROFILES = ("ro-crate-1.1", "process-run-crate-0.5")
# rdflib 7.6 warns of a class that its own JSON-LD reader, and pyshacl, still use.
of_rdflib = pytest.mark.filterwarnings(
    "ignore:.* is deprecated:DeprecationWarning:rdflib"
)


@of_rdflib
@pytest.mark.parametrize("profile", PROFILES)
def test_a_validator_accepts_the_crate_of_a_run_that_died(made, issues, profile):
    assert issues(made, profile) == []


@of_rdflib
def test_a_validator_accepts_the_zip_of_a_finished_run(tmp_path, issues, finished):
    run = run_folder(tmp_path / "run", finished)
    write_crate(finished, run, tmp_path / "crate.zip")
    assert issues(tmp_path / "crate.zip", PROFILES[1]) == []


@of_rdflib
def test_the_validator_sees_a_missing_file_and_a_missing_instrument(made, issues):
    (made / "claims.tex").unlink()
    assert any("claims.tex" in issue for issue in issues(made, "ro-crate-1.1"))
    path = made / "ro-crate-metadata.json"
    path.write_text(path.read_text().replace('"instrument"', '"description"'))
    assert any("instrument" in issue for issue in issues(made, PROFILES[1]))


def test_every_file_is_described_as_it_is(made, finished):
    entities = graph(made)
    described = {name for name, e in entities.items() if e["@type"] == "File"}
    assert described == {p.name for p in made.iterdir()} - {"ro-crate-metadata.json"}
    assert described >= {"report.json", NAME, "index.html", "claims.tex", "LICENSE"}
    assert {part["@id"] for part in entities["./"]["hasPart"]} == described
    for name in described:
        data = (made / name).read_bytes()
        assert entities[name]["contentSize"] == str(len(data))
        assert entities[name]["sha256"] == hashlib.sha256(data).hexdigest()


def test_only_terms_of_the_declared_context_are_used(made):
    text = (made / "ro-crate-metadata.json").read_text(encoding="utf-8")
    url, own = json.loads(text)["@context"]
    used = {key for e in graph(made).values() for key in e if key[0] != "@"}
    used |= {e["@type"] for e in graph(made).values()}
    assert url == CONTEXT
    assert used - set(own) <= TERMS
    assert set(own) <= used


def test_a_run_that_died_is_called_failed_and_no_more_is_claimed(made):
    found, root = action(made), graph(made)["./"]
    assert found["actionStatus"] == "http://schema.org/FailedActionStatus"
    assert "signal 9" in found["error"]
    assert "did not finish" in root["description"]
    assert "partial" in root["description"]
    review = graph(made)["#verdicts-huang2024"]
    assert "1 was not run" in review["reviewBody"]
    counts = [graph(made)[ref["@id"]] for ref in review["additionalProperty"]]
    assert {c["name"]: c["value"] for c in counts} == {
        "holds": 1,
        "refuted": 1,
        "reading dependent": 0,
        "failing steps": 1,
        "inconclusive": 2,
        "not run": 1,
    }


def test_a_killed_run_has_no_end(tmp_path, died):
    report = with_run(died, seconds=0.0)
    write_crate(report, run_folder(tmp_path / "run", report), tmp_path / "crate")
    assert "endTime" not in action(tmp_path / "crate")
    assert graph(tmp_path / "crate")["./"]["datePublished"] == report.run.started


def test_a_finished_run_has_its_software_settings_and_times(tmp_path, finished):
    write_crate(finished, run_folder(tmp_path / "run", finished), tmp_path / "crate")
    entities, found = graph(tmp_path / "crate"), action(tmp_path / "crate")
    assert found["actionStatus"] == "http://schema.org/CompletedActionStatus"
    assert "error" not in found
    assert found["startTime"] == "2025-01-01T12:00:00+00:00"
    assert found["endTime"] == "2025-01-01T12:05:12+00:00"
    software = entities[found["instrument"]["@id"]]
    assert (software["name"], software["softwareVersion"]) == (
        "theorem-verify",
        "0.1.0",
    )
    assert {"@id": "pkg:pypi/torch@2.13.0+cpu"} in software["softwareRequirements"]
    settings = {entities[x["@id"]]["name"]: entities[x["@id"]] for x in found["object"]}
    assert settings["profile"]["value"] == "default"
    assert settings["seed"]["value"] == 0
    assert "uncommitted" in settings["commit of the claims and checks"]["value"]
    assert "agent" not in found
    assert "not recorded" in found["description"]


def test_a_resumed_run_claims_no_end(tmp_path, finished):
    line = {"type": "resume", "id": finished.run.id}
    run = run_folder(tmp_path / "run", finished, line)
    write_crate(finished, run, tmp_path / "crate")
    assert "endTime" not in action(tmp_path / "crate")
    assert "resumed" in action(tmp_path / "crate")["description"]


def test_papers_are_articles_under_their_arxiv_number(made):
    entities = graph(made)
    first, second = (entities[ref["@id"]] for ref in entities["./"]["citation"])
    assert first["@id"] == "https://arxiv.org/abs/2310.13220"
    assert first["@type"] == second["@type"] == "ScholarlyArticle"
    assert second["@id"] == "#paper-huang2024"  # no number is recorded


def broken_by(text, report):
    """The report with a check that broke with this text; digests are right."""
    broken = (
        report
        .claims[0]
        .checks[0]
        .model_copy(
            update={"verdict": Verdict.INCONCLUSIVE, "broken": text, "traceback": text}
        )
    )
    claim = report.claims[0].model_copy(update={"checks": [broken], "reason": text})
    report = report.model_copy(update={"claims": [claim, *report.claims[1:]]})
    return with_digests(report)


def with_digests(report):
    plain = views.finite(report.model_dump(mode="json"))
    return report.model_copy(
        update={
            "verdict_digest": recheck.verdict_digest(plain),
            "result_digest": recheck.result_digest(plain),
        }
    )


def test_no_folder_of_the_machine_is_in_the_crate(tmp_path, finished):
    trace = f'File "{HOME}/theorems/toy/a.py", line 3\n  open({HOME!r})'
    report = broken_by(trace, finished)
    line = {"type": "crash", "node": f"{HOME}/x.py::f"}
    write_crate(report, run_folder(tmp_path / "run", report, line), tmp_path / "c")
    for path in (tmp_path / "c").iterdir():
        assert b"annabelle" not in path.read_bytes(), path.name
    record = json.loads((tmp_path / "c" / "report.json").read_bytes())
    assert record["claims"][0]["reason"].startswith('File "<path>/theorems/toy/a.py"')
    assert "replaced by <path>" in graph(tmp_path / "c")["./"]["description"]


def test_what_was_taken_out_leaves_a_right_digest_right_and_a_wrong_one_wrong(
    tmp_path, finished
):
    report = broken_by(f"no {HOME}/x", finished)
    run = run_folder(tmp_path / "run", report)
    edited = report.model_copy(update={"result_digest": "0" * 64})
    for name, given in (("right", report), ("wrong", edited)):
        write_crate(given, run, tmp_path / name)
    right, wrong = (
        json.loads((tmp_path / name / "report.json").read_bytes())
        for name in ("right", "wrong")
    )
    assert right["result_digest"] == recheck.result_digest(right)
    assert right["verdict_digest"] == recheck.verdict_digest(right)
    assert right["result_digest"] != report.result_digest
    assert wrong["result_digest"] == "0" * 64


def test_statements_are_not_taken_for_paths(tmp_path, finished):
    text = "for all x: ~a & b, x ~/y, /alpha/beta/gamma"
    claim = finished.claims[0].model_copy(update={"statement_text": text})
    report = finished.model_copy(update={"claims": [claim]})
    write_crate(report, run_folder(tmp_path / "run", report), tmp_path / "c")
    record = json.loads((tmp_path / "c" / "report.json").read_bytes())
    assert record["claims"][0]["statement_text"] == text


def test_the_journal_is_kept_but_for_its_paths_and_its_torn_line(tmp_path, finished):
    run = run_folder(tmp_path / "run", finished, {"type": "crash", "node": "a::b"})
    with (run / NAME).open("ab") as file:
        file.write(b'{"type": "che')
    write_crate(finished, run, tmp_path / "c")
    kept = (tmp_path / "c" / NAME).read_bytes().splitlines()
    assert kept[1:] == [b'{"type": "crash", "node": "a::b"}']
    assert json.loads(kept[0])["command"] == "verify run --out <path>"


def test_nothing_that_is_there_is_overwritten(tmp_path, finished):
    run = run_folder(tmp_path / "run", finished)
    (tmp_path / "crate").mkdir()
    write_crate(finished, run, tmp_path / "crate")  # empty: nothing to lose
    before = (tmp_path / "crate" / "report.json").read_bytes()
    with pytest.raises(CrateError, match="crate is there already; remove it or name"):
        write_crate(finished, run, tmp_path / "crate")
    assert (tmp_path / "crate" / "report.json").read_bytes() == before


def test_the_journal_must_be_there_and_of_this_run(tmp_path, finished):
    (tmp_path / "empty").mkdir()
    with pytest.raises(CrateError, match=r"holds no run .* `verify run --out` wrote"):
        write_crate(finished, tmp_path / "empty", tmp_path / "crate")
    other = with_run(finished, id="other")
    run = run_folder(tmp_path / "run", other)
    with pytest.raises(CrateError, match=r"is of run other, the report of run 2025"):
        write_crate(finished, run, tmp_path / "crate")


def test_a_view_that_fails_leaves_no_crate(tmp_path, monkeypatch, finished):
    def fail(_):
        raise ZeroDivisionError("boom")

    monkeypatch.setitem(views._RENDERERS, "md", fail)
    run = run_folder(tmp_path / "run", finished)
    with pytest.raises(CrateError, match=r"a view is missing.*summary\.md.*boom"):
        write_crate(finished, run, tmp_path / "crate")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path, finished):
    run = run_folder(tmp_path / "run", finished)
    (tmp_path / "file").write_text("")
    with pytest.raises(CrateError, match=r"cannot write .*file/crate .*name another"):
        write_crate(finished, run, tmp_path / "file" / "crate")


def test_the_extra_that_is_missing_is_named(tmp_path, monkeypatch, finished):
    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    run = run_folder(tmp_path / "run", finished)
    with pytest.raises(CrateError, match=r"pip install 'theorem-verify\[crate\]'"):
        write_crate(finished, run, tmp_path / "crate")


def test_a_zip_is_the_same_whenever_it_is_made(tmp_path, finished):
    run = run_folder(tmp_path / "run", finished)
    one, two = tmp_path / "one.zip", tmp_path / "two.zip"
    assert write_crate(finished, run, one) == [one]
    write_crate(finished, run, two)
    assert one.read_bytes() == two.read_bytes()
    assert "ro-crate-metadata.json" in zipfile.ZipFile(one).namelist()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.zip", "run", "two.zip"]


def test_the_licence_of_the_crate_may_be_another_than_the_softwares(tmp_path, finished):
    run = run_folder(tmp_path / "run", finished)
    write_crate(finished, run, tmp_path / "crate", licence="CC-BY-4.0")
    entities = graph(tmp_path / "crate")
    licence = entities["./"]["license"]["@id"]
    assert entities[licence]["name"] == "CC-BY-4.0"
    software = entities[action(tmp_path / "crate")["instrument"]["@id"]]
    assert software["license"]["@id"].endswith("/MIT")
    with pytest.raises(CrateError, match="no SPDX identifier"):
        write_crate(finished, run, tmp_path / "other", licence="my own")
