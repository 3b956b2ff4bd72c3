"""Studies of many small models, trained once, kept, and read back.

A theorem module asks for ``runs`` and calls ``runs.get(study)``; what is in the store
is read, the rest is trained by the back-end of the run and stored chunk by chunk, so
that a run that is killed goes on where it was. The results are those of the store, bit
for bit, whichever way they came.
"""

from verify.runs.errors import (
    BackendError,
    RunsError,
    StoreError,
    StudyError,
    TooLittleMemoryError,
)
from verify.runs.results import Runs, Trained, Trainings
from verify.runs.settings import Settings
from verify.runs.store import Store
from verify.runs.study import Batch, Chunk, Study

__all__ = [
    "BackendError",
    "Batch",
    "Chunk",
    "Runs",
    "RunsError",
    "Settings",
    "Store",
    "StoreError",
    "Study",
    "StudyError",
    "TooLittleMemoryError",
    "Trained",
    "Trainings",
]
