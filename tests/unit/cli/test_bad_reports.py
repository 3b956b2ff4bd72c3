"""Bad input on the command line: one clear line, exit code 2, no traceback."""

import json
import os

import pytest
from cli_project import MODULE, command, is_one_line, verify, written

from verify import recheck

COMMANDS = ("report", "diff", "recheck")
CASES = {
    "empty": (b"", "is empty"),
    "blank": (b" \n", "is empty"),
    "cut": (b'{"schema_version": 1, "claims": [', "cut off"),
    "text": (b"HOLDS", "is no JSON (line 1, column 1"),
    "list": (b"[]", "no report"),
    "number": (b"7", "no report"),
    "other JSON": (b'{"a": 1}', "no report"),
    "NaN": (b'{"schema_version": 1, "claims": [], "run": {"x": NaN}}', "bad.json"),
    "twice": (b'{"claims": 1, "claims": 2, "run": 1}', "bad.json"),
    "few fields": (b'{"schema_version": 1, "claims": [], "run": {}}', "fields"),
    "deep": (b"[" * 100_000, "bad.json"),
    "NUL": (b"\x00", "binary"),
    "binary": (b"\xff\xfe\x00", "binary"),
    "picture": (b"\x89PNG\r\n\x1a\n", "binary"),
    "newer": (b'{"schema_version": 2, "claims": [], "run": {}}', "schema_version 2"),
    "older": (b'{"schema_version": 0, "claims": [], "run": {}}', "schema_version 0"),
}


@pytest.mark.parametrize("name", CASES)
def test_report_and_diff_say_what_a_file_is(save, record, name):
    content, said = CASES[name]
    good, bad = save(record, "good.json"), save(content, "bad.json")
    for arguments in (
        ("report", bad, "--format=html"),
        ("report", bad),
        ("diff", good, bad),
        ("diff", bad, good),
    ):
        result = command(*arguments)
        assert result.exit_code == 2
        assert is_one_line(result.output, "bad.json", said), result.output


@pytest.mark.parametrize("name", CASES)
def test_recheck_refuses_each(save, name):
    done = verify(save(CASES[name][0], "bad.json").parent, "recheck", "bad.json")
    if name == "few fields":  # it needs no more than claims, and the digests differ
        assert done.returncode == 1
        assert "differs" in done.stdout
    else:
        assert done.returncode == 2
        assert is_one_line(done.stderr, "recheck: "), done.stderr


def test_a_newer_report_says_both_versions_and_the_remedy(save, record):
    newer = save(record | {"schema_version": 2})
    for arguments in (("report", newer), ("diff", newer, newer)):
        text = command(*arguments).output
        assert is_one_line(
            text, "schema_version 2", "reads version 1", "install a newer"
        )
    done = verify(newer.parent, "recheck", newer)
    assert done.returncode == 2
    assert is_one_line(done.stderr, "schema_version 2", "newer release")


def test_an_older_report_says_how_to_get_one(save, record):
    older = save(record | {"schema_version": 0})
    assert is_one_line(command("report", older).output, "make it again")


def test_a_newer_journal(latest, tmp_path):
    lines = (latest / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    head = json.loads(lines[0]) | {"schema_version": 3}
    (tmp_path / "journal.jsonl").write_text("\n".join([json.dumps(head), *lines[1:]]))
    result = command("report", tmp_path)
    assert result.exit_code == 2
    assert is_one_line(result.output, "schema_version 3", "reads version 1")


def test_a_report_that_lacks_a_field(save, record):
    good = save(record, "good.json")
    del record["claims"][0]["scope"]
    result = command("diff", good, save(record, "bad.json"))
    assert result.exit_code == 2
    assert is_one_line(result.output, "claims.0.scope", "write it again")


def test_a_value_of_megabytes_stays_out_of_the_line(save, record):
    record["claims"][0]["verdict"] = "x" * 10**6
    text = command("report", save(record), "--format=md").output
    assert is_one_line(text, "claims.0.verdict")
    assert len(text) < 1000


def test_a_file_without_end_is_not_read_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(recheck, "MAX_FILE", 1 << 20)
    endless = tmp_path / "endless.json"
    endless.symlink_to("/dev/zero")
    text = command("report", endless, "--format=md").output
    assert is_one_line(text, "endless.json", "over 1 MB", "no report")


@pytest.mark.parametrize("name", ["report", "diff", "recheck"])
def test_no_such_file(tmp_path, name):
    absent = tmp_path / "absent.json"
    done = verify(tmp_path, *([name, absent, absent][: 3 if name == "diff" else 2]))
    assert done.returncode == 2
    assert is_one_line(done.stderr, "absent.json", "No such file")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_without_a_run(tmp_path, name):
    done = verify(tmp_path, *([name, ".", "."][: 3 if name == "diff" else 2]))
    assert done.returncode == 2
    parts = {"recheck": ["no report.json", "verify report"]}
    assert is_one_line(done.stderr, *parts.get(name, ["holds no run", "--out"]))


def test_a_journal_in_place_of_its_folder(latest):
    result = command("report", latest / "journal.jsonl", "--format=md")
    assert result.exit_code == 2
    assert is_one_line(result.output, "journal", f"name its folder, {latest}")


def test_a_journal_cut_in_a_line_is_a_run_that_did_not_finish(latest, tmp_path):
    data = (latest / "journal.jsonl").read_bytes()
    (tmp_path / "journal.jsonl").write_bytes(data[: len(data) - 20])
    result = command("diff", latest, tmp_path)
    assert "the new run did not finish" in result.output
    assert result.exit_code == 0  # every check is there, only the end is cut off


def test_checks_lost_with_a_crash_are_changed_verdicts(latest, tmp_path):
    lines = (latest / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines[:2]))
    result = command("diff", latest, tmp_path)
    assert result.exit_code == 1
    assert "toy/remark-3         HOLDS -> NOT_RUN" in result.output


@pytest.mark.parametrize("content", [b"", b"{", b'{"type": "header"}\n', b"\xff\xfe"])
def test_a_journal_without_a_header(tmp_path, content):
    (tmp_path / "journal.jsonl").write_bytes(content)
    result = command("report", tmp_path)
    assert result.exit_code == 2
    assert is_one_line(result.output, "journal.jsonl", "does not begin")


def test_a_journal_damaged_in_the_middle(latest, tmp_path):
    lines = (latest / "journal.jsonl").read_bytes().splitlines(keepends=True)
    lines[2] = lines[2][:40] + b"\n"
    (tmp_path / "journal.jsonl").write_bytes(b"".join(lines))
    result = command("report", tmp_path)
    assert result.exit_code == 2
    assert is_one_line(result.output, "line 3: damaged", "delete that line")


def test_a_file_that_may_not_be_read(save, record, monkeypatch):
    """Root may read everything, so the refusal is that of a loop of links, and told."""
    loop = save(record).with_name("loop.json")
    os.symlink(loop, loop)
    result = command("report", loop, "--format=md")
    assert result.exit_code == 2
    assert is_one_line(result.output, "loop.json cannot be read", "symbolic links")
    path = save(record)
    path.chmod(0)
    if os.access(path, os.R_OK):
        monkeypatch.setattr("builtins.open", _denied)
        monkeypatch.setattr("pathlib.Path.read_bytes", _denied)
        monkeypatch.setattr("pathlib.Path.open", _denied)
    result = command("report", path, "--format=md")
    monkeypatch.undo()
    assert result.exit_code == 2
    assert is_one_line(result.output, "report.json cannot be read", "Permission denied")


def _denied(path, *_, **__):
    raise PermissionError(13, "Permission denied", str(path))


# ---------------------------------------------------------------- unknown claims


@pytest.fixture
def renamed(save, record):
    """A report with a claim of a paper that neither it nor this project knows."""
    record["claims"][2] |= {"id": "alien/theorem-7", "paper": "alien"}
    return save(record, "renamed.json")


def test_a_claim_of_an_unknown_paper_is_in_every_view(renamed, tmp_path):
    for form in ("html", "md", "tex", "junit", "json"):
        result = command("report", renamed, f"--format={form}")
        assert result.exit_code == 0
        assert "alien/theorem-7" in result.output
    result = command("report", renamed, f"--out={tmp_path / 'views'}")
    assert "alien: unknown paper\n  HOLDS        alien/theorem-7" in result.output


def test_diff_lists_an_unknown_claim_as_new_and_the_old_one_as_gone(latest, renamed):
    result = command("diff", latest, renamed)
    assert result.exit_code == 1
    assert "claims that are gone:\n  toy/remark-3  HOLDS -> absent" in result.output
    assert "new, 1 claim: alien/theorem-7" in result.output


def test_show_of_a_claim_that_only_the_report_has(project, record, tmp_path):
    folder = written(tmp_path / "other", MODULE)
    latest = folder / "reports" / "latest"
    latest.mkdir(parents=True)
    record["claims"][2]["id"] = "toy/remark-4"
    (latest / "report.json").write_text(json.dumps(record))
    done = verify(folder, "show", "toy/remark-4")
    assert done.returncode == 2
    parts = "no claim matches", "has it (toy/remark-4 HOLDS)", "renamed or removed"
    assert is_one_line(done.stderr, *parts)


@pytest.mark.parametrize("content", ["", '{"schema_version": 2, "claims": []}'])
def test_show_tells_the_claim_also_when_the_report_is_bad(project, tmp_path, content):
    folder = written(tmp_path / "other", MODULE)
    latest = folder / "reports" / "latest"
    latest.mkdir(parents=True)
    (latest / "report.json").write_text(content)
    done = verify(folder, "show", "toy/remark-3")
    assert done.returncode == 2
    assert "Two and two are 4." in done.stdout
    assert is_one_line(done.stderr, "last evidence is not shown", "report.json")


def test_a_version_of_thousands_of_digits_stays_out_of_the_line(latest, tmp_path):
    lines = (latest / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    head = json.loads(lines[0]) | {"schema_version": 10**4000}
    (tmp_path / "journal.jsonl").write_text(json.dumps(head) + "\n")
    text = command("report", tmp_path, "--format=md").output
    assert is_one_line(text, "schema_version 1000", "install a newer")
    assert len(text) < 1000
