"""The papers of this repository: every item has a fate, every claim a place."""

from pathlib import Path

import pytest

from verify.catalog import Catalog, theorem_root
from verify.listing import coverage

CATALOG = Catalog.load([theorem_root(Path(__file__).parents[2])])


def test_every_module_loads():
    CATALOG.raise_errors()
    assert CATALOG.files


@pytest.mark.parametrize("key", sorted(CATALOG.papers))
def test_every_item_has_a_fate(key):
    rows = coverage(CATALOG, key)
    assert not [row for row in rows if row["status"].startswith("MISSING")]
    fates = {item.label: item for item in CATALOG.papers[key].items}
    for item in fates.values():  # an alias names what is no alias itself
        assert not item.alias_of or not fates[item.alias_of].alias_of


@pytest.mark.parametrize("name", sorted(CATALOG.entries))
def test_nearest_statement_is_a_claim_that_holds(name):
    nearest = CATALOG.entries[name].claim.nearest
    if nearest:
        assert CATALOG.entries[nearest].claim.finding.verdict == "HOLDS"


@pytest.mark.parametrize("name", sorted(CATALOG.entries))
def test_a_claim_says_enough_to_be_read(name):
    claim = CATALOG.entries[name].claim
    assert claim.says.endswith(".")
    assert claim.latex
    assert claim.quantifiers
    assert claim.source.place
