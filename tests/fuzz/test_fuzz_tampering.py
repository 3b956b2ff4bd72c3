"""Tampered evidence is never accepted, by a decision that shares no code with ours."""

import copy

import pytest

from benchmarks.hostile import records, tamper, truth
from benchmarks.hostile.watch import Watch

TRIES = {"enclosure": 60, "polynomial": 120}


@pytest.mark.parametrize("kind", truth.DECIDERS)
def test_no_false_record_is_accepted(kind):
    score, watch, tries = tamper.Score(), Watch(), TRIES.get(kind, 250)
    tamper.campaign(records.every(), kind, range(tries), 0, score, watch)
    assert (score.examples, watch.faults) == ([], [])
    assert score.false > tries / 4
    # And true ones are not refused: the two decisions are about the same thing.
    assert score.true > tries / 20
    assert score.lost == []


def test_every_change_of_a_field_shows(seeds):
    score, watch = tamper.fields(seeds, range(300), 0)
    assert (score.examples, watch.faults) == ([], [])
    assert score.false > 240


@pytest.mark.parametrize("number", range(len(records.every())))
def test_the_second_decision_knows_true_from_false(number):
    record = records.every()[number]
    assert truth.decide(record) is True
    if relation := record.get("relation"):
        other = copy.deepcopy(record)
        if record.get("aggregate") == "any":
            other["relation"][2] = "-99"
        elif isinstance(relation, list):
            other["relation"][0] = tamper.TURNED[relation[0]]
        else:
            other["terms"][0][0] = "-99"
        assert truth.decide(other) is False
