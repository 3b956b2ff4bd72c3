"""The kept listing: quick when nothing changed, and never stale."""

import json
import os
import subprocess
import sys

import pytest

from verify.listed import Listed

MODULE = """\
from pathlib import Path
from verify import *
import helper

SAYS = Path(__file__).with_name("words.txt").read_text() + helper.WORD


@check(
    Claim(
        id="toy/lemma-1",
        says=SAYS,
        source=Source("toy", "Lemma 1"),
        parameters={"total": 4},
        mutants=(Mutant("six", why="it is four", total=6),),
        requires=Requires((Need(frozenset({Grade.NUMERIC}), False),), why="a toy"),
    ),
    grade="numeric",
    scope="one case",
)
def counted(claim):
    return Holds()
"""
ASK = """\
import json, sys
from pathlib import Path
from verify.listed import listed
found = listed(Path("theorems").resolve(), Path(sys.argv[1]))
imported = "theorems.toy.lemma_1" in sys.modules
print(json.dumps([[r["says"] for r in found.claims], found.papers, imported]))
"""


@pytest.fixture
def project(tmp_path):
    package = tmp_path / "theorems" / "toy"
    package.mkdir(parents=True)
    for folder in (package.parent, package):
        (folder / "__init__.py").touch()
    (package / "lemma_1.py").write_text(MODULE)
    (package / "words.txt").write_text("Two and two ")
    (tmp_path / "helper.py").write_text('WORD = "are four."\n')
    return tmp_path


def ask(project, cache="cache"):
    done = subprocess.run(
        [sys.executable, "-c", ASK, cache],
        cwd=project, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def kept(project):
    return list((project / "cache").rglob("*.json"))


def test_what_did_not_change_is_not_loaded_again(project):
    says = [["Two and two are four."], ["toy"]]
    assert ask(project) == [*says, True]
    assert ask(project) == [*says, False]
    assert len(kept(project)) == 1


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("theorems/toy/lemma_1.py", "says=SAYS", 'says="New."', ["New."]),
        ("theorems/toy/words.txt", "Two", "2", ["2 and two are four."]),
        ("helper.py", "four", "4444", ["Two and two are 4444."]),
    ],
    ids=["module", "data", "imported"],
)
def test_a_change_shows_at_once(project, file, old, new, says):
    ask(project)
    path = project / file
    before = path.stat().st_mtime
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, (before + 2, before + 2))  # Python tells bytecode by whole seconds
    assert ask(project) == [says, ["toy"], True]
    assert ask(project) == [says, ["toy"], False]


def test_a_module_more_or_less_shows_at_once(project):
    ask(project)
    more = project / "theorems" / "toy" / "lemma_2.py"
    more.write_text(MODULE.replace("lemma-1", "lemma-2"))
    assert len(ask(project)[0]) == 2
    more.unlink()
    assert ask(project) == [["Two and two are four."], ["toy"], True]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"files": 1}', '{"files": {"a": 1}, "papers": 1}']
)
def test_a_damaged_file_is_made_again(project, text):
    ask(project)
    (path,) = kept(project)
    path.write_text(text)
    assert ask(project)[2]
    assert not ask(project)[2]


def test_where_nothing_can_be_kept_listing_works(project):
    (project / "cache").write_text("a file, no folder")
    assert ask(project)[2]
    assert ask(project) == [["Two and two are four."], ["toy"], True]


def test_an_error_is_not_kept(project):
    (project / "helper.py").write_text("WORD = 1 // 0\n")
    for _ in range(2):
        with pytest.raises(AssertionError, match="ZeroDivisionError"):
            ask(project)
    assert not kept(project)


def test_a_change_while_loading_is_not_kept(project):
    path = project / "theorems" / "toy" / "lemma_1.py"
    path.write_text(
        MODULE + "\nPath(__file__).with_name('words.txt').write_text('x')\n"
    )
    ask(project)
    assert not kept(project)


def test_rows_of_one_paper():
    claims = [{"id": "a/lemma-1"}, {"id": "b/lemma-1"}]
    items = [{"paper": "a", "item": "Lemma 1"}, {"paper": "b", "item": "Lemma 1"}]
    found = Listed(["a", "b"], claims, items)
    assert found.rows("b", coverage=False) == claims[1:]
    assert found.rows("a", coverage=True) == items[:1]
    assert found.rows(None, coverage=False) == claims
