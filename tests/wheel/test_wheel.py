"""The wheel ships the engine alone, and the tutorial's theorem is decided with it."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from pages import Shell

ROOT = Path(__file__).parents[2]
SOURCES = ("LICENSE", "README.md", "pyproject.toml")  # what a build reads
FOLDERS = ("verify", "theorems", "tests", "benchmarks", "docs")  # what it could take
GENERATED = shutil.ignore_patterns("__pycache__", "_build", "*.pyc", ".*")
HERE = str(Path(sys.executable).parent)


def pip(*words):
    """Run pip without a network."""
    quiet = ("--quiet", "--disable-pip-version-check", "--no-index", "--no-deps")
    command = [sys.executable, "-m", "pip", words[0], *quiet, *words[1:]]
    subprocess.run(command, check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A copy of the sources: a build leaves folders behind where it builds."""
    folder = tmp_path_factory.mktemp("source")
    for name in SOURCES:
        shutil.copy(ROOT / name, folder)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=GENERATED)
    return folder


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    """The wheel, built as a packager would."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-build-isolation", "--wheel-dir", str(folder), str(source))
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture
def installed(wheel, tmp_path):
    """The engine from the wheel in a folder, and a shell that uses it."""
    target = tmp_path / "site"
    pip("install", "--target", str(target), str(wheel))
    folder = tmp_path / "paper"
    folder.mkdir()
    path = [str(target / "bin"), HERE, os.environ["PATH"]]
    return target, Shell(
        folder, {"PYTHONPATH": str(target), "PATH": os.pathsep.join(path)}
    )


def test_it_ships_all_of_the_engine_and_nothing_else(wheel, source):
    names = set(zipfile.ZipFile(wheel).namelist())
    engine = {
        p.relative_to(source).as_posix() for p in (source / "verify").rglob("*.*")
    }
    assert {name for name in names if ".dist-info/" not in name} == engine
    for needed in ("py.typed", "report/schemas/report-1.json", "report/templates/"):
        assert any(name.startswith(f"verify/{needed}") for name in names)


def test_the_tutorial_in_an_empty_folder(installed):
    target, shell = installed
    where = shell.run("python -c 'import verify; print(verify.__file__)'")
    assert Path(where.strip()) == target / "verify" / "__init__.py"
    shell.follow(ROOT / "docs" / "tutorial.md")
    report = json.loads((shell.folder / "reports/latest/report.json").read_text())
    assert {claim["id"]: claim["verdict"] for claim in report["claims"]} == {
        "mypaper2025/corollary-1": "REFUTED",
        "mypaper2025/corollary-1/repaired": "HOLDS",
        "mypaper2025/theorem-1": "HOLDS",
    }
    assert report["run"]["exit_code"] == 0
    assert shell.code == 0, shell.ran[-1]  # of recheck
    page = (shell.folder / "reports/latest/index.html").read_text()
    assert "<math" in page
    assert "mypaper2025/corollary-1/repaired" in page
