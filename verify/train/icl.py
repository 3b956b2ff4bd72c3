"""In-context regression on the unit sphere: one fresh task and prompt per step.

A prompt shows ``n`` labelled covariates ``y_i = f(x_i) + σ ε_i`` and asks for
``f`` at ``N`` further ones. ``f`` is drawn anew at every step from a class with
Lipschitz constant at most a multiple of ``L``:

- ``affine``: ``l wᵀx + b``;
- ``relu``: ``l₁ (wᵀx)₊ + l₂ (−wᵀx)₊ + b``;
- ``cosine``: ``cos(L wᵀx)``;

``w`` uniform on the sphere, ``l, l₁, l₂, b`` independent and uniform on ``[−L, L]``.
A prompt is a function of the run's key and the step. Runs of one key with different
``L`` and ``σ`` see the same covariates, directions and standard noise, and prompts
of different ``n`` begin with the same tokens, so that comparisons are paired.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from verify.train.random import STEPS, normal, uniform

# How many numbers of U[-1, 1], times L, each class takes besides its direction.
TASKS = {"affine": 2, "relu": 3, "cosine": 0}
COVARIATES = ("isotropic", "non-isotropic")
_TRAINING, _HELD_OUT = (0, 1), (2, 3)
# Normal numbers drawn at once. On a CPU they and their temporaries fit into a shared
# cache; the steps of 100 runs then cost a third less than one by one.
_AT_ONCE = {"cpu": 2**19, "cuda": 2**24}
_LONGEST = 64


@dataclass(frozen=True)
class Setting:
    """What the runs of one batch have in common.

    Attributes:
        task: Class of functions: ``"affine"``, ``"relu"`` or ``"cosine"``; or one per
            run, as a tuple.
        covariates: ``"isotropic"``: uniform on the sphere; ``"non-isotropic"``:
            ``S^{1/2} g / ‖S^{1/2} g‖`` with ``S = diag(1..d)``, ``g ~ N(0, I)``; or one
            per run, as a tuple.
        d: Size of a covariate, at least 2.
        n: Labelled tokens of a prompt, at least 1.
        queries: Unlabelled tokens of a prompt, at least 1.

    Raises:
        ValueError: If a name is unknown or a size too small.
    """

    task: str | tuple[str, ...]
    covariates: str | tuple[str, ...]
    d: int
    n: int
    queries: int

    def __post_init__(self) -> None:
        for name, known in (("task", tuple(TASKS)), ("covariates", COVARIATES)):
            value = getattr(self, name)
            for one in (value,) if isinstance(value, str) else value or ("",):
                if one not in known:
                    raise ValueError(f"`{name}` must be one of {known}, got {one!r}")
        for name, least in (("d", 2), ("n", 1), ("queries", 1)):
            if (value := getattr(self, name)) < least:
                raise ValueError(f"`{name}` must be >= {least}, got {value}")


class Prompt(NamedTuple):
    """The prompts of all runs at one step, runs last in memory.

    Attributes:
        x: Labelled covariates, ``(runs, n, d)``.
        y: Their labels with noise, ``(runs, n)``.
        query: Further covariates, ``(runs, queries, d)``.
        target: The function's values there, without noise, ``(runs, queries)``.
    """

    x: Tensor
    y: Tensor
    query: Tensor
    target: Tensor


def values(task: str, x: Tensor, direction: Tensor, scales: Tensor) -> Tensor:
    """Evaluate the functions of one class, without noise.

    Args:
        task: Name of the class.
        x: Covariates, ``(runs, ..., tokens, d)``.
        direction: ``w``, ``(runs, ..., d)``.
        scales: ``(runs, ..., k)``: ``l, b`` of ``affine``; ``l₁, l₂, b`` of ``relu``;
            ``L`` of ``cosine``.

    Returns:
        Shape ``(runs, ..., tokens)``.
    """
    along = _sum_last(x * direction.unsqueeze(-2))
    first = scales[..., :1]
    if task == "cosine":
        return torch.cos(first * along)
    if task == "affine":
        return (first * along).add_(scales[..., 1:])
    falling = scales[..., 1:2] * (-along).clamp_min_(0)
    return (first * along.clamp_min_(0)).add_(falling).add_(scales[..., 2:])


def draw(
    setting: Setting,
    keys: Tensor,
    lipschitz: Tensor,
    noise: Tensor,
    step: int,
    *,
    held_out: bool = False,
) -> Prompt:
    """Draw the prompts of one step.

    Args:
        setting: What the runs have in common.
        keys: ``(runs, 2)``, from :func:`verify.train.random.keys_of`.
        lipschitz: ``L``, ``(runs,)``, float64.
        noise: ``σ``, ``(runs,)``, float64.
        step: Which step, at least 0.
        held_out: Draw from streams that training does not see.

    Returns:
        Prompts in float64 on the device of ``keys``.
    """
    _check(keys, lipschitz, noise)
    steps = range(step, step + 1)
    block = _draw(setting, keys, lipschitz, noise, steps, held_out=held_out)
    return Prompt(*(part[:, 0] for part in block))


def prompts(
    setting: Setting,
    keys: Tensor,
    lipschitz: Tensor,
    noise: Tensor,
    *,
    held_out: bool = False,
) -> Callable[[int], Prompt]:
    """Serve the prompts step by step; the arguments are those of :func:`draw`.

    Steps are drawn several at once, as many as the number of runs leaves room for;
    a prompt is a view of theirs, to be read only.

    Args:
        setting: What the runs have in common.
        keys: ``(runs, 2)``.
        lipschitz: ``L``, ``(runs,)``, float64.
        noise: ``σ``, ``(runs,)``, float64.
        held_out: Serve streams that training does not see.

    Returns:
        A function from the step to its prompts.
    """
    _check(keys, lipschitz, noise)
    lipschitz, noise = lipschitz.to(keys.device), noise.to(keys.device)
    room = _AT_ONCE.get(keys.device.type, _AT_ONCE["cuda"])
    size = max(1, min(_LONGEST, room // (len(keys) * math.prod(_rows(setting)))))

    @lru_cache(maxsize=1)
    def block(number: int) -> Prompt:
        steps = range(number * size, min((number + 1) * size, STEPS))
        return _draw(setting, keys, lipschitz, noise, steps, held_out=held_out)

    def at(step: int) -> Prompt:
        number, place = divmod(step, size)
        return Prompt(*(part[:, place] for part in block(number)))

    return at


def _draw(
    setting: Setting,
    keys: Tensor,
    lipschitz: Tensor,
    noise: Tensor,
    steps: range,
    *,
    held_out: bool,
) -> Prompt:
    """Draw the prompts of several steps, each part ``(runs, steps, ...)``."""
    gaussian, scaling = _HELD_OUT if held_out else _TRAINING
    L, sigma = (v.to(keys.device)[:, None, None] for v in (lipschitz, noise))
    numbers = normal(keys, gaussian, steps, _rows(setting))
    points = _on_sphere(setting, numbers[..., :-1])
    classes = _where(setting.task, keys)
    count = max(TASKS[name] for name in classes)
    scales = L
    if count:
        scales = uniform(keys, scaling, steps, (count,), low=-1.0, high=1.0) * L
    found = {
        name: values(
            name,
            points[..., 1:, :],
            points[..., 0, :],
            scales[..., : TASKS[name]] if TASKS[name] else L,
        )
        for name in classes
    }
    clean = next(iter(found.values()))
    for name, mask in classes.items():
        if mask is not None:
            clean = torch.where(mask, found[name], clean)
    N = setting.queries
    y = (numbers[..., 1 + N :, -1] * sigma).add_(clean[..., N:])
    x, query = points[..., 1 + N :, :], points[..., 1 : 1 + N, :]
    return Prompt(x, y, query, clean[..., :N])


def _rows(setting: Setting) -> tuple[int, int]:
    # A row is a point and the noise of its label, which only labelled ones use: first
    # the direction, then the queries, then the tokens.
    return 1 + setting.queries + setting.n, setting.d + 1


def _on_sphere(setting: Setting, points: Tensor) -> Tensor:
    """Put a direction and covariates, ``(runs, steps, rows, d)``, on the sphere."""
    kinds = _where(setting.covariates, points)
    if "non-isotropic" in kinds:
        roots = torch.arange(1.0, setting.d + 1, dtype=points.dtype).sqrt_()
        roots, mask = roots.to(points.device), kinds["non-isotropic"]
        if mask is not None:
            roots = torch.where(mask[..., None], roots, 1.0)
        points[..., 1:, :] *= roots
    return points / _sum_last(points.square()).sqrt_()[..., None]


def _where(names: str | tuple[str, ...], runs: Tensor) -> dict[str, Tensor | None]:
    """Tell which runs have each name, ``(runs, 1, 1)``; None for all of them."""
    if isinstance(names, str):
        return {names: None}
    if len(names) != len(runs):
        raise ValueError(
            f"`setting` names {len(names)} tasks or covariates for {len(runs)} runs: "
            "give one name, or one per run"
        )
    if len(distinct := sorted(set(names))) == 1:
        return {distinct[0]: None}
    return {
        one: torch.tensor([n == one for n in names], device=runs.device)[:, None, None]
        for one in distinct
    }


def _sum_last(terms: Tensor) -> Tensor:
    # One order of summation: that of `torch.sum` may follow the number of runs.
    total = terms[..., 0].clone()
    for k in range(1, terms.shape[-1]):
        total += terms[..., k]
    return total


def _check(keys: Tensor, lipschitz: Tensor, noise: Tensor) -> None:
    for name, numbers in (("lipschitz", lipschitz), ("noise", noise)):
        if numbers.dtype != torch.float64 or numbers.shape != (len(keys),):
            raise ValueError(
                f"`{name}` must be float64 of shape ({len(keys)},), one number per "
                f"run, got {numbers.dtype} {tuple(numbers.shape)}"
            )
        bad = ~((numbers >= 0) & (numbers < math.inf))
        if bool(bad.any()):
            run = int(bad.nonzero()[0])
            raise ValueError(
                f"`{name}` must be finite and >= 0, got {float(numbers[run])} for "
                f"run {run}"
            )
