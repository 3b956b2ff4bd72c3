"""No test reads or fills the cache of the user."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VERIFY_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
