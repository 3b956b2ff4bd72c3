"""Seed derivation: one root seed, and a name for every stream drawn from it."""

import hashlib
import json


def seed_of(root: int, *names: str | int) -> int:
    """Derive the seed of a named random stream.

    The seed is the upper 63 bits of the first 8 bytes of the SHA-256 of the JSON
    array ``[root, *names]``, so ``1`` and ``"1"`` are different names and no two
    sequences of names share an encoding.

    Args:
        root: The seed of the whole run, or a seed derived from it.
        *names: What the stream is for, such as a study, a run index, a block.

    Returns:
        An integer in ``[0, 2**63)``.

    Raises:
        TypeError: If ``root`` is not an integer, or a name neither text nor integer.

    >>> seed_of(0, "prompts", 1) == seed_of(0, "prompts", 1)
    True
    >>> seed_of(0, "prompts", 1) == seed_of(0, "prompts", "1")
    False
    """
    if type(root) is not int:
        raise TypeError(f"`root` must be an int, got {root!r} of {type(root)}")
    for name in names:
        if type(name) not in {int, str}:
            raise TypeError(f"`names` must be str or int, got {name!r} of {type(name)}")
    encoded = json.dumps([root, *names], separators=(",", ":")).encode("ascii")
    return int.from_bytes(hashlib.sha256(encoded).digest()[:8], "big") >> 1
