import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from verify.train.tasks import (
    BLOCK,
    EXP,
    LINEAR,
    TRIG,
    draw_prompts,
    draw_tasks,
    prompt_stream,
)

SEEDS = [3, 14, 15, 92, 65]
TASKS = pytest.mark.parametrize("task", [LINEAR, TRIG, EXP], ids=lambda t: t.name)
SCALAR = {"linear": lambda z: z, "trig": math.cos, "exp": math.exp}


def test_sizes_are_those_of_the_paper():
    assert [(t.d_t, t.d_s, t.tokens) for t in (LINEAR, TRIG, EXP)] == [
        (11, 1, 16),
        (7, 1, 128),
        (6, 1, 512),
    ]
    assert [(t.low, t.high) for t in (LINEAR, TRIG, EXP)] == [
        (-1, 1),
        (0, math.pi),
        (-1, 1),
    ]


@TASKS
def test_prompts_are_the_formula_with_the_query_masked(task):
    W = draw_tasks(task, SEEDS)
    X, target = draw_prompts(task, W, SEEDS, 2, 5)
    assert X.shape == (5, 3, task.d, task.tokens)
    assert target.shape == (5, 3, 1)
    assert X.dtype == target.dtype == torch.float64
    X, target, W = X.numpy(), target.numpy(), W.numpy()
    for run, step in np.ndindex(5, 3):
        t, s = X[run, step, : task.d_t], X[run, step, task.d_t]
        labels = [SCALAR[task.name](W[run, 0] @ column) for column in t.T]
        # d_t products summed in another order, then a function of slope <= |label|.
        size = np.abs(W[run, 0]) @ np.abs(t).max(axis=1)
        tolerance = (task.d_t + 2) * 2.3e-16 * size * max(1, np.max(np.abs(labels)))
        assert np.abs(s[:-1] - labels[:-1]).max() <= tolerance
        assert s[-1] == 0
        assert abs(target[run, step, 0] - labels[-1]) <= tolerance


@TASKS
def test_inputs_are_uniform(task):
    W = draw_tasks(task, SEEDS)
    X, _ = draw_prompts(task, W, SEEDS, 0, 64)
    u = (X[..., : task.d_t, :] - task.low) / (task.high - task.low)
    assert 0 <= float(u.min()) < float(u.max()) <= 1
    count = u.numel()
    # Standard errors of mean and variance of U(0, 1); 6 of them: false alarm 2e-9.
    assert abs(float(u.mean()) - 1 / 2) <= 6 / math.sqrt(12 * count)
    assert abs(float(u.var()) - 1 / 12) <= 6 / math.sqrt(180 * count)


def test_tasks_are_standard_normal():
    W = draw_tasks(LINEAR, range(2000))
    count = W.numel()
    assert abs(float(W.mean())) <= 6 / math.sqrt(count)
    assert abs(float(W.var()) - 1) <= 6 * math.sqrt(2 / count)


@TASKS
def test_draws_do_not_depend_on_the_split_of_the_runs(task):
    W = draw_tasks(task, SEEDS)
    whole = draw_prompts(task, W, SEEDS, 0, 3)
    for run, seed in enumerate(SEEDS):
        assert torch.equal(draw_tasks(task, [seed])[0], W[run])
        alone = draw_prompts(task, W[run : run + 1], [seed], 0, 3)
        t = slice(None, task.d_t)
        assert torch.equal(alone.X[0, :, t], whole.X[run, :, t])
        # The labels are a product, whose rounding may follow the batch.
        torch.testing.assert_close(alone.X[0], whole.X[run], rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("cuts", [(1, 2), (63, 64, 65), (100,), (7, 130, 131)])
def test_draws_do_not_depend_on_the_chunks(cuts):
    W = draw_tasks(LINEAR, SEEDS)
    whole = draw_prompts(LINEAR, W, SEEDS, 0, 140)
    edges = [0, *cuts, 140]
    parts = [draw_prompts(LINEAR, W, SEEDS, a, b) for a, b in pairwise(edges)]
    for field in ("X", "target"):
        joined = torch.cat([getattr(part, field) for part in parts], dim=1)
        assert torch.equal(joined, getattr(whole, field))


def test_the_stream_serves_the_same_prompts_in_any_order():
    W = draw_tasks(LINEAR, SEEDS)
    whole = draw_prompts(LINEAR, W, SEEDS, 0, 3 * BLOCK)
    at = prompt_stream(LINEAR, W, SEEDS)
    for step in (0, 2 * BLOCK, 1, BLOCK - 1, BLOCK, 5):
        X, target = at(step)
        assert X.is_contiguous()
        assert torch.equal(X, whole.X[:, step])
        assert torch.equal(target, whole.target[:, step])


def test_streams_and_blocks_differ():
    W = draw_tasks(LINEAR, SEEDS)
    train = draw_prompts(LINEAR, W, SEEDS, 0, 2 * BLOCK).X
    held_out = draw_prompts(LINEAR, W, SEEDS, 0, BLOCK, stream="held-out").X
    for other in (held_out, train[:, BLOCK:]):
        assert not torch.isin(other[:, :, 0], train[:, :BLOCK, 0]).any()


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (3, 3), (4, 2)])
def test_bad_ranges_are_named(start, stop):
    W = draw_tasks(LINEAR, SEEDS)
    with pytest.raises(ValueError, match="`start`"):
        draw_prompts(LINEAR, W, SEEDS, start, stop)
