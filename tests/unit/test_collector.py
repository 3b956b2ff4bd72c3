"""The garbage collector is paused and told, and left as it was found."""

import gc

import pytest

from verify.collector import THRESHOLDS, paused, settle


@pytest.fixture(autouse=True)
def restored():
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()
    gc.enable()


def test_paused_inside_alone():
    with paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_on_again_after_an_error():
    with pytest.raises(RuntimeError), paused():
        raise RuntimeError
    assert gc.isenabled()


def test_off_stays_off():
    gc.disable()
    with paused():
        pass
    assert not gc.isenabled()


def test_what_is_there_is_left_out_and_what_comes_is_not():
    before = gc.get_freeze_count()
    kept = [[] for _ in range(1000)]
    settle()
    assert gc.get_freeze_count() >= before + len(kept)
    assert gc.get_threshold() == THRESHOLDS
    later = [[]]
    assert any(x is later for x in gc.get_objects())
    assert not any(x is kept for x in gc.get_objects())
