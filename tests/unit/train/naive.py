"""In-context regression and its attention unit, one model and one number at a time.

Random numbers and prompts are given; everything else is as the text says it.
"""

import math

import torch


def function(task, direction, scales):
    """The function a task draws; `scales` as `verify.train.icl.values` has them."""

    def affine(x):
        slope, offset = scales
        return slope * inner(direction, x) + offset

    def relu(x):
        rising, falling, offset = scales
        along = inner(direction, x)
        return rising * max(along, 0.0) + falling * max(-along, 0.0) + offset

    def cosine(x):
        return math.cos(scales[0] * inner(direction, x))

    return {"affine": affine, "relu": relu, "cosine": cosine}[task]


def inner(a, b):
    return sum(float(s) * float(t) for s, t in zip(a, b, strict=True))


def on_sphere(numbers, covariates="isotropic"):
    """S^{1/2} g over its norm, S = diag(1..d) or the identity."""
    d = len(numbers)
    roots = [
        math.sqrt(k) if covariates != "isotropic" else 1.0 for k in range(1, d + 1)
    ]
    scaled = [root * float(g) for root, g in zip(roots, numbers, strict=True)]
    norm = math.sqrt(sum(s * s for s in scaled))
    return [s / norm for s in scaled]


def prompt(setting, numbers, scales, L, sigma):
    """One run's prompt, from rows of standard normal numbers and scales in [-1, 1].

    A row is a point and the noise of its label: the direction, queries, tokens.
    """
    direction = on_sphere(numbers[0][:-1])
    rows = numbers[1:]
    points = [on_sphere(row[:-1], setting.covariates) for row in rows]
    drawn = [L * float(s) for s in scales] if setting.task != "cosine" else [L]
    f = function(setting.task, direction, drawn)
    N = setting.queries
    x, query = points[N:], points[:N]
    noise = [float(row[-1]) for row in rows[N:]]
    y = [f(point) + sigma * e for point, e in zip(x, noise, strict=True)]
    return x, y, query, [f(point) for point in query]


def predict(M, x, y, query):
    """Softmax attention of one query to the labelled tokens."""
    scores = torch.stack([token @ M @ query for token in x])
    weights = torch.exp(scores - scores.max())
    weights = weights / weights.sum()
    total = torch.zeros((), dtype=M.dtype)
    for weight, label in zip(weights, y, strict=True):
        total = total + weight * label
    return total


def loss(W, x, y, query, target):
    """Mean squared error over the queries of one prompt."""
    M = W.T @ W
    errors = [
        (predict(M, x, y, q) - f) ** 2 for q, f in zip(query, target, strict=True)
    ]
    return sum(errors) / len(errors)


def train(prompts, lr, decay, init=0.001):
    """Adam from `init` times the identity, a step per prompt; W and the losses."""
    d = prompts[0][0].shape[-1]
    W = torch.nn.Parameter(init * torch.eye(d, dtype=torch.float64))
    optimiser = torch.optim.Adam([W], lr)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, decay)
    losses = []
    for parts in prompts:
        optimiser.zero_grad()
        value = loss(W, *parts)
        value.backward()
        optimiser.step()
        schedule.step()
        losses.append(value.item())
    return W.detach(), losses
