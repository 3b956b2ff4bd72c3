"""How checks are handed to workers that die, without any process."""

from types import SimpleNamespace

import pytest

from verify.ledger import EachOnce


class Worker:
    """Counts what it is sent; begins a check when it knows the next, or the end."""

    gateway = SimpleNamespace(id="gw")

    def __init__(self, nodes):
        self.nodes = nodes
        self.sent = []
        self.shutting_down = False

    def send_runtest_some(self, indices):
        self.sent += [self.nodes[i] for i in indices]

    def shutdown(self):
        self.shutting_down = True

    def can_begin(self, done):
        """Whether the next check begins."""
        waiting = len(self.sent) - done
        return waiting >= 2 or (waiting == 1 and self.shutting_down)


@pytest.fixture
def config(pytestconfig, monkeypatch):
    """The configuration of a session with two workers."""
    monkeypatch.setattr(pytestconfig.option, "tx", ["2*popen"])
    monkeypatch.setattr(pytestconfig.option, "px", [], raising=False)
    monkeypatch.setattr(pytestconfig.option, "loadscopereorder", False)
    return pytestconfig


def begun(config, count):
    """A scheduler with two workers at their first checks."""
    nodes = [f"theorems/toy/a.py::check_{i}" for i in range(count)]
    schedule = EachOnce(config, None, {node: node for node in nodes})
    workers = [Worker(nodes), Worker(nodes)]
    for worker in workers:
        schedule.add_node(worker)
        schedule.add_node_collection(worker, nodes)
    schedule.schedule()
    return schedule, nodes, workers


def replaced(schedule, nodes, dead):
    """Let a worker die, and another take its place."""
    died = schedule.remove_node(dead)
    worker = Worker(nodes)
    schedule.add_node(worker)
    schedule.add_node_collection(worker, nodes)
    schedule.schedule()
    return died, worker


def run(schedule, nodes, workers):
    """Let workers run what they can; the order in which it was run."""
    ran, done = [], dict.fromkeys(workers, 0)
    while ready := [w for w in workers if w.can_begin(done[w])]:
        worker = ready[0]
        node = worker.sent[done[worker]]
        done[worker] += 1
        ran.append(node)
        schedule.mark_test_complete(worker, nodes.index(node))
    return ran


@pytest.mark.parametrize("count", range(2, 9))
def test_every_check_runs_once_without_and_with_a_death(config, count):
    schedule, nodes, workers = begun(config, count)
    assert sorted(run(schedule, nodes, workers)) == nodes
    schedule, nodes, workers = begun(config, count)
    died, other = replaced(schedule, nodes, workers[0])
    ran = run(schedule, nodes, [workers[1], other])
    assert sorted([died, *ran]) == nodes
    assert not schedule.has_pending


def test_a_worker_dies_while_another_one_still_collects(config):
    schedule, nodes, (one, two) = begun(config, 6)
    died = [schedule.remove_node(one)]
    late = Worker(nodes)
    schedule.add_node(late)
    died.append(schedule.remove_node(two))
    assert late.sent == []
    schedule.add_node_collection(late, nodes)
    schedule.schedule()
    assert sorted(died + run(schedule, nodes, [late])) == nodes
