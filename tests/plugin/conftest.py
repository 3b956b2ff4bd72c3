"""Toy projects for tests of the plugin."""

import pytest
from toy import CHECKS, Project, holds, refuted


@pytest.fixture(scope="session")
def new_project(tmp_path_factory):
    """Make an empty project."""
    return lambda name="project": Project(tmp_path_factory.mktemp(name))


def _filled(project):
    project.add("theorem_1", holds() + CHECKS)
    project.add("theorem_2", refuted() + CHECKS)
    return project


@pytest.fixture
def project(new_project):
    """A project with a claim that holds and one that is known to be refuted."""
    return _filled(new_project())


@pytest.fixture(scope="session")
def whole(new_project):
    """The same project after a whole run, and what that printed; only to be read."""
    made = _filled(new_project())
    return made, made.pytest("theorems/", "-v")


@pytest.fixture
def bare(new_project):
    """A project without modules."""
    return new_project()
