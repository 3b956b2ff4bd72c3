"""The feed: processes tell how far their studies are, the controller shows it."""

import time

import pytest

from verify import feed
from verify.feed import Feed
from verify.progress import Progress


@pytest.fixture
def slowly(monkeypatch):
    """A clock that only moves when it is told to."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def states(folder):
    return [(s.name, s.done, s.total) for s in feed.read(folder)]


def test_states_are_told_and_forgotten(tmp_path, slowly):
    tell = Feed(tmp_path)
    tell("a", 10, 40)
    tell("b", 1, 2)
    assert states(tmp_path) == [("a", 10, 40), ("b", 1, 2)]
    slowly[0] += 5
    tell("a", 20, 40)
    (state,) = (s for s in feed.read(tmp_path) if s.name == "a")
    assert (state.rate, state.eta) == (2.0, 10.0)
    assert str(state) == "study a: 20 of 40 runs, 2 runs/s, about 10 s left"
    feed.clear(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_it_does_not_write_all_the_time_but_always_the_end(tmp_path, slowly):
    tell = Feed(tmp_path)
    tell("a", 0, 4)
    slowly[0] += 0.1
    tell("a", 1, 4)
    assert states(tmp_path) == [("a", 0, 4)]
    tell("a", 4, 4)
    assert states(tmp_path) == [("a", 4, 4)]


def test_what_was_in_the_store_does_not_count_as_speed(tmp_path, slowly):
    tell = Feed(tmp_path)
    tell("a", 900, 1000)
    slowly[0] += 10
    tell("a", 910, 1000)
    (state,) = feed.read(tmp_path)
    assert (state.rate, state.eta) == (1.0, 90.0)


def test_trouble_with_the_folder_is_no_trouble(tmp_path):
    (tmp_path / "file").touch()
    Feed(tmp_path / "file")("a", 1, 2)
    assert list(feed.read(tmp_path / "file")) == []
    feed.clear(tmp_path / "file")


def test_half_a_file_is_passed_over(tmp_path):
    Feed(tmp_path)("a", 1, 2)
    (tmp_path / feed.FOLDER / "0-0.json").write_text('["b", 1')
    assert states(tmp_path) == [("a", 1, 2)]


def test_lines_show_what_moved(tmp_path, capfd):
    progress = Progress("lines", folder=tmp_path)
    tell = Feed(tmp_path)
    tell("a", 1, 2)
    progress.look()
    progress.look()
    tell("a", 2, 2)
    progress.look()
    out = capfd.readouterr().out.splitlines()
    assert [line.split(",")[0] for line in out] == [
        "study a: 1 of 2 runs",
        "study a: 2 of 2 runs",
    ]


def test_bars(tmp_path, capfd):
    progress = Progress("bar", folder=tmp_path)
    progress.start(3)
    tell = Feed(tmp_path)
    tell("toy/study", 1, 2)
    progress.look()
    progress.look()
    assert [t.description for t in progress._bar.tasks] == ["checks", "toy/study"]
    assert progress._bar.tasks[1].completed == 1
    progress.stop()
    assert capfd.readouterr().out == ""
    assert not (tmp_path / feed.FOLDER).exists()
