"""Batched pre-training against a literal transcription, one model at a time."""

import math

import pytest
import torch

from verify.train.determinism import deterministic
from verify.train.loop import Status
from verify.train.optimisers import SGD
from verify.train.pretrain import attend, initial_attention, pretrain_attention
from verify.train.tasks import LINEAR, TRIG, draw_prompts, draw_tasks

SEEDS = [2, 7, 1, 8]
EPS = torch.finfo(torch.float64).eps


def layer_as_stated(W_Q, W_K, W_V, X, scale):
    """ren2024, Eq. (1) as self-attention (E.1): h' of the last token of one prompt."""
    query = W_Q @ X[:, -1]
    scores = scale * (W_K @ X).T @ query
    return W_V @ X @ torch.nn.functional.softmax(scores, dim=0)


def pretrain_as_stated(task, seed, steps, lr, scale):
    """One model, one prompt at a time, as E.1 describes it."""
    W = draw_tasks(task, [seed])
    prompts = draw_prompts(task, W, [seed], 0, steps)
    start = initial_attention(task.d, [seed])
    weights = [w[0].clone().requires_grad_() for w in start.values()]
    optimiser = torch.optim.SGD(weights, lr)
    for step in range(steps):
        optimiser.zero_grad()
        h = layer_as_stated(*weights, prompts.X[0, step], scale)
        label = prompts.target[0, step]
        torch.nn.functional.mse_loss(h[task.d_t :], label).backward()
        optimiser.step()
    test = draw_prompts(task, W, [seed], 0, 40, stream="held-out")
    outs = [layer_as_stated(*weights, X, scale)[task.d_t :] for X in test.X[0]]
    labels = test.target[0]
    error = torch.stack(outs).detach() - labels
    nmse = (error**2).mean() / ((labels - labels.mean()) ** 2).mean()
    return [w.detach() for w in weights], float(nmse)


@pytest.mark.parametrize(
    ("task", "steps", "lr", "scale"),
    [(LINEAR, 150, 0.003, None), (LINEAR, 30, 0.005, 1.0), (TRIG, 30, 0.005, 1.0)],
    ids=["linear", "linear-unscaled", "trig"],
)
def test_batched_pretraining_is_the_transcription(task, steps, lr, scale):
    out = pretrain_attention(
        task,
        SEEDS,
        epochs=1,
        optimiser=SGD(lr),
        steps_per_epoch=steps,
        scale=scale,
        held_out=40,
    )
    # One step sums over tokens and d thrice with eps each, in either program; steps
    # of length lr * |gradient| <= |parameters| add up, parameters are below 4.
    tolerance = 2 * steps * (task.tokens + 3 * task.d) * EPS * 4
    for run, seed in enumerate(SEEDS):
        weights, nmse = pretrain_as_stated(
            task, seed, steps, lr, task.d**-0.5 if scale is None else scale
        )
        for ours, expected in zip(out.params.values(), weights, strict=True):
            assert float((ours[run] - expected).abs().max()) <= tolerance
        assert float(out.observed["nmse"][-1, run]) == pytest.approx(
            nmse, rel=40 * tolerance
        )


def test_the_layer_takes_further_axes_between_runs_and_tokens():
    params = initial_attention(LINEAR.d, SEEDS)
    X = draw_prompts(LINEAR, draw_tasks(LINEAR, SEEDS), SEEDS, 0, 3).X
    out = attend(params, X, 0.5)
    assert out.shape == (4, 3, LINEAR.d)
    for run in range(4):
        for step in range(3):
            W = [w[run] for w in params.values()]
            expected = layer_as_stated(*W, X[run, step], 0.5)
            # Sums over 16 tokens and thrice 12 entries of size < 10.
            assert float((out[run, step] - expected).abs().max()) <= 520 * EPS


def test_a_run_does_not_depend_on_the_others():
    together = pretrain_attention(LINEAR, SEEDS, epochs=1, steps_per_epoch=50)
    alone = pretrain_attention(LINEAR, SEEDS[2:3], epochs=1, steps_per_epoch=50)
    for name, p in together.params.items():
        # The rounding of a batched product may follow the batch: as above.
        tolerance = 2 * 50 * (16 + 36) * EPS * 4
        assert float((p[2] - alone.params[name][0]).abs().max()) <= tolerance


def test_training_repeats_to_the_last_bit():
    with deterministic():
        first, second = (
            pretrain_attention(LINEAR, SEEDS, epochs=1, steps_per_epoch=70)
            for _ in range(2)
        )
    assert all(torch.equal(p, second.params[k]) for k, p in first.params.items())
    assert torch.equal(first.observed["nmse"], second.observed["nmse"])


def test_training_lowers_the_held_out_error():
    seeds = list(range(16))
    out = pretrain_attention(LINEAR, seeds, epochs=1)
    start, end = out.observed["nmse"]
    assert out.steps == (0, 1024)
    assert out.status == (Status.FINISHED,) * 16
    assert float(start.median()) > 0.8
    assert float(end.median()) < 0.4
    assert int((end < start).sum()) >= 14


def test_too_large_a_rate_is_reported_not_dropped():
    lr = torch.tensor([0.003, 1e3, 0.003, 0.003], dtype=torch.float64)
    out = pretrain_attention(
        LINEAR, SEEDS, epochs=1, steps_per_epoch=60, optimiser=SGD(lr)
    )
    assert [s is Status.DIVERGED for s in out.status] == [False, True, False, False]
    assert out.observed["nmse"].shape == (2, 4)
    calm = pretrain_attention(LINEAR, SEEDS, epochs=1, steps_per_epoch=60)
    keep = [0, 2, 3]
    for name, p in out.params.items():
        # A tensor of rates and a number may round differently: as above.
        tolerance = 2 * 60 * (16 + 36) * EPS * 4
        assert float((p[keep] - calm.params[name][keep]).abs().max()) <= tolerance


def test_the_limit_reaches_the_loop():
    out = pretrain_attention(LINEAR, SEEDS, epochs=1, steps_per_epoch=3, limit=0.0)
    assert out.diverged_at.tolist() == [0] * 4


def test_initial_entries_have_variance_one_over_d():
    entries = torch.stack(list(initial_attention(12, range(300)).values()))
    count = entries.numel()
    assert abs(float(entries.var()) * 12 - 1) <= 6 * math.sqrt(2 / count)


def test_float32_runs():
    out = pretrain_attention(
        LINEAR, SEEDS, epochs=1, steps_per_epoch=5, dtype=torch.float32
    )
    assert {p.dtype for p in out.params.values()} == {torch.float32}
