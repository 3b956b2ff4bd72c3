"""The how-to pages are worked through from top to bottom; what they print, they print.

The tutorial is worked through in test_wheel.py, with the engine from a wheel.
"""

import os
import sys
from pathlib import Path

import pytest
from pages import PageError, Shell, absent, blocks, merged

DOCS = Path(__file__).parents[2] / "docs"
WORKED = [DOCS / "tutorial.md", *sorted((DOCS / "how-to").glob("*.md"))]
HERE = str(Path(sys.executable).parent)


@pytest.fixture
def shell(tmp_path):
    """A folder, with the commands of this environment."""
    return Shell(tmp_path, {"PATH": os.pathsep.join([HERE, os.environ["PATH"]])})


@pytest.mark.parametrize(
    "page", [page for page in WORKED[1:] if page.stem != "index"], ids=lambda p: p.stem
)
def test_how_to(shell, page):
    shell.follow(page)
    assert sum(" run " in command for command, _ in shell.ran) >= 1


def test_no_block_of_python_goes_unworked():
    pages = set(DOCS.rglob("*.md")) - set(WORKED)
    languages = {page: {language for language, _, _ in blocks(page)} for page in pages}
    assert not [page for page in pages if languages[page] & {"python", "py"}]


def test_a_page_that_is_wrong_is_told(shell, tmp_path):
    page = tmp_path / "page.md"
    for text, told in (
        ("```console\n$ echo one; exit 3\none\n$ echo $?\n0\n```\n", "'0'"),
        ("\n\n```console\n$ echo one\ntwo\n```\n", "page.md:3: `echo one`"),
        ("```python\nx = 1\n```\n", "names its file"),
    ):
        page.write_text(text)
        with pytest.raises(PageError, match=r".") as error:
            shell.follow(page)
        assert told in str(error.value)


def test_expected_lines_stand_in_their_order():
    printed = "one   two\nthree (0.1 s)\nfour"
    assert absent("one two\nthree (... s)", printed) == ""
    assert absent("three ...\none two", printed) == "one two"
    assert absent("thre", printed) == "thre"


def test_changed_definitions_replace_those_of_their_name():
    old = "import os\n\nA = 1\n\n\n@first\ndef f():\n    return 1\n\n\nB = 2\n"
    new = "A = 3\n\nC = A\n\n\n@second\ndef f():\n    return 2\n\n\ndef g(): ...\n"
    scope = {"first": lambda f: f, "second": lambda f: lambda: f() + 1}
    exec(merged(old, new), scope)
    assert (scope["A"], scope["B"], scope["C"], scope["f"]()) == (3, 2, 3, 3)
    assert merged(old, new).index("C =") < merged(old, new).index("@second")
    assert merged(old, new).rstrip().endswith("def g(): ...")
