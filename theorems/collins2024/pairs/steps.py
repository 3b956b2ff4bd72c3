"""Steps of written proofs, each decided by computer algebra or refused."""

from __future__ import annotations

import sympy as sp

from verify import Cause, Undecided


def need(says: str, proved: object) -> str:
    """Keep a step that was proved.

    Args:
        says: The step in words.
        proved: Whether the machine agrees.

    Returns:
        The step, for the record.

    Raises:
        Undecided: It was not proved.
    """
    if proved is not True and proved is not sp.true:
        raise Undecided(f"not proved: {says}", Cause.NO_PROOF)
    return says


def equal(says: str, left: sp.Expr, right: sp.Expr) -> str:
    """Prove an identity of rational functions and exponentials."""
    difference = left - right
    proved = sp.cancel(difference) == 0 or sp.simplify(sp.expand(difference)) == 0
    return need(f"{says}: {left} = {right}", bool(proved))
