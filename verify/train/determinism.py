"""Generators, per-run draws and deterministic execution."""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor

from verify.train.seeds import seed_of

# torch >= 2.9 keeps float32 precision per backend and operation: setting a parent
# does not reach a child that has a value of its own (torch 2.13, cudnn.conv).
_PRECISIONS = (
    "cuda.matmul",
    "cudnn.conv",
    "cudnn.rnn",
    "mkldnn.matmul",
    "mkldnn.conv",
    "mkldnn.rnn",
)
_WORKSPACE = "CUBLAS_WORKSPACE_CONFIG"


def generator(
    root: int, *names: str | int, device: torch.device | str = "cpu"
) -> torch.Generator:
    """Make a generator seeded by ``seed_of(root, *names)``.

    Args:
        root: The seed the stream is derived from.
        *names: What the stream is for.
        device: Where the generator draws; its numbers differ between devices.

    Returns:
        A generator of its own; no global state is touched.
    """
    return torch.Generator(device).manual_seed(seed_of(root, *names))


def per_run(
    draw: Callable[[torch.Generator], Tensor],
    seeds: Sequence[int],
    *names: str | int,
    device: torch.device | str = "cpu",
) -> Tensor:
    """Draw each run's data from the run's own generator and stack the draws.

    A run's numbers depend on its seed and ``names`` alone: neither on the other
    runs, nor on how the run axis is split, nor on the device, because every draw is
    made on the CPU and then moved.

    Args:
        draw: Maps a CPU generator to a tensor of a fixed shape ``(...)``.
        seeds: One integer per run.
        *names: What is drawn.
        device: Where the stacked draws go.

    Returns:
        Shape ``(runs, ...)``, dtype of the draws.

    Raises:
        ValueError: If ``seeds`` is empty.
    """
    if not seeds:
        raise ValueError("`seeds` is empty: give one integer per run")
    return torch.stack([draw(generator(s, *names)) for s in seeds]).to(device)


@contextmanager
def deterministic(threads: int | None = 1) -> Generator[None, None, None]:
    """Run torch deterministically: algorithms, float32 precision, thread count.

    Float32 products run in full IEEE precision, and cuBLAS gets the workspace that
    deterministic algorithms require. Everything is restored on exit.

    Args:
        threads: Intra-operation threads; ``None`` leaves them alone.

    Yields:
        Nothing.
    """
    holders: list[Any] = [attrgetter(name)(torch.backends) for name in _PRECISIONS]
    precisions = [holder.fp32_precision for holder in holders]
    enabled = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    before, workspace = torch.get_num_threads(), os.environ.get(_WORKSPACE)
    try:
        os.environ.setdefault(_WORKSPACE, ":4096:8")
        torch.use_deterministic_algorithms(True)
        for holder in holders:
            holder.fp32_precision = "ieee"
        if threads is not None:
            torch.set_num_threads(threads)
        yield
    finally:
        for holder, precision in zip(holders, precisions, strict=True):
            holder.fp32_precision = precision
        torch.use_deterministic_algorithms(enabled, warn_only=warn_only)
        torch.set_num_threads(before)
        if workspace is None:
            os.environ.pop(_WORKSPACE, None)
