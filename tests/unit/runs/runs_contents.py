"""Comparing results of studies bit by bit."""


def contents(trainings):
    """Everything that a study gave, as comparable bytes."""
    return [
        (name, a.dtype.str, a.shape, a.tobytes())
        for group in trainings.groups
        for name, a in sorted(
            {
                "seeds": group.seeds, "steps": group.steps, "losses": group.losses,
                "diverged_at": group.diverged_at, **group.observed, **group.params,
            }.items()
        )
    ]  # fmt: skip
