"""What can go wrong with runs: trouble of the machine, never evidence about a claim."""

from __future__ import annotations

from verify.trouble import CannotRun


class RunsError(CannotRun):
    """A study could not be trained, stored or read; the message says what to do."""


class StudyError(RunsError, ValueError):
    """A study that cannot be: the message names the argument, value and remedy."""


class StoreError(RunsError):
    """The store cannot be written or read."""


class BackendError(RunsError):
    """The back-end did not bring every chunk into the store."""


class TooLittleMemoryError(RunsError):
    """A chunk needs more memory than is free; chunks never shrink to fit."""
