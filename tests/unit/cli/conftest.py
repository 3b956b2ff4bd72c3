"""A project after a run, and its record to be changed."""

import json

import pytest
from cli_project import run, written


@pytest.fixture(scope="session")
def project(tmp_path_factory):
    """A project of three claims after a run; only to be read."""
    folder = written(tmp_path_factory.mktemp("project"))
    assert run(folder).returncode == 0
    return folder


@pytest.fixture
def latest(project):
    """The folder of the run."""
    return project / "reports" / "latest"


@pytest.fixture
def record(latest):
    """The record of the run, to be changed."""
    return json.loads((latest / "report.json").read_text(encoding="utf-8"))


@pytest.fixture
def save(tmp_path):
    """Write a record, text or bytes to a file."""

    def write(content, name="report.json"):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content)
            path.write_text(text, encoding="utf-8")
        return path

    return write
