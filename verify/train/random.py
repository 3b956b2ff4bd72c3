"""Random numbers as a function of a key and a counter, many runs at once.

Every number depends on its run's key, the stream, the step and its index alone:
not on the other runs, nor on what was drawn before. A block of four numbers is the
image of ``(key, key, stream | block, step)`` under ``pcg4d`` (Jarzynski and Olano,
"Hash Functions for GPU Rendering", JCGT 9(3), 2020), a permutation of four 32-bit
words: different blocks never coincide. It needs int32 additions and products only,
which wrap modulo 2³² and are the cheapest vector arithmetic a CPU has.

Results are stored with the runs last in memory and returned as views with the runs
first, so that elementwise work runs along all runs at once.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

from verify.train.seeds import seed_of

STREAMS = 2**8
STEPS = 2**32
NUMBERS = 2**26
_MULTIPLIER, _INCREMENT = 1664525, 1013904223
_WORD = 2**32


def keys_of(
    seeds: Sequence[int], *names: str | int, device: torch.device | str = "cpu"
) -> Tensor:
    """Derive the keys of a family of streams from ``seed_of(seed, *names)``.

    Args:
        seeds: One integer per run.
        *names: What the numbers are for.
        device: Where the keys go, and where numbers will be drawn.

    Returns:
        Shape ``(runs, 2)``, int32: the lower and the upper half of each seed.

    Raises:
        ValueError: If ``seeds`` is empty.
    """
    if not len(seeds):
        raise ValueError("`seeds` is empty: give one integer per run")
    words = [divmod(seed_of(seed, *names), _WORD) for seed in seeds]
    halves = [(_signed(low), _signed(high)) for high, low in words]
    return torch.tensor(halves, dtype=torch.int32).T.contiguous().to(device).T


def uniform(
    keys: Tensor,
    stream: int,
    step: int | range,
    shape: Sequence[int],
    *,
    low: float = 0.0,
    high: float = 1.0,
) -> Tensor:
    """Draw uniform numbers, ``low + (high − low) (k + 1/2) / 2³²`` with 32-bit ``k``.

    Args:
        keys: ``(runs, 2)``, int32, from :func:`keys_of`.
        stream: Which stream, in ``0..255``.
        step: Which step of it, in ``0..2³²−1``, or a range of steps.
        shape: Shape of one run's numbers, at most 2²⁶ of them.
        low: Lower end, reached by rounding only, and never by default.
        high: Upper end, as ``low``.

    Returns:
        Shape ``(runs, *shape)``, or ``(runs, steps, *shape)`` for a range; float64,
        runs last in memory.

    Raises:
        ValueError: If an argument is out of range.
    """
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"`low` < `high` must be finite, got {low}, {high}")
    steps, count = _check(keys, stream, step, shape)
    words = _pcg4d(keys, stream, steps, -(-count // 4))
    out = _unit(_blocks_like(words).copy_(words.movedim(0, 2)))
    if (low, high) != (0.0, 1.0):
        out.mul_(high - low).add_(low)
    return _shaped(out, step, count, shape)


def normal(
    keys: Tensor, stream: int, step: int | range, shape: Sequence[int]
) -> Tensor:
    """Draw standard normal numbers by the transform of Box and Muller.

    The radius uses 32 bits, so that numbers end at ±6.77, beyond which lies 1e-11 of
    the distribution. Bits agree between devices up to the rounding of ``log``,
    ``cos`` and ``sin``.

    Args:
        keys: ``(runs, 2)``, int32, from :func:`keys_of`.
        stream: Which stream, in ``0..255``; not one that :func:`uniform` uses.
        step: Which step of it, in ``0..2³²−1``, or a range of steps.
        shape: Shape of one run's numbers, at most 2²⁶ of them.

    Returns:
        Shape ``(runs, *shape)``, or ``(runs, steps, *shape)`` for a range; float64,
        runs last in memory.
    """
    steps, count = _check(keys, stream, step, shape)
    words = _pcg4d(keys, stream, steps, -(-count // 4))
    radius = _unit(words[::2].double()).log_().mul_(-2).sqrt_()
    angle = words[1::2].double().mul_(2 * math.pi / _WORD)
    out = _blocks_like(words)
    lanes = out.movedim(2, 0)
    torch.mul(radius, angle.cos(), out=lanes[::2])
    torch.mul(radius, angle.sin_(), out=lanes[1::2])
    return _shaped(out, step, count, shape)


def _pcg4d(keys: Tensor, stream: int, steps: range, blocks: int) -> Tensor:
    """Hash the first blocks of each step to words ``(4, steps, blocks, runs)``."""
    # The first line of the algorithm, v = v * multiplier + increment, acts on each
    # input alone, before they broadcast.
    multiplier, increment, shift, mask = _constants(keys.device)
    k_0, k_1 = torch.addcmul(increment, keys, multiplier).unbind(1)
    counter = _counters(stream, blocks, keys.device)
    moved = [_signed((t * _MULTIPLIER + _INCREMENT) % _WORD) for t in steps]
    step = torch.tensor(moved, dtype=torch.int32).to(keys.device).view(-1, 1, 1)
    shape = (4, len(steps), blocks, len(keys))
    words = torch.empty(shape, dtype=torch.int32, device=keys.device)
    x, y, z, w = words.unbind()
    # The same for all blocks of a step: one row instead of a table.
    row = torch.addcmul(k_0, k_1, step)
    x.copy_(row)
    torch.addcmul(k_1, counter, row, out=y)
    torch.addcmul(counter, row, y, out=z)
    torch.addcmul(step, y, z, out=w)
    # The mask makes the arithmetic shift of a signed word a logical one.
    words ^= (words >> shift).bitwise_and_(mask)
    x.addcmul_(y, w)
    y.addcmul_(z, x)
    z.addcmul_(x, y)
    w.addcmul_(y, z)
    return words


@lru_cache(maxsize=8)
def _constants(device: torch.device) -> tuple[Tensor, ...]:
    # A number as an operand costs twice the call of a tensor (torch 2.13, CPU).
    numbers = (_MULTIPLIER, _INCREMENT, 16, 0xFFFF)
    return torch.tensor(numbers, dtype=torch.int32, device=device).unbind()


@lru_cache(maxsize=16)
def _counters(stream: int, blocks: int, device: torch.device) -> Tensor:
    """Make the third word of each block, ``(blocks, 1)``, past its first product."""
    start = stream * (_WORD // STREAMS) * _MULTIPLIER + _INCREMENT
    numbers = torch.arange(blocks, dtype=torch.int32, device=device)
    return (numbers * _MULTIPLIER + _signed(start % _WORD))[:, None]


def _unit(words: Tensor) -> Tensor:
    """Map signed words, as float64, to ``(0, 1)`` in place and without rounding."""
    return words.add_(_WORD / 2 + 0.5).mul_(1 / _WORD)


def _signed(word: int) -> int:
    return word - _WORD if word >= _WORD // 2 else word


def _blocks_like(words: Tensor) -> Tensor:
    """Make room for a table ``(steps, blocks, 4, runs)`` of float64."""
    _, steps, blocks, runs = words.shape
    shape = (steps, blocks, 4, runs)
    return torch.empty(shape, dtype=torch.float64, device=words.device)


def _shaped(out: Tensor, step: int | range, count: int, shape: Sequence[int]) -> Tensor:
    steps, _, _, runs = out.shape
    numbers = out.flatten(1, 2)[:, :count].view(steps, *shape, runs).movedim(-1, 0)
    return numbers if isinstance(step, range) else numbers[:, 0]


def _check(
    keys: Tensor, stream: int, step: int | range, shape: Sequence[int]
) -> tuple[range, int]:
    if keys.dtype != torch.int32 or keys.ndim != 2 or keys.shape[1] != 2:
        raise ValueError(
            "`keys` must be int32 of shape (runs, 2), as `keys_of` makes them, got "
            f"{keys.dtype} {tuple(keys.shape)}"
        )
    steps = step if isinstance(step, range) else range(step, step + 1)
    if not steps:
        raise ValueError(f"`step` must not be an empty range, got {step}")
    count = math.prod(shape)
    for name, value, end in (
        ("stream", stream, STREAMS),
        ("step", min(steps), STEPS),
        ("step", max(steps), STEPS),
        ("shape", count - 1, NUMBERS),
    ):
        if not 0 <= value < end:
            raise ValueError(_out_of_range(name, value, end, shape))
    return steps, count


def _out_of_range(name: str, value: int, end: int, shape: Sequence[int]) -> str:
    if name == "shape":
        return (
            f"`shape` must hold 1..{end} numbers, the counter's width, got "
            f"{tuple(shape)}: split it over streams or steps"
        )
    return (
        f"`{name}` must lie in 0..{end - 1}, the counter's width, got {value}: a "
        "larger one would repeat another's numbers"
    )
