"""Comparing real balls (python-flint), with a ladder of precisions.

Traps that these functions keep out: ``not (a < b)`` proves nothing about balls, a ball
compared with itself is undecided, and the working precision is global to the process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from verify.verdict import Truth

if TYPE_CHECKING:
    from flint import arb

LADDER = (64, 128, 256, 512)


def less(a: arb, b: arb) -> Truth:
    """Whether every number in ``a`` is below every number in ``b``.

    Args:
        a: A ball.
        b: A ball.

    Returns:
        PROVED, DISPROVED when every number in ``a`` is at least every one in ``b``, or
        UNDECIDED. NaN is undecided.

    >>> from flint import arb
    >>> less(arb(1), arb(2)).value, less(arb(1), arb("1 +/- 0.1")).value
    ('proved', 'undecided')
    """
    if bool(a < b):
        return Truth.PROVED
    return Truth.DISPROVED if bool(a >= b) else Truth.UNDECIDED


def decide(
    comparison: Callable[[], Truth], precisions: Sequence[int] = LADDER
) -> Truth:
    """Repeat a comparison at growing precision until it is decided.

    Args:
        comparison: Computes its balls afresh each time it is called.
        precisions: Bits, tried in turn.

    Returns:
        The truth, UNDECIDED when the last precision does not decide. The working
        precision is restored.

    >>> from flint import arb
    >>> decide(lambda: less(arb(2).sqrt() ** 2, arb(2) + arb(2) ** -100)).value
    'proved'
    """
    from flint import ctx

    truth = Truth.UNDECIDED
    for bits in precisions:
        with ctx.workprec(bits):
            truth = comparison()
        if truth is not Truth.UNDECIDED:
            break
    return truth
