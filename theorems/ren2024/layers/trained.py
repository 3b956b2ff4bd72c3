"""Pre-trained layers, and their dual models trained by autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from theorems.ren2024.layers.floating import Arrays, gram_arrays, joined, rounding_bound
from verify import Claim, Figure, Series
from verify.symbolic import Compiled, evaluate
from verify.train.attention import RESIDUAL_BOUND, gram_features, softmax_attention
from verify.train.determinism import deterministic, generator
from verify.train.pretrain import pretrain_attention
from verify.train.seeds import seed_of
from verify.train.tasks import LINEAR, draw_prompts, draw_tasks


@dataclass(frozen=True, eq=False)
class TrainedLayer:
    """Layers at trained weights with one test prompt each, for one reading.

    Attributes:
        arrays: Values, exact softmax features and learning rates, leading axis runs.
        attention: Softmax attention of the query, ``(runs, d_o, 1)``.
        tolerance: Bound on the rounding error, ``(runs,)``.
    """

    arrays: Arrays
    attention: Tensor
    tolerance: Tensor


@dataclass(frozen=True, eq=False)
class Pretrained:
    """The study: one layer per seed.

    Attributes:
        layers: By reading.
        discards: Runs not judged, by reason.
        says: What was trained, and how well, in words.
    """

    layers: dict[str, TrainedLayer]
    discards: dict[str, int]
    says: str


def pretrain(
    runs: int,
    epochs: int,
    seed: int,
    device: str,
    progress: Callable[[int, int], object] | None = None,
) -> Pretrained:
    """Pre-train softmax self-attention on the linear task of §5, one run per seed.

    Args:
        runs: Number of seeds.
        epochs: Of 1024 prompts with 16 tokens each.
        seed: Root of the seeds of the runs.
        device: Where to train.
        progress: Called with steps done and their number.

    Returns:
        For each reading the layers on one fresh prompt: without the query among its
        keys 12 demonstrations and 3 query tokens, with it 15 demonstrations.
    """
    seeds = [seed_of(seed, "run", run) for run in range(runs)]
    with deterministic():
        trajectory = pretrain_attention(
            LINEAR, seeds, epochs=epochs, device=device, progress=progress
        )
        tasks = draw_tasks(LINEAR, seeds, device)
        prompts = draw_prompts(LINEAR, tasks, seeds, 0, 1, stream="test").X[:, 0]
    nmse = trajectory.observed["nmse"].cpu()
    kept = trajectory.diverged_at < 0
    params = {name: w[kept].cpu() for name, w in trajectory.params.items()}
    X = prompts[kept].cpu()
    draws = torch.rand(len(X), generator=generator(seed, "eta"), dtype=X.dtype)
    eta = 10 ** (-3 + 5 * draws)
    _, keys, query = _projected(params, X)
    points = torch.cat([keys, query], dim=-1)
    judged = gram_features(points, strict=False).residual <= RESIDUAL_BOUND
    params = {name: w[judged] for name, w in params.items()}
    X, eta = X[judged], eta[judged]
    discards = {
        "diverged in pre-training": int((~kept).sum()),
        "float64 has no exact softmax features": int((~judged).sum()),
    }
    return Pretrained(
        {
            "keys-without-query": layer_of(params, X, eta, demonstrations=12),
            "keys-with-query": layer_of(params, X, eta, demonstrations=15),
        },
        {reason: count for reason, count in discards.items() if count},
        f"{runs} seeds, {epochs} epochs of 1024 prompts; median held-out error "
        f"{float(nmse[0].median()):.2g} before and {float(nmse[-1].median()):.2g} "
        "after, in units of the label's variance",
    )


def layer_of(
    params: dict[str, Tensor], X: Tensor, eta: Tensor, *, demonstrations: int
) -> TrainedLayer:
    """Describe trained layers on given prompts by values and exact softmax features.

    Args:
        params: ``W_Q, W_K, W_V``, each ``(runs, d, d)``.
        X: Prompts, ``(runs, d, tokens)``; the last token is the query.
        eta: Learning rates of the dual models, ``(runs,)``.
        demonstrations: How many leading tokens are demonstrations; the others up to
            the query are query tokens. When none are left, the query attends to itself.

    Returns:
        The layers, for the reading without the query where query tokens are left.
    """
    return layer_from(*_projected(params, X), eta, demonstrations)


def _projected(params: dict[str, Tensor], X: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    scale = X.shape[-2] ** -0.25  # 1/√d of the scores, shared by keys and query
    values, keys = params["W_V"] @ X, scale * params["W_K"] @ X
    return values, keys, scale * params["W_Q"] @ X[..., -1:]


def layer_from(
    values: Tensor, keys: Tensor, q: Tensor, eta: Tensor, demonstrations: int
) -> TrainedLayer:
    """As :func:`layer_of`, from values, keys and query (scaled by ``d**-0.25``)."""
    rest = values.shape[-1] - 1 - demonstrations
    reading = "keys-without-query" if rest else "keys-with-query"
    parts = [demonstrations, rest, 1]
    V = dict(zip(("V_D", "V_T", "v_q"), values.split(parts, dim=-1), strict=True))
    K = dict(zip(("Phi_D", "Phi_T", "phi_k"), keys.split(parts, dim=-1), strict=True))
    arrays, exponents, residual = gram_arrays(V, K, q)
    attention = softmax_attention(
        joined(reading, V | K, 0), joined(reading, V | K, 1), q
    )
    tolerance = rounding_bound(reading, arrays, exponents=exponents, residual=residual)
    return TrainedLayer(arrays | {"eta": eta}, attention, tolerance)


def dual_distances(
    claim: Claim, layer: TrainedLayer, samples: Sequence[slice]
) -> np.ndarray:
    """Train the claim's dual model by autograd SGD and follow its distance.

    Args:
        claim: With parameters ``loss``, ``init``, ``normaliser``, ``steps`` and
            ``step_length``.
        layer: Layers at trained weights.
        samples: The demonstrations of each training round; a round makes
            ``claim.steps`` steps on the loss of its demonstrations.

    Returns:
        Distance of the prediction to the attention output before the first round and
        after each, ``(rounds + 1, runs)``.
    """
    arrays = layer.arrays
    normaliser = _per_run(evaluate(claim.normaliser, _sized(arrays), "torch"), layer)
    fixed = arrays | {"D": normaliser}
    init = evaluate(claim.init, _sized(fixed), "torch")
    shape = (layer.attention.shape[0], *init.shape[-2:])
    weights = init.expand(shape).clone()
    rate = float(claim.step_length) * arrays["eta"][:, None, None]
    loss = Compiled(claim.loss, "torch")
    distances = [_distance(weights, layer)]
    for sample in samples:
        batch = fixed | {name: arrays[name][..., sample] for name in ("V_D", "Phi_D")}
        for _ in range(int(claim.steps)):
            weights.requires_grad_()
            value = loss(batch | {"W": weights}).sum()
            (slope,) = torch.autograd.grad(value, weights)
            weights = (weights - rate * slope).detach()
        distances.append(_distance(weights, layer))
    return torch.stack(distances).numpy()


def _sized(arrays: Arrays) -> Arrays:
    (d_o, n), d_r = arrays["V_D"].shape[-2:], arrays["p"].shape[-2]
    return arrays | {"N": n, "T": arrays["V_T"].shape[-1], "d_o": d_o, "d_r": d_r}


def _per_run(value: Tensor | float, layer: TrainedLayer) -> Tensor:
    runs = layer.attention.shape[0]
    return torch.as_tensor(value, dtype=torch.float64).expand(runs)


def _distance(weights: Tensor, layer: TrainedLayer) -> Tensor:
    prediction = weights.detach() @ layer.arrays["p"]
    return (prediction - layer.attention).norm(dim=(-2, -1))


def path_figure(claim: Claim, path: np.ndarray, layer: TrainedLayer, n: int) -> Figure:
    """Figure 3, left: the distance during single-sample steps, relative to ‖h'‖."""
    size = layer.attention.norm(dim=(-2, -1)).numpy()
    relative = np.maximum(path / size, np.finfo(float).eps / 4)
    steps = list(range(len(path)))
    low, middle, high = np.quantile(relative, (0.05, 0.5, 0.95), axis=1).tolist()
    return Figure(
        name=f"dual-path-{claim.reading}",
        title="Distance of the dual model to the attention output",
        x_label="single-sample gradient steps",
        y_label="‖ŷ - h'‖ / ‖h'‖",
        series=(Series("median and 5-95 % of the runs", steps, middle, low, high),),
        y_log=True,
        marks={"N": float(n)},
        caption=(
            f"After exactly N = {n} steps the prediction equals the attention output "
            "to rounding (values below 5.6e-17 are drawn there); the way there is not "
            "monotone."
        ),
    )
