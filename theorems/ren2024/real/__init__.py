"""A published BERT checkpoint: its heads as layers, and its fine-tuning (Table 1).

``checkpoint`` and ``tokens`` read a model folder without running its package;
``bert`` is the network; ``stack`` replaces every attention by its dual model;
``modifications``, ``text``, ``glue``, ``scores``, ``fine_tuning`` and ``study`` ask the
question of Table 1. All but this file need torch or numpy; theorem modules import them
inside functions.

Two environment variables name folders of one's own: ``VERIFY_MODEL`` (a BERT checkpoint
such as bert-base-uncased) and ``VERIFY_GLUE`` (the GLUE data). ``VERIFY_REAL`` is set
by ``make verify-real``; without it no profile includes these checks.
"""

import os

MODEL, GLUE, REAL = "VERIFY_MODEL", "VERIFY_GLUE", "VERIFY_REAL"


def profiles() -> tuple[str, ...]:
    """The profiles that include the checks of this folder.

    Returns:
        All of them under ``make verify-real``; otherwise a name that no profile has, so
        that the checks are NOT_RUN.
    """
    return () if os.environ.get(REAL) else ("real: make verify-real",)
