"""Fine-tune a BERT with modified attention, one run at a time.

The recipe of Appendix E.5 as far as it is given (all weights trained, a new classifier
on the pooler, batches of 32, a learning rate, a number of epochs), filled up as is
usual for BERT: AdamW without weight decay, the learning rate falling linearly to 0,
gradients clipped at norm 1, dropout 0.1, the last incomplete batch kept.

One run is a network of 11 million weights, so that runs are not batched into one
program. Only the embeddings of tokens that occur are kept: the others have no gradient
and AdamW without decay leaves them as they are.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from theorems.ren2024.real import checkpoint as checkpoints
from theorems.ren2024.real import modifications, text
from theorems.ren2024.real.bert import Bert
from theorems.ren2024.real.checkpoint import Checkpoint
from theorems.ren2024.real.modifications import Modification
from theorems.ren2024.real.scores import SCORES
from theorems.ren2024.real.text import Example, Task
from theorems.ren2024.real.tokens import PAD, Encoded, WordPiece
from verify.runs import Batch
from verify.train.determinism import deterministic, generator
from verify.train.loop import Trajectory
from verify.trouble import CannotRun

WORDS = "embeddings.word_embeddings.weight"
DROPOUT = 0.1
CLIP = 1.0


@dataclass(frozen=True)
class Recipe:
    """How a run is trained.

    Attributes:
        epochs: Passes over the examples.
        batch: Examples of a step.
        rate: Learning rate at the start.
        limit: Most tokens of an input.
    """

    epochs: int
    batch: int
    rate: float
    limit: int


@dataclass(frozen=True, eq=False)
class Inputs:
    """A part of a task as tokens.

    Attributes:
        encoded: One per example, ids in the kept vocabulary.
        labels: ``(examples,)``.
    """

    encoded: tuple[Encoded, ...]
    labels: Tensor

    def batch(
        self, chosen: Sequence[int], pad: int, device: str
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Ids, types and which tokens are real, ``(batch, n)``, and labels."""
        n = max(len(self.encoded[i].ids) for i in chosen)

        def padded(name: str, filler: int) -> Tensor:
            rows = (getattr(self.encoded[i], name) for i in chosen)
            return torch.tensor([[*row, *[filler] * (n - len(row))] for row in rows])

        lengths = torch.tensor([len(self.encoded[i].ids) for i in chosen])
        real = torch.arange(n) < lengths[:, None]
        parts = (padded("ids", pad), padded("types", 0), real, self.labels[[*chosen]])
        return tuple(part.to(device) for part in parts)  # type: ignore[return-value]


class Dropout:
    """Dropout from a generator of its own; none without one."""

    def __init__(self, draws: torch.Generator | None) -> None:
        self.draws = draws

    def __call__(self, x: Tensor) -> Tensor:
        """Drop entries and scale the others up."""
        if self.draws is None:
            return x
        kept = torch.rand(x.shape, generator=self.draws, device=x.device) >= DROPOUT
        return x * kept / (1 - DROPOUT)


class Model:
    """A classifier on a modified BERT.

    Args:
        start: Where it starts; shared, never changed.
        change: What is done to attention.
        outputs: Classes, or 1 for a number.
        seed: Of new weights and dropout.
        device: Where it lives.
    """

    def __init__(
        self,
        start: Checkpoint,
        change: Modification,
        outputs: int,
        seed: int,
        device: str,
    ) -> None:
        self.start, self.change, self.device = start, change, device
        spread, width = start.initializer_range, start.width
        draws = generator(seed, "classifier")
        head = spread * torch.randn(outputs, width, generator=draws)
        weights = start.weights | {
            "classifier.weight": head,
            "classifier.bias": torch.zeros(outputs),
        }
        draws = generator(seed, "branches")
        weights |= modifications.new_weights(change, start.layers, width, spread, draws)
        self.weights = {
            name: w.clone().to(device).requires_grad_() for name, w in weights.items()
        }
        self.dropout = Dropout(generator(seed, "dropout", device=device))

    def __call__(
        self, ids: Tensor, types: Tensor, real: Tensor, *, train: bool = False
    ) -> Tensor:
        """Outputs of the classifier, ``(batch, outputs)``."""
        drop = self.dropout if train else Dropout(None)
        start = self.start
        network = Bert(self.weights, start.heads, start.layers, start.eps, drop=drop)
        hidden = network.encoded(
            network.embedded(ids, types),
            lambda given: modifications.attend(network, self.change, given, real, drop),
        )
        pooled = torch.tanh(network.linear(hidden[:, 0], "pooler.dense"))
        return network.linear(drop(pooled), "classifier")


@functools.lru_cache(maxsize=2)
def prepared(
    name: str, train: int, test: int, limit: int
) -> tuple[Checkpoint, Task, Inputs, Inputs]:
    """Read the checkpoint and the task once per process, and keep what occurs."""
    start = checkpoints.load(checkpoints.folder())
    task = text.task(name, train, test)
    pieces = WordPiece(start.words)

    def encoded(examples: Sequence[Example]) -> list[Encoded]:
        return [pieces.encode(e.first, e.second, limit) for e in examples]

    parts = [encoded(task.train), encoded(task.test)]
    used = {i for part in parts for e in part for i in e.ids}
    kept = sorted(used | {pieces.index[PAD]})
    index = {old: new for new, old in enumerate(kept)}
    weights = start.weights | {WORDS: start.weights[WORDS][kept]}
    small = replace(start, words=tuple(start.words[i] for i in kept), weights=weights)
    inputs = [
        Inputs(
            tuple(Encoded(tuple(index[i] for i in e.ids), e.types) for e in part),
            torch.tensor([e.label for e in examples]),
        )
        for part, examples in zip(parts, (task.train, task.test), strict=True)
    ]
    return small, task, inputs[0], inputs[1]


def order(examples: int, recipe: Recipe, seed: int) -> Iterator[list[int]]:
    """The batches of a run, every example once per epoch."""
    for epoch in range(recipe.epochs):
        draws = generator(seed, "order", epoch)
        shuffled = torch.randperm(examples, generator=draws).tolist()
        for i in range(0, examples, recipe.batch):
            yield shuffled[i : i + recipe.batch]


def loss_of(outputs: Tensor, labels: Tensor, *, regression: bool) -> Tensor:
    """Cross-entropy of two classes, or squared error."""
    if regression:
        return functional.mse_loss(outputs[:, 0], labels)
    return functional.cross_entropy(outputs, labels.long())


def fine_tune(batch: Batch) -> Trajectory:
    """Train one run and score it.

    Args:
        batch: Its configuration is a :class:`Modification`; the options are those of a
            :class:`Recipe`, and ``task``, ``train``, ``test``, ``model_digest``,
            ``task_digest``.

    Returns:
        The scores after the last step, in the order of the task; the loss is the mean
        of the last epoch.

    Raises:
        CannotRun: The checkpoint or the task is not the one that was asked for.
    """
    if len(batch.seeds) != 1:
        raise ValueError(f"{len(batch.seeds)} runs in one program; use chunk=1")
    options = batch.options
    names = ("task", "train", "test", "limit")
    start, task, train, test = prepared(*(options[name] for name in names))
    if (checkpoints.digest(checkpoints.folder()), task.digest()) != (
        options["model_digest"],
        options["task_digest"],
    ):
        raise CannotRun("the checkpoint or the task changed while the study ran")
    recipe = Recipe(*(options[name] for name in ("epochs", "batch", "rate", "limit")))
    change = Modification.of(batch.configurations[0])
    outputs = 1 if task.regression else 2
    pad = start.words.index(PAD)
    with deterministic():
        model = Model(start, change, outputs, batch.seeds[0], batch.device)
        losses = _trained(model, task, train, recipe, batch, pad)
        found = predicted(model, test, recipe, pad, regression=task.regression)
    scored = [SCORES[name](test.labels.double().numpy(), found) for name in task.scores]
    finite = all(map(math.isfinite, losses))
    last = losses[-math.ceil(len(losses) / recipe.epochs) :]
    return Trajectory(
        params={},
        steps=(len(losses),),
        losses=torch.tensor([[np.mean(last)]]),
        observed={"scores": torch.tensor([[scored]])},
        diverged_at=torch.tensor([-1 if finite else len(losses)]),
    )


def _trained(
    model: Model, task: Task, train: Inputs, recipe: Recipe, batch: Batch, pad: int
) -> list[float]:
    weights = [*model.weights.values()]
    optimiser = torch.optim.AdamW(weights, lr=recipe.rate, weight_decay=0.0)
    batches = [*order(len(train.encoded), recipe, batch.seeds[0])]
    losses = []
    for step, chosen in enumerate(batches):
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * (1 - step / len(batches))
        ids, types, real, labels = train.batch(chosen, pad, batch.device)
        outputs = model(ids, types, real, train=True)
        loss = loss_of(outputs, labels, regression=task.regression)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, CLIP)
        optimiser.step()
        losses.append(float(loss.detach()))
        if batch.progress:
            batch.progress(step + 1, len(batches))
    return losses


@torch.no_grad()
def predicted(
    model: Model, test: Inputs, recipe: Recipe, pad: int, *, regression: bool
) -> np.ndarray:
    """Labels that a model gives, ``(examples,)``."""
    found = []
    for i in range(0, len(test.encoded), recipe.batch):
        chosen = range(i, min(i + recipe.batch, len(test.encoded)))
        ids, types, real, _ = test.batch(chosen, pad, model.device)
        outputs = model(ids, types, real)
        found.append(outputs[:, 0] if regression else outputs.argmax(dim=-1))
    return torch.cat(found).double().cpu().numpy()
