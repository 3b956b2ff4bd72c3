"""Hostile reports, records, journals and caches: plain errors, never anything else.

A few thousand cases of the campaign in `benchmarks/hostile`, which runs 100,000. A case
that fails runs again alone: `python benchmarks/hostile/run.py --case "report 17"`.
"""

import pytest

from benchmarks.hostile.readers import Readers
from benchmarks.hostile.stores import Stores
from benchmarks.hostile.watch import LIMIT, SLOW, Watch

CASES = {"report": 400, "printed": 400, "decided": 700, "journal": 500}


def assert_sound(watch, cases):
    assert watch.cases >= cases
    assert not watch.faults, "\n".join(f"{x.case}: {x.what}" for x in watch.faults[:9])
    assert watch.longest < LIMIT
    # Those that take longest use up a budget on purpose; others take milliseconds.
    assert watch.slow <= cases / 50, f"{watch.slow} cases took over {SLOW} s"


@pytest.mark.parametrize("kind", CASES)
def test_what_is_read_is_refused_or_shown(kind, seeds, tmp_path):
    readers, watch = Readers(seeds, tmp_path), Watch()
    for number in range(CASES[kind]):
        getattr(readers, kind)(watch, number)
    assert_sound(watch, CASES[kind])
    if kind != "printed":  # its refusals are exit codes
        assert watch.refused > CASES[kind] / 20


def test_spoiled_entries_of_the_cache_are_trained_again(tmp_path):
    stores, watch = Stores(tmp_path), Watch()
    for number in range(250):
        stores.store(watch, number)
    assert_sound(watch, 250)
    assert 60 < watch.refused < 250  # some changes are of notes, which do not count


def test_the_harness_sees_a_hang_and_a_traceback():
    watch = Watch()

    def spin():
        while True:
            pass

    def fail():
        raise KeyError("x")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmarks.hostile.watch.LIMIT", 0.05)
        watch.run("a", spin)
    watch.run("b", fail)
    watch.run("c", fail, (KeyError,))
    assert [x.case for x in watch.faults] == ["a", "b"]
    assert "hang" in watch.faults[0].what
    assert "KeyError" in watch.faults[1].what
    assert (watch.cases, watch.refused) == (3, 1)
