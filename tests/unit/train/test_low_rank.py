"""Low-rank tasks: literal prompts, closed-form gradients, frames and their blocks."""

import pytest
import torch

from verify.train.low_rank import (
    FUNCTIONS,
    LowRankTasks,
    Setting,
    frames,
    keys_of,
    linear_gradient,
    linear_loss,
    structure,
)

TASKS = ("affine", "quadratic", "cosine", "linear", "affine", "quadratic")
SEEDS = [3, 4, 3, 4, 3, 4]


def tasks_of(covariates="skewed", noise=0.0, spurious=None, seeds=SEEDS, names=TASKS):
    setting = Setting(tuple(names), covariates, 6, 2, 5)
    return LowRankTasks(setting, seeds, noise, spurious)


def test_frames_are_orthonormal_and_depend_on_the_key_alone():
    keys = keys_of(range(5), "frames")
    found = frames(keys, 6, 2)
    whole = torch.cat([found.B, found.other], dim=-1)
    eye = torch.eye(6, dtype=torch.float64).expand(5, 6, 6)
    torch.testing.assert_close(whole.mT @ whole, eye, rtol=0, atol=1e-13)
    torch.testing.assert_close(found.J, found.J.mT, rtol=0, atol=1e-12)
    assert torch.equal(frames(keys[2:3], 6, 2).B[0], found.B[2])
    assert not torch.allclose(frames(keys, 6, 2, 1).B, found.B)


@pytest.mark.parametrize("covariates", ["skewed", "product"])
def test_labels_are_functions_of_few_directions(covariates):
    spurious = torch.tensor([1.0, 2.0, 4.0, 1.0, 2.0, 4.0], dtype=torch.float64)
    tasks = tasks_of(covariates, spurious=spurious)
    prompt = tasks.draw(range(3))
    z = prompt.x @ tasks.frames.B[:, None]
    length = prompt.x.square().sum(-1)
    if covariates == "skewed":
        torch.testing.assert_close(length, torch.ones_like(length))
    else:
        torch.testing.assert_close(z.square().sum(-1), torch.ones_like(length))
        expected = (1 + spurious**2)[:, None, None].expand_as(length)
        torch.testing.assert_close(length, expected)
    # The linear run tells a; the others of its seed share it.
    linear = TASKS.index("linear")
    y, inside = prompt.y[linear], z[linear]
    a = torch.linalg.lstsq(inside, y[..., None]).solution
    torch.testing.assert_close(a.square().sum((-2, -1)), torch.ones(3).double())
    for run, name in enumerate(TASKS):
        if SEEDS[run] == SEEDS[linear]:
            expected = FUNCTIONS[name]((z[run] @ a)[..., 0])
            torch.testing.assert_close(prompt.y[run], expected)


def test_runs_of_one_seed_are_paired_and_independent_of_the_batch():
    whole = tasks_of(noise=0.3).draw(range(4, 6))
    assert torch.equal(whole.x[0], whole.x[2])
    alone = tasks_of(noise=0.3, seeds=[4], names=["cosine"]).draw(range(4, 6))
    other = tasks_of(noise=0.3, seeds=[4, 4, 3], names=["cosine"] * 3).draw(range(4, 6))
    # Up to rounding: the order of summation may follow the number of runs.
    torch.testing.assert_close(alone.x[0], whole.x[1], rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(other.y[1], alone.y[0], rtol=1e-12, atol=1e-14)
    assert not torch.equal(whole.x[0], tasks_of().draw(range(2), held_out=True).x[0])


def test_prompts_serve_what_is_drawn():
    tasks = tasks_of(noise=0.1)
    at = tasks.prompts()
    drawn = tasks.draw(range(70, 71))
    for one, other in zip(at(70), drawn, strict=True):
        assert torch.equal(one, other[:, 0])


def test_the_gradient_of_linear_attention_is_that_of_its_literal_loss():
    prompt = tasks_of(noise=0.1).prompts()(0)
    generator = torch.Generator().manual_seed(1)
    W = torch.randn(6, 6, 6, generator=generator, dtype=torch.float64)
    losses, grads = linear_gradient({"W": W}, prompt)
    leaf = W.clone().requires_grad_()
    literal = linear_loss({"W": leaf}, prompt)
    (expected,) = torch.autograd.grad(literal.sum(), leaf)
    torch.testing.assert_close(losses, literal.detach(), rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(grads["W"], expected, rtol=1e-9, atol=1e-10)
    x, y, query, target = (part[2] for part in prompt)
    M = W[2].T @ W[2]
    naive = sum(y[i] * (x[i] @ M @ query[0]) for i in range(len(y))) - target[0]
    assert float(losses[2]) == pytest.approx(float(naive**2), rel=1e-10)


def test_blocks_are_measured_by_their_singular_values():
    found = frames(keys_of(range(3), "frames"), 6, 2)
    generator = torch.Generator().manual_seed(2)
    W = torch.randn(3, 6, 6, generator=generator, dtype=torch.float64)
    W[2] = torch.nan
    seen = structure(W, found)
    M = (W.mT @ W)[0]
    for name, basis in (("relevant", found.B[0]), ("spurious", found.other[0])):
        values = torch.linalg.svdvals(basis.T @ M @ basis)
        torch.testing.assert_close(seen[f"{name}_most"][0], values[0])
        torch.testing.assert_close(seen[f"{name}_least"][0], values[-1])
    assert seen["relevant_mean"][2].isnan()


@pytest.mark.parametrize(
    ("names", "covariates", "k", "n"),
    [
        ((), "skewed", 2, 5),
        (("cubic",), "skewed", 2, 5),
        (("affine",), "round", 2, 5),
        (("affine",), "skewed", 6, 5),
        (("affine",), "skewed", 2, 0),
    ],
)
def test_settings_out_of_range_are_refused(names, covariates, k, n):
    with pytest.raises(ValueError, match=r"must"):
        Setting(names, covariates, 6, k, n)
    with pytest.raises(ValueError, match="tasks for"):
        tasks_of(seeds=[1])
