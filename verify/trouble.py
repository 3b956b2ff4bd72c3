"""Trouble of the machine, kept apart from science. Standard library only."""


class CannotRun(Exception):
    """Something outside the claim prevents a check from running.

    A folder that cannot be written, a cluster that is absent, too little memory: the
    check is NOT_RUN, the message names the remedy, and the run ends with exit code 3.
    """
