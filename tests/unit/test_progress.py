"""Progress: an estimate that is always finite, and plain lines."""

import math
import re
import time

import pytest

from verify.progress import Progress
from verify.record import CheckRecord


def record(name="a", seconds=1.0, **changes):
    given = {
        "claim": "toy/lemma-1", "name": name, "node": "n", "grade": "numeric",
        "scope": "all", "verdict": "HOLDS", "seconds": seconds,
    }  # fmt: skip
    return CheckRecord(**(given | changes))


def ago(progress, seconds):
    """Pretend that the run began some seconds ago."""
    progress.began = time.monotonic() - seconds


@pytest.mark.parametrize("seconds", [0.0, 1e-9, 3.0])
@pytest.mark.parametrize("done", [0, 1, 4])
@pytest.mark.parametrize("elapsed", [0.0, 5.0])
def test_eta_is_finite(seconds, done, elapsed):
    progress = Progress("none")
    progress.start(4)
    for i in range(done):
        progress.advance(record(str(i), seconds))
    ago(progress, elapsed)
    assert math.isfinite(progress.eta())
    assert progress.eta() >= 0
    assert (progress.eta() > 0) == (0 < done < 4 and seconds > 0)


def test_eta_before_the_start():
    assert Progress("none").eta() == 0


def test_eta_extrapolates_the_mean_and_the_speed():
    progress = Progress("none")
    progress.start(10)
    for i in range(4):
        progress.advance(record(str(i), 2.0))
    ago(progress, 8)
    assert progress.eta() == pytest.approx(12, rel=1e-2)
    ago(progress, 4)  # two at a time
    assert progress.eta() == pytest.approx(6, rel=1e-2)


def test_eta_weighs_by_the_run_before():
    known = {("toy/lemma-1", name): 50.0 for name in "bc"}
    progress = Progress("none", known | {("toy/lemma-1", "a"): 1.0})
    progress.start(3)
    progress.advance(record("a", 1.0))
    ago(progress, 1)
    assert progress.eta() == pytest.approx(100, rel=1e-2)
    progress.advance(record("b", 50.0))
    ago(progress, 51)
    assert progress.eta() == pytest.approx(50, rel=1e-2)
    progress.skip()
    assert progress.eta() == 0


def test_lines(capfd):
    progress = Progress("lines")
    progress.start(2)
    progress.advance(record("a", 1.25))
    progress.advance(record("b", verdict="REFUTED", grade="property"))
    progress.stop()
    first, second = capfd.readouterr().out.splitlines()
    assert re.match(
        r"\[1/2, about \d+ s left\] HOLDS +numeric +toy/lemma-1 a \(", first
    )
    assert re.match(r"\[2/2\] REFUTED +property +toy/lemma-1 b \(1\.0 s\)$", second)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"broken": "x"}, "BROKEN"),
        ({"role": "necessity", "verdict": "REFUTED"}, "NEEDED"),
        ({"role": "necessity"}, "NOT_NEEDED"),
    ],
)
def test_lines_print_the_word_of_the_node(capfd, change, word):
    progress = Progress("lines")
    progress.start(1)
    progress.advance(record(**change))
    assert capfd.readouterr().out.split()[1] == word


def test_none_is_silent_and_the_bar_is_on_stderr(capfd):
    for mode in ("none", "bar"):
        progress = Progress(mode)
        progress.start(2)
        progress.advance(record("a"))
        progress.skip()
        progress.stop()
        progress.stop()
        assert progress.done == 2
        assert capfd.readouterr().out == ""


def test_second_start_changes_nothing():
    progress = Progress("none")
    progress.start(0)
    assert progress.total == 0
    progress.start(3)
    progress.start(7)
    assert progress.total == 3
