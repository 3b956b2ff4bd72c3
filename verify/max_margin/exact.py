"""The problem min |x|²/2 subject to A x >= b, solved in rationals.

The dual active-set method of Goldfarb and Idnani (1983), in exact arithmetic: every
iterate minimises under some constraints, multipliers stay nonnegative, and each new
constraint raises the value, so that it ends after finitely many steps. Any guess of the
active set may start it; a wrong one costs steps, never the result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from verify.verdict import Cause, Undecided

if TYPE_CHECKING:
    from flint import fmpq, fmpq_mat


class InfeasibleError(ValueError):
    """No point satisfies the constraints.

    Attributes:
        combination: Weights y > 0 by row: the sum of y_i a_i is 0 and that of y_i b_i
            is positive, which proves it.
    """

    def __init__(self, combination: dict[int, Fraction]) -> None:
        self.combination = combination
        terms = ", ".join(f"{y} of row {i}" for i, y in combination.items())
        super().__init__(
            f"no point satisfies the constraints: {terms} add up to a row of zeros "
            "with a positive bound; drop one of these rows"
        )


@dataclass(frozen=True)
class Exact:
    """A minimiser and its multipliers.

    Attributes:
        solution: The only minimiser.
        multipliers: One valid set of them, positive on independent rows only.
        norm_squared: Of the solution.
        tight: Positions of the rows that hold with equality.
        repairs: Rows that entered or left the active set after the guess.
    """

    solution: tuple[Fraction, ...]
    multipliers: tuple[Fraction, ...]
    norm_squared: Fraction
    tight: tuple[int, ...]
    repairs: int


def rational(rows: Sequence[Sequence[Any]]) -> fmpq_mat:
    """A matrix over the rationals.

    Args:
        rows: Of int, Fraction or float, the last taken at their exact values.

    Returns:
        The matrix.

    Raises:
        ValueError: There is no row or no column, rows differ in length, or a number is
            not finite.
    """
    from flint import fmpq, fmpq_mat

    widths = {len(row) for row in rows}
    if len(widths) != 1 or not max(widths):
        raise ValueError(f"rows of lengths {sorted(widths)}; give equal ones, not 0")
    cells = [_fraction(x) for row in rows for x in row]
    entries = [fmpq(x.numerator, x.denominator) for x in cells]
    return fmpq_mat(len(rows), widths.pop(), entries)


def _fraction(value: Any) -> Fraction:
    try:
        return Fraction(value)
    except (OverflowError, TypeError, ValueError) as error:
        message = f"{value!r} is no exact number; give int, Fraction or a finite float"
        raise ValueError(message) from error


def minimise(
    rows: Sequence[Sequence[Any]],
    bounds: Sequence[Any],
    guess: Iterable[int] = (),
    *,
    steps: int | None = None,
) -> Exact:
    """Minimise |x|²/2 subject to rows · x >= bounds.

    Args:
        rows: Coefficients, of int, Fraction or float (taken exactly).
        bounds: One per row.
        guess: Rows that may be active, the most certain first.
        steps: Most repairs; by default ten per row and a hundred.

    Returns:
        The minimiser, with multipliers that prove it.

    Raises:
        ValueError: There are more or fewer bounds than rows, or a guess is no row.
        InfeasibleError: No point is feasible; its attribute proves it.
        Undecided: The repairs were used up.

    >>> found = minimise([[1, 1], [1, 0]], [2, Fraction(3, 2)])
    >>> [str(x) for x in found.solution], [str(y) for y in found.multipliers]
    (['3/2', '1/2'], ['1/2', '1'])
    """
    if len(rows) != len(bounds):
        raise ValueError(
            f"{len(bounds)} bounds for {len(rows)} rows; give one for each"
        )
    matrix, column = rational(rows), rational([[x] for x in bounds])
    search, guess = _ActiveSet(matrix, column), [*guess]
    if not all(0 <= row < len(rows) for row in guess):
        raise ValueError(f"rows {guess} are guessed, of {len(rows)}; count from 0")
    search.start(guess)
    left = 10 * len(rows) + 100 if steps is None else steps
    while (worst := search.most_violated()) is not None:
        left -= search.add(worst, left)
    return search.result(matrix)


class _ActiveSet:
    """Independent rows that hold with equality, with nonnegative multipliers.

    Only products of rows occur, so that all is in terms of their Gram matrix.
    """

    def __init__(self, rows: fmpq_mat, bounds: fmpq_mat) -> None:
        self.gram = rows * rows.transpose()
        self.table = self.gram.tolist()
        self.bounds = [x for (x,) in bounds.tolist()]
        self.active: list[int] = []
        self.weights: list[fmpq] = []  # multipliers of the active rows
        self.slacks = [-x for x in self.bounds]
        self.repairs = 0

    def start(self, guess: list[int]) -> None:
        """Keep independent rows of a guess, and drop those pushed the wrong way."""
        active = self._independent(guess)
        while active:
            weights = self._solve(active, [self.bounds[i] for i in active])
            if min(weights) >= 0:
                self.active, self.weights = active, weights
                self._move(weights, active)
                return
            active.pop(weights.index(min(weights)))
            self.repairs += 1

    def _independent(self, guess: list[int]) -> list[int]:
        if not guess:
            return []
        reduced, rank = self._part(guess, guess).rref()
        table = reduced.tolist()
        pivots = [next(j for j, x in enumerate(row) if x) for row in table[:rank]]
        return [guess[j] for j in pivots]

    def _part(self, rows: Sequence[int], columns: Sequence[int]) -> fmpq_mat:
        from flint import fmpq_mat

        cells = [self.table[i][j] for i in rows for j in columns]
        return fmpq_mat(len(rows), len(columns), cells)

    def _solve(self, active: list[int], right: list[fmpq]) -> list[fmpq]:
        from flint import fmpq_mat

        if not active:
            return []
        solved = self._part(active, active).solve(fmpq_mat(len(active), 1, right))
        return [x for (x,) in solved.tolist()]

    def _move(self, weights: Sequence[fmpq], rows: Sequence[int]) -> None:
        """Add a combination of rows to the point."""
        from flint import fmpq_mat

        columns = self._part(range(len(self.table)), rows)
        change = (columns * fmpq_mat(len(rows), 1, [*weights])).tolist()
        self.slacks = [s + c for s, (c,) in zip(self.slacks, change, strict=True)]

    def most_violated(self) -> int | None:
        """The row that misses its bound by most; None if all are satisfied."""
        worst = min(range(len(self.slacks)), key=self.slacks.__getitem__)
        return worst if self.slacks[worst] < 0 else None

    def add(self, new: int, budget: int) -> int:
        """Make a violated row hold with equality; drop rows that stand in its way.

        Args:
            new: The row.
            budget: How many rows may enter or leave.

        Returns:
            How many entered or left.

        Raises:
            InfeasibleError: The row contradicts the active ones.
            Undecided: The budget is used up.
        """
        weight, used = _zero(), 0
        while self.slacks[new] < 0:
            used += 1
            if used > budget:
                message = f"the active set was not repaired in {self.repairs} steps"
                raise Undecided(message, Cause.BUDGET)
            self.repairs += 1
            pull = self._solve(self.active, [self.table[i][new] for i in self.active])
            free = self.table[new][new] - sum(
                r * self.table[i][new] for i, r in zip(self.active, pull, strict=True)
            )  # squared length of the row's part that is orthogonal to the active rows
            pairs = enumerate(zip(self.weights, pull, strict=True))
            steps = [(w / r, at) for at, (w, r) in pairs if r > 0]
            if free:
                steps.append((-self.slacks[new] / free, -1))
            if not steps:
                raise InfeasibleError(self._combination(new, pull))
            step, at = min(steps)  # on a tie -1: the row enters and none leaves
            weight += step
            moves = [-step * r for r in pull]
            self._move([step, *moves], [new, *self.active])
            self.weights = [w + d for w, d in zip(self.weights, moves, strict=True)]
            if at >= 0:
                del self.active[at], self.weights[at]
        self.active.append(new)
        self.weights.append(weight)
        return used

    def _combination(self, new: int, pull: list[fmpq]) -> dict[int, Fraction]:
        pairs = zip(self.active, pull, strict=True)
        combination = {new: Fraction(1)} | {i: -_python(r) for i, r in pairs if r}
        return dict(sorted(combination.items()))

    def result(self, rows: fmpq_mat) -> Exact:
        """The minimiser in Python's own rationals."""
        from flint import fmpq_mat

        weights = [_zero()] * len(self.slacks)
        for i, weight in zip(self.active, self.weights, strict=True):
            weights[i] = weight
        point = rows.transpose() * fmpq_mat(len(weights), 1, weights)
        solution = tuple(_python(x) for (x,) in point.tolist())
        return Exact(
            solution,
            tuple(map(_python, weights)),
            sum((x * x for x in solution), Fraction(0)),
            tuple(i for i, slack in enumerate(self.slacks) if not slack),
            self.repairs,
        )


def _zero() -> fmpq:
    from flint import fmpq

    return fmpq(0)


def _python(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))
