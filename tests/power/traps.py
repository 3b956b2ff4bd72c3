"""All traps: ``TRAPS`` load and must turn the run red; ``REFUSED`` must not load."""

from traps_of_declaration import REFUSED
from traps_of_evidence import CELLS, RECORDS, UNDECIDED
from traps_of_verdict import (
    ALWAYS_REFUTES,
    BLIND_SUCCESS,
    EXCEPTIONS,
    NOT_A_VERDICT,
    NUMBERS,
)

__all__ = ["REFUSED", "TRAPS"]

TRAPS = (
    *BLIND_SUCCESS,
    *ALWAYS_REFUTES,
    *NOT_A_VERDICT,
    *NUMBERS,
    *EXCEPTIONS,
    *UNDECIDED,
    *RECORDS,
    *CELLS,
)
