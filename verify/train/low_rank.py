"""In-context regression on functions of a few directions (collins2024, Appendix J.1).

Each run has a frame of its own: ``B``, an orthonormal basis of the directions that
matter, ``B⊥`` of the others, and ``J``, which skews the covariates. A prompt shows
``n`` labelled covariates and asks for one more label; a task is a function of
``z = aᵀ Bᵀ x`` with ``a`` uniform on the sphere of ``R^k``, drawn anew at every step:

- ``linear``: ``z``; ``affine``: ``z + 2``;
- ``quadratic``: ``z²``; ``cosine``: ``cos(4 z)``.

Everything is a function of the run's seed and the step, up to rounding. Runs of one
seed share frame, covariates, tasks and standard noise, drawn once for all of them.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from verify.train.icl import Prompt
from verify.train.layout import contract, runs_first, runs_last
from verify.train.optimisers import Params
from verify.train.random import STEPS, keys_of, normal

FUNCTIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "linear": lambda z: z,
    "affine": lambda z: z + 2,
    "quadratic": torch.square,
    "cosine": lambda z: torch.cos(4 * z),
}
COVARIATES = ("skewed", "product")
NAMES = ("low-rank regression",)
_FRAME, _TRAINING, _HELD_OUT = range(3)
# As for the prompts of `verify.train.icl`.
_AT_ONCE = {"cpu": 2**19, "cuda": 2**24}
_LONGEST = 64


@dataclass(frozen=True)
class Setting:
    """What the prompts of one batch have in common.

    Attributes:
        tasks: Class of functions of every run, one of ``FUNCTIONS``.
        covariates: ``"skewed"``: ``J g / ‖J g‖`` with ``g ~ N(0, I)`` and
            ``J = (GᵀG)^{1/2}``, ``G`` with standard normal entries (Appendix J.1);
            ``"product"``: ``B u + c_v B⊥ v`` with ``u``, ``v`` uniform on the spheres
            of ``R^k`` and ``R^{d-k}`` (Assumption 4.3, ``c_u = 1``).
        d: Size of a covariate.
        k: Directions that matter, fewer than ``d``.
        n: Labelled tokens of a prompt, at least 1.

    Raises:
        ValueError: If a name is unknown or a size out of range.
    """

    tasks: tuple[str, ...]
    covariates: str
    d: int
    k: int
    n: int

    def __post_init__(self) -> None:
        for name, values, known in (
            ("tasks", self.tasks or ("",), tuple(FUNCTIONS)),
            ("covariates", (self.covariates,), COVARIATES),
        ):
            if unknown := sorted(set(values) - set(known)):
                raise ValueError(f"`{name}` must be of {known}, got {unknown}")
        if not 1 <= self.k < self.d or self.n < 1:
            raise ValueError(
                "sizes must satisfy 1 <= k < d and n >= 1, got "
                f"k = {self.k}, d = {self.d}, n = {self.n}"
            )


@dataclass(frozen=True, eq=False)
class Frames:
    """The frames of some runs.

    Attributes:
        B: Directions that matter, ``(runs, d, k)``.
        other: ``B⊥``, ``(runs, d, d - k)``.
        J: Symmetric root of a Wishart matrix, ``(runs, d, d)``.
    """

    B: Tensor
    other: Tensor
    J: Tensor


def frames(keys: Tensor, d: int, k: int, number: int = 0) -> Frames:
    """Draw a frame for every run.

    Args:
        keys: ``(runs, 2)``, from :func:`verify.train.random.keys_of`.
        d: Size of a covariate.
        k: Directions that matter.
        number: Which frame; that of the run's tasks is 0, others are unrelated to it.

    Returns:
        The frames, float64; those of a run depend on its key alone.
    """
    gaussian = normal(keys, _FRAME, number, (2, d, d)).contiguous()
    # The first k columns of Q span those of a Gaussian (d, k) matrix, as in the text.
    basis = torch.linalg.qr(gaussian[:, 0]).Q
    G = gaussian[:, 1]
    values, vectors = torch.linalg.eigh(G.mT @ G)
    root = (vectors * values.clamp_min(0).sqrt()[:, None]) @ vectors.mT
    return Frames(basis[..., :k], basis[..., k:], root)


class LowRankTasks:
    """Frames and prompts of the runs of a batch.

    Args:
        setting: What they have in common.
        seeds: One integer per run.
        noise: ``σ`` of the labels.
        spurious: ``c_v`` of every run, ``(runs,)``; for product covariates.
        device: Where to draw.

    Attributes:
        frames: Of every run.

    Raises:
        ValueError: If the lengths differ.
    """

    def __init__(
        self,
        setting: Setting,
        seeds: Sequence[int],
        noise: float,
        spurious: Tensor | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        if len(setting.tasks) != len(seeds):
            raise ValueError(
                f"`setting` names {len(setting.tasks)} tasks for {len(seeds)} runs"
            )
        unique = list(dict.fromkeys(seeds))
        place = {seed: i for i, seed in enumerate(unique)}
        self._where = torch.tensor([place[s] for s in seeds], device=device)
        # Whole repetitions of one list of seeds, or 0.
        whole = list(seeds) == unique * (len(seeds) // len(unique))
        self._times = len(seeds) // len(unique) if whole else 0
        self._keys = keys_of(unique, *NAMES, device=device)
        self._own = frames(self._keys, setting.d, setting.k)
        own = self._own
        self.frames = Frames(*(p[self._where] for p in (own.B, own.other, own.J)))
        self._setting, self._noise = setting, noise
        ones = torch.ones(len(seeds), dtype=torch.float64)
        self._spurious = (ones if spurious is None else spurious.double()).to(device)
        self._masks = {
            name: torch.tensor([name == one for one in setting.tasks], device=device)
            for name in sorted(set(setting.tasks))
        }

    def draw(self, steps: range, *, held_out: bool = False) -> Prompt:
        """Draw the prompts of several steps.

        Args:
            steps: Which ones.
            held_out: Draw from a stream that training does not see.

        Returns:
            Prompts of one query, each part ``(runs, steps, ...)``, float64.
        """
        s = self._setting
        stream = _HELD_OUT if held_out else _TRAINING
        # Coordinates of a point and the noise of its label; a first row holds a.
        rows = runs_last(normal(self._keys, stream, steps, (s.n + 2, s.d + 1)))
        a = _unit(rows[:, 0, : s.k], 1)
        points = rows[:, 1:, : s.d]
        x = self._skewed(points) if s.covariates == "skewed" else self._product(points)
        direction = contract(runs_last(self._own.B)[None], a[:, None], 2)
        direction = self._of_runs(direction)
        y = self._values(contract(x, direction[:, None], 2))
        noise = self._of_runs(rows[:, 2:, s.d])
        shown = noise.mul_(self._noise).add_(y[:, 1:])
        # The first point is the query.
        parts = x[:, 1:], shown, x[:, :1], y[:, :1]
        return Prompt(*(runs_first(part) for part in parts))

    def prompts(self) -> Callable[[int], Prompt]:
        """Serve the prompts of training step by step, drawn several at once."""
        s = self._setting
        room = _AT_ONCE.get(self._keys.device.type, _AT_ONCE["cuda"])
        runs = len(self._where)
        size = max(1, min(_LONGEST, room // (runs * (s.n + 2) * (s.d + 1))))

        @lru_cache(maxsize=1)
        def block(number: int) -> Prompt:
            steps = range(number * size, min((number + 1) * size, STEPS))
            return self.draw(steps)

        def at(step: int) -> Prompt:
            number, place = divmod(step, size)
            return Prompt(*(part[:, place] for part in block(number)))

        return at

    def _of_runs(self, part: Tensor) -> Tensor:
        """Repeat what runs of one seed share, ``(..., seeds)`` to ``(..., runs)``."""
        if self._times:  # four times faster than by indices
            return part.repeat(*(1,) * (part.ndim - 1), self._times)
        return part.index_select(-1, self._where)

    def _skewed(self, points: Tensor) -> Tensor:
        J = runs_last(self._own.J)
        turned = [contract(points, row[None, None], 2) for row in J.unbind(0)]
        return self._of_runs(_unit(torch.stack(turned, dim=2), 2))

    def _product(self, points: Tensor) -> Tensor:
        B, other = runs_last(self._own.B), runs_last(self._own.other)
        k = self._setting.k
        parts = [
            contract(basis[None, None], _unit(part, 2)[:, :, None], 3)
            for basis, part in ((B, points[:, :, :k]), (other, points[:, :, k:]))
        ]
        relevant, spurious = (self._of_runs(part) for part in parts)
        return relevant.addcmul_(spurious, self._spurious)

    def _values(self, z: Tensor) -> Tensor:
        found = {name: FUNCTIONS[name](z) for name in self._masks}
        names = iter(self._masks)
        values = found[next(names)]
        for name in names:
            values = torch.where(self._masks[name], found[name], values)
        return values


def _unit(vectors: Tensor, dim: int) -> Tensor:
    """Divide vectors, runs last, by their lengths."""
    return vectors / contract(vectors, vectors, dim).sqrt_().unsqueeze(dim)


def linear_loss(params: Params, prompt: Prompt) -> Tensor:
    """Average the squared errors of ``Σ_i y_i x_iᵀ M q``, ``M = WᵀW`` (Remark 2.2).

    Args:
        params: ``W``, ``(runs, d, d)``.
        prompt: The prompts.

    Returns:
        Shape ``(runs,)``.
    """
    W = params["W"]
    scores = prompt.query @ (W.mT @ W).mT @ prompt.x.mT
    predicted = (scores @ prompt.y[..., None]).squeeze(-1)
    return (predicted - prompt.target).square().mean(dim=-1)


def linear_gradient(params: Params, prompt: Prompt) -> tuple[Tensor, Params]:
    """Compute :func:`linear_loss` and its gradient in closed form.

    With ``s = Σ_i y_i x_i``, predictions ``h = sᵀ M q`` and ``r = 2 (h − f) / N``:
    ``dM = s (Σ_q r q)ᵀ`` and ``dW = W (dM + dMᵀ)``.

    Args:
        params: ``W``, ``(runs, d, d)``.
        prompt: The prompts.

    Returns:
        Losses ``(runs,)`` and the gradient in ``W``, ``(runs, d, d)``.
    """
    # Axes from here on: query, token or coordinate, run.
    x, y, query, target = (part.movedim(0, -1) for part in prompt)
    W = params["W"].movedim(0, -1)
    s = contract(x, y.unsqueeze(1), 0)
    # sᵀ M = (W s)ᵀ W.
    keyed = contract(W, contract(W, s.unsqueeze(0), 1).unsqueeze(1), 0)
    error = contract(query, keyed.unsqueeze(0), 1) - target
    along = contract(query, error.mul(2 / len(error)).unsqueeze(1), 0)
    dM = s.unsqueeze(1) * along.unsqueeze(0)
    dW = contract(W.unsqueeze(2), (dM + dM.transpose(0, 1)).unsqueeze(0), 1)
    return error.square().mean(dim=0), {"W": runs_first(dW)}


def structure(W: Tensor, frames: Frames) -> dict[str, Tensor]:
    """Measure both diagonal blocks of ``M = WᵀW``; NaN where ``W`` is not finite.

    Eigenvalues of ``Bᵀ M B`` are squared singular values of ``W B``, which loses less
    to rounding where the block is nearly singular.

    Args:
        W: ``(runs, d, d)``.
        frames: Of the runs.

    Returns:
        ``relevant_most``, ``relevant_least``, ``spurious_most``, ``spurious_least``:
        largest and least singular value of ``Bᵀ M B`` and of ``B⊥ᵀ M B⊥``; and
        ``relevant_mean``, ``tr(Bᵀ M B) / k``; each ``(runs,)``.
    """
    finite = W.isfinite().all(dim=(-2, -1), keepdim=True)
    safe = W.where(finite, 0.0).contiguous()
    seen = {}
    for name, basis in (("relevant", frames.B), ("spurious", frames.other)):
        values = torch.linalg.svdvals(safe @ basis).square()
        seen[f"{name}_most"], seen[f"{name}_least"] = values[:, 0], values[:, -1]
        if name == "relevant":
            seen["relevant_mean"] = values.mean(dim=-1)
    broken = ~finite[:, 0, 0]
    return {name: v.masked_fill(broken, math.nan) for name, v in seen.items()}
