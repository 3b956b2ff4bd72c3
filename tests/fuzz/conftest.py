"""Sound reports to spoil, built once."""

import pytest

from benchmarks.hostile import records


@pytest.fixture(scope="session")
def seeds():
    return [*records.singles(records.report(), 10**6)]
