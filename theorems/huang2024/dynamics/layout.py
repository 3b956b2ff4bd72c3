"""What the compiled loops work on: arrays of records, and the numbers of a run.

A record holds read-only numbers and, marked *memory*, what the loops write.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Records = NDArray[np.void]

SENTENCE = np.dtype(
    [
        ("first", np.int64),  # its entries: carriers, from here
        ("middle", np.int64),  # other tokens, from here
        ("end", np.int64),
        ("groups", np.int64),  # number of next tokens other than the label
        ("sample", np.int64),  # index in the dataset
        ("still", np.bool_),  # gradient identically 0: no carrier, one next token
        ("log_weight", np.float64),  # log pi
        ("factor", np.float64),  # memory: logarithm of the gradient's factor
        ("log_minus", np.float64),  # memory: log phi_minus
    ],
    align=True,
)
ENTRY = np.dtype(  # a distinct (sentence, token)
    [
        ("pair", np.int64),
        ("group", np.int64),  # which next token, of an entry that is no carrier
        ("log_count", np.float64),  # how often the token occurs in the sentence
        ("share", np.float64),  # memory: attention within its side
        ("force", np.float64),  # memory: gradient up to the sentence's factor
    ],
    align=True,
)
EDGE = np.dtype(
    [
        ("upper", np.int64),  # pair of the optimal token
        ("lower", np.int64),  # pair of the other
        ("log_sum", np.float64),  # c_e of F2
        ("drift", np.float64),  # growth of w_o - w_m in the frame, see F3
        ("weight", np.float64),  # memory
    ],
    align=True,
)
PAIR = np.dtype(
    [
        ("rho", np.float64),  # W = rho + t eta frame (F3)
        ("frame", np.float64),
        ("direction", np.float64),  # W* / ||W*||
        ("w", np.float64),  # memory: W
        ("g", np.float64),  # memory: direction of descent
    ],
    align=True,
)


class Law(NamedTuple):
    """The numbers of a run.

    Attributes:
        size: Number of tokens.
        eta: Step size.
        delta: Delta of stage 1.
        plain: Gradient descent that is not normalised.
        mergeable: Whether the late phase (F2) may be entered.
        along: Whether the frame is the direction itself.
        base: What all edges' differences of scores grow by per unit of t eta, besides
            their drift, in that frame.
        settled: log phi_minus below which the outputs are constants in float64.
        limit: The same for the largest exponent of the edges.
    """

    size: int
    eta: float
    delta: float
    plain: bool
    mergeable: bool
    along: bool
    base: float
    settled: float
    limit: float


class Problem(NamedTuple):
    """One dataset's stage 2: numbers, and the memory that the loops write to.

    Attributes:
        law: Numbers.
        sentences: As in ``compact.Compact``.
        entries: As in ``compact.Compact``.
        edges: As in ``compact.Compact``.
        pairs: The state.
        mass: Memory, per next token of a sentence: its attention, then rho.
    """

    law: Law
    sentences: Records
    entries: Records
    edges: Records
    pairs: Records
    mass: Floats


class Out(NamedTuple):
    """What is recorded, first axis time; see ``engine.Track``."""

    norm: Floats
    gap: Floats
    phi_plus: Floats
    log_phi_minus: Floats
    log_excess: Floats
    log_gradient: Floats
    weights: Floats
    descent: Floats
