"""The command line on good reports: report, recheck, diff."""

import json
import sys
from xml.etree import ElementTree

import pytest
from cli_project import MODULE, command, is_one_line, run, verify, written

from verify import recheck
from verify.report import FORMATS
from verify.report_cli import FORMATS as OFFERED

# ---------------------------------------------------------------- report


def test_every_view_is_offered():
    assert set(OFFERED) == {*FORMATS, "crate"}


def test_report_prints_every_format(latest):
    texts = {
        form: command("report", latest, f"--format={form}").output
        for form in FORMATS
        if form != "badge"
    }
    assert texts["html"].lower().startswith("<!doctype html>")
    assert json.loads(texts["json"])["run"]["exit_code"] == 0
    assert ElementTree.fromstring(texts["junit"]).tag == "testsuites"
    assert all("theorem-1" in text for text in texts.values())


def test_report_writes_one_view_to_a_file(latest, tmp_path):
    out = tmp_path / "new" / "page.html"
    result = command("report", latest, "--format=html", f"--out={out}")
    assert (result.exit_code, result.output) == (0, f"{out}\n")
    assert out.read_text(encoding="utf-8") == (
        command("report", latest, "--format=html").output
    )


def test_report_prints_what_is_no_unicode(save, record):
    record["provenance"]["odd"] = "\udc80"
    done = verify(save(record).parent, "report", "report.json", "--format=json")
    assert json.loads(done.stdout)["provenance"]["odd"] == "\udc80"


def test_badge_of_one_paper(latest):
    whole = command("report", latest, "--format=badge").output
    assert "claims" in whole
    assert "2 of 3 hold" in whole
    one = command("report", latest, "--format=badge", "--paper=toy").output
    assert ElementTree.fromstring(one).get("aria-label").startswith("toy: 3 claims")
    result = command("report", latest, "--format=badge", "--paper=tyo")
    assert result.exit_code == 2
    assert is_one_line(result.output, "'tyo'", "it has: toy")
    result = command("report", latest, "--paper=toy")
    assert result.exit_code == 2
    assert is_one_line(result.output, "--format badge")


def test_report_writes_all_views_again(latest, tmp_path):
    (tmp_path / "journal.jsonl").write_bytes((latest / "journal.jsonl").read_bytes())
    result = command("report", tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert result.exit_code == 0
    assert {"report.json", "index.html", "summary.md", "claims.tex"} < names
    assert "REFUTED      toy/theorem-1@wrong" in result.output


def test_report_of_a_killed_run(latest, tmp_path):
    lines = (latest / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:50])
    result = command("report", tmp_path)
    made = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["run"]
    assert result.exit_code == 0
    assert made["exit_code"] == 3
    assert made["partial"]
    assert "crash: the run did not finish" in result.output
    page = command("report", tmp_path, "--format=html").output
    assert "the run did not finish" in page
    assert "</html>" in page


def test_report_of_a_file_needs_a_format_or_a_folder(save, record, tmp_path):
    path = save(record)
    assert command("report", path, "--format=md").exit_code == 0
    result = command("report", path)
    assert result.exit_code == 2
    assert is_one_line(result.output, "--format", "--out")
    assert command("report", path, f"--out={tmp_path / 'views'}").exit_code == 0
    assert (tmp_path / "views" / "index.html").exists()


def test_report_of_a_published_folder_has_no_journal(save, record):
    folder = save(record).parent
    assert "toy/remark-3" in command("report", folder, "--format=md").output


def test_crate_without_its_extra_names_it(latest, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rocrate", None)
    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    result = command("report", latest, "--format=crate", f"--out={tmp_path / 'c'}")
    assert result.exit_code == 2
    assert is_one_line(result.output, "theorem-verify[crate]")


def test_crate_of_a_file(save, record):
    result = command("report", save(record), "--format=crate")
    assert result.exit_code == 2
    assert is_one_line(result.output, "report.json is a file", "folder of a run")


def test_report_cannot_write(latest, tmp_path):
    (tmp_path / "file").touch()
    for arguments in (["--format=md"], []):
        out = tmp_path / "file" / "below"
        result = command("report", latest, f"--out={out}", *arguments)
        assert result.exit_code == 2
        assert is_one_line(result.output, "cannot write", "choose another --out")


# ---------------------------------------------------------------- recheck


def rechecked(path, *options):
    """Exit code and text of a recheck, which writes to the real streams."""
    done = verify(path.parent, "recheck", path, *options)
    return done.returncode, done.stdout, done.stderr


def test_recheck_of_a_good_report_or_its_folder(save, record):
    path = save(record)
    code, out, _ = rechecked(path)
    assert code == 0
    last = out.splitlines()[-1].split()
    assert last[0] == last[2]  # "7 items: 7 ok": nothing bad, nothing undecided
    assert last[-1] == "ok"
    assert rechecked(path.parent) == (0, out, "")


def test_deep_recheck_decides_enclosures(save, record):
    below = {"kind": "enclosure", "says": "pi is below 3", "inputs": {}}
    below |= {"relation": ["<", ["pi"], 3]}
    record["claims"][0]["checks"][0]["certificate"] = below
    record["result_digest"] = recheck.result_digest(record)
    path = save(record)
    code, out, _ = rechecked(path)
    assert code == 0
    assert "1 not rechecked here" in out
    code, out, _ = rechecked(path, "--deep")
    assert code == 1
    assert " 1 BAD" in out


def test_recheck_of_a_tampered_witness(save, record):
    wrong = next(c for c in record["claims"] if c["id"].endswith("@wrong"))
    witness = wrong["checks"][0]["witness"]
    assert witness["inputs"]["total"] == 5
    witness["inputs"]["total"] = 4
    code, out, _ = rechecked(save(record))
    assert code == 1
    assert "BAD" in next(line for line in out.splitlines() if "@wrong" in line)


def test_recheck_of_a_tampered_result(save, record):
    record["claims"][0]["checks"][0]["margin"] = 2.0
    code, out, _ = rechecked(save(record))
    assert code == 1
    assert "result_digest: differs" in out
    assert "verdict_digest: matches" in out


# ---------------------------------------------------------------- diff


def test_diff_of_a_report_with_itself(save, record):
    path = save(record)
    result = command("diff", path, path)
    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == (
        "no verdict changed; the same verdict for 3 of 3 claims"
    )
    assert len(result.output.splitlines()) == 3
    github = command("diff", path, path, "--format=github").output
    assert not [line for line in github.splitlines() if line.startswith("::error")]


def test_diff_of_run_folders(latest):
    assert command("diff", latest, latest / "report.json").exit_code == 0


@pytest.mark.parametrize("form", ["text", "md", "json", "github"])
def test_diff_exits_1_on_a_changed_verdict_in_every_format(save, record, form):
    old = save(record, "old.json")
    record["claims"][0] |= {"verdict": "INCONCLUSIVE", "reason": "gave up"}
    result = command("diff", old, save(record, "new.json"), f"--format={form}")
    assert result.exit_code == 1
    assert "toy/theorem-1@right" in result.output
    assert "gave up" in result.output


def test_diff_as_json(save, record):
    old = save(record, "old.json")
    record["claims"][0]["fault"] = "BROKEN"
    del record["claims"][2]
    result = command("diff", old, save(record, "new.json"), "--format=json")
    data = json.loads(result.output)
    assert result.exit_code == 1
    assert data["verdicts_changed"] is True
    assert {row["id"]: row["verdicts"] for row in data["rows"]} == {
        "toy/theorem-1@right": ["HOLDS", "HOLDS (BROKEN)"],
        "toy/remark-3": ["HOLDS", "absent"],
    }


def test_a_change_of_one_verdict_is_one_line_and_one_annotation(
    project, latest, tmp_path
):
    """The end-to-end promise: edit a module, run again, compare."""
    line = 'EXTRA = stated("remark-3", 4)'
    assert MODULE.count(line) == 1
    changed = MODULE.replace(
        line, 'EXTRA = stated("remark-3", 5, finding=refuted("x"))'
    )
    folder = written(tmp_path / "changed", changed)
    assert run(folder).returncode == 0
    summary = tmp_path / "summary.md"
    done = verify(
        folder,
        *("diff", latest / "report.json", folder / "reports" / "latest"),
        "--format=github",
        GITHUB_STEP_SUMMARY=str(summary),
    )
    assert done.returncode == 1
    annotations = [x for x in done.stdout.splitlines() if x.startswith("::error")]
    lines = [x for x in done.stdout.splitlines() if x.startswith("  toy/")]
    said, at = "HOLDS -> REFUTED", 1 + _above(changed, "remark-3")
    assert annotations == [
        f"::error file=theorems/toy/theorem_1.py,line={at},title=toy/remark-3::"
        f"{said}%0Ax%0Astated otherwise: text, finding, parameter "
        "total%0Aagain: verify run toy/remark-3 --profile smoke --seed 0"
    ]
    assert len(lines) == 1
    assert lines[0].startswith(f"  toy/remark-3  {said} x [stated otherwise: text,")
    assert "1 verdict changed; the same verdict for 2 of 3 claims" in done.stdout
    rows = [x for x in summary.read_text().splitlines() if x.startswith("| `toy/")]
    assert len(rows) == 1
    assert said.replace(">", "&gt;") in rows[0]


def _above(text, part):
    """Number of lines above the first line that has the part."""
    return next(n for n, line in enumerate(text.splitlines()) if part in line)


def test_diff_of_other_profiles_and_selections_is_no_flood(project, latest, tmp_path):
    """Two checks of remark-3, one of which only the full profile runs."""
    alone = MODULE.replace('scope="one case")', 'scope="one case", profiles=("full",))')
    smoke = written(tmp_path / "smoke", alone)
    assert run(smoke).returncode == 0
    full = verify(smoke, "run", "--profile=full", "--quiet", "--out=full", "--jobs=1")
    assert full.returncode == 0
    result = command("diff", smoke / "full", smoke / "reports" / "latest")
    assert result.exit_code == 0
    assert "profile full against profile smoke" in result.output
    assert "not run here (left out of profile smoke), 2 claims: " in result.output
    assert " -> " not in result.output
    some = verify(
        smoke, "run", "toy/remark-3", "--profile=full", "--out=some", "--quiet"
    )
    assert some.returncode == 0
    result = command("diff", smoke / "full", smoke / "some")
    assert result.exit_code == 0
    assert "not run here (not selected in this partial run), 2 claims" in result.output
