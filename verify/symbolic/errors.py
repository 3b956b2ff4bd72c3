"""The one exception of the symbolic instrument."""


class SymbolicError(ValueError):
    """An expression, a size or an input that the instrument will not guess about.

    Raised instead of returning something doubtful: a derivative that fails its
    control, dimensions that disagree, names that are missing or unknown, a number
    that is not exact where exactness was asked for.
    """
