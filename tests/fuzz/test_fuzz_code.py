"""Nothing that is read back can run code: neither reports, journals nor caches."""

import ast
import importlib.util
import json
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import verify
from verify.runs.errors import StudyError
from verify.runs.housekeeping import inventory
from verify.runs.store import Store
from verify.runs.study import canonical
from verify.runs.version import code_version

ROOT = Path(verify.__file__).parent
SOURCES = sorted(ROOT.rglob("*.py"))
BANNED_MODULES = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "joblib",
    "yaml",
}
BANNED_MODULES |= {"code", "codeop", "runpy"}
BANNED_CALLS = {"eval", "exec", "compile", "__import__"}
# Methods that unpickle: torch.load, numpy.load (with allow_pickle), pandas and joblib.
LOADERS = {("torch", "load"), ("np", "load"), ("numpy", "load"), ("pd", "read_pickle")}
# Where a name that is no literal may be imported: a trainer of one's own study, when it
# is trained, after the key of its text has been compared; and modules of theorems.
IMPORTERS = {"runs/work.py", "catalog.py"}


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_source_runs_text_or_unpickles(path):
    place = path.relative_to(ROOT).as_posix()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names = {alias.name.partition(".")[0] for alias in node.names}
            assert not names & BANNED_MODULES, place
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").partition(".")[0] not in BANNED_MODULES, place
        if isinstance(node, ast.Name):
            assert node.id not in BANNED_CALLS, f"{place}:{node.lineno}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            assert (node.value.id, node.attr) not in LOADERS, f"{place}:{node.lineno}"
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            "import_module"
        ):
            fixed = isinstance(node.args[0], ast.Constant)
            assert fixed or place in IMPORTERS, f"{place}:{node.lineno}"
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert ast.unparse(node.value) == "False", f"{place}:{node.lineno}"


def test_what_reads_reports_parses_json_and_nothing_else():
    allowed = {"json", "safetensors"}
    parsers = {"json", "safetensors", "tomllib", "csv", "configparser", "plistlib"}
    for name in ("recheck", "journal", "record", "report/load", "runs/store"):
        found = {
            alias.name.partition(".")[0]
            for node in ast.walk(tree(ROOT / f"{name}.py"))
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        assert found & parsers <= allowed, name


def entry(store, **changes):
    """An entry as an editor of the cache may write one, with its digest renewed."""
    content = {"format": 1, "torch": metadata.version("torch"), "code": "0" * 32}
    text = canonical(content | {"trainer": "verify.train:x"} | changes)
    store.put(text, {"losses": np.zeros(3)}, {"study": "s", "runs": 3})


@pytest.mark.parametrize(
    "trainer", ["this.x:f", "antigravity.a.b:f", "../x:f", "", ":"]
)
def test_looking_at_a_cache_imports_nothing_that_it_names(tmp_path, trainer, capsys):
    sys.modules.pop("this", None)
    store = Store(tmp_path)
    entry(store, trainer=trainer)
    [row] = inventory(store)
    assert row.entries == 1
    assert row.current is not True
    assert "this" not in sys.modules
    assert capsys.readouterr().out == ""


def test_the_version_of_a_trainer_is_found_without_importing_its_package(
    tmp_path, monkeypatch
):
    package = tmp_path / "loudpackage" / "inner"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("raise SystemExit('imported')\n")
    (package / "__init__.py").write_text("raise SystemExit('imported')\n")
    (package / "trainer.py").write_text("from loudpackage.inner import other\n")
    (package / "other.py").write_text("A = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = code_version("loudpackage.inner.trainer")
    assert importlib.util.find_spec("loudpackage") is not None
    assert not {name for name in sys.modules if name.startswith("loudpackage")}
    code_version.cache_clear()
    (package / "other.py").write_text("A = 2\n")
    assert code_version("loudpackage.inner.trainer") != before
    with pytest.raises(StudyError, match="no module"):
        code_version("loudpackage.absent")


@pytest.mark.parametrize(
    "made", [[], 5, "x", {"study": "\x1b[2J", "runs": "many"}, None]
)
def test_strange_notes_of_an_entry_are_shown_as_damaged(tmp_path, made):
    store = Store(tmp_path)
    entry(store)
    [key] = store
    data = store.path(key).read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header["__metadata__"]["made"] = json.dumps(made)
    text = json.dumps(header).encode()
    store.path(key).write_bytes(
        len(text).to_bytes(8, "little") + text + data[8 + size :]
    )
    [row] = inventory(store)
    assert (row.study, row.runs) == ("damaged", 0)
