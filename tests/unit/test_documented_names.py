"""What the documentation calls by its dotted name is there under that name."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"`(verify(?:\.\w+)+)(?:\([^`]*\))?`")
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("*/README.md")]


def documented():
    """Pages with the names that they call; built pages are not ours."""
    for page in PAGES:
        path = page.relative_to(ROOT).as_posix()
        if not path.startswith(("docs/_build/", "reports/")):
            for name in sorted(set(NAME.findall(page.read_text("utf-8")))):
                yield pytest.param(name, id=f"{path}-{name}")


def resolved(name):
    """Import the longest part that is a module, and look up the rest."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:k]))
        except ModuleNotFoundError:
            continue
        for part in parts[k:]:
            found = getattr(found, part)
        return found
    raise AssertionError(name)


@pytest.mark.parametrize("name", [*documented()])
def test_the_name_exists(name):
    assert resolved(name) is not None


def test_a_name_that_is_gone_is_noticed():
    with pytest.raises(AttributeError):
        resolved("verify.fit.intervals.student")
