"""The report made by hand, as fixtures."""

import pytest
from sample_report import rich_report


@pytest.fixture(scope="session")
def report():
    return rich_report()


@pytest.fixture(scope="session")
def empty():
    whole = rich_report()
    run = whole.run.model_copy(
        update={"red": [], "crashes": [], "partial": False, "exit_code": 2}
    )
    return rich_report(run=run, claims=[], papers=[])
