"""Run one case: no exception but those documented, and no longer than allowed."""

import signal
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

LIMIT = 8.0  # seconds of processor time after which a case is a hang
SLOW = 1.0  # seconds of processor time within which a case should end


class Hang(BaseException):
    """A case took longer than LIMIT; no handler of the engine may swallow it."""


@dataclass(frozen=True)
class Fault:
    """What went wrong, and the case that shows it again."""

    case: str
    what: str


@dataclass
class Watch:
    """Counts cases, and keeps their faults.

    Attributes:
        cases: How many ran.
        slow: How many took more than SLOW.
        longest: Processor time of the longest, in seconds.
        refused: In how many cases something ended in a documented error.
        faults: What went wrong.
    """

    cases: int = 0
    slow: int = 0
    longest: float = 0.0
    refused: int = 0

    def __post_init__(self) -> None:
        self.faults: list[Fault] = []
        self._refused = ""

    def run(
        self,
        case: str,
        call: Callable[[], Any],
        allowed: tuple[type[Exception], ...] = (),
    ) -> Any:
        """Call something; None if it raised.

        Args:
            case: What repeats it.
            call: The case.
            allowed: Documented errors.

        Returns:
            What the call returned.
        """
        self.cases += 1
        started = time.process_time()
        found = None
        try:
            with _alarm():
                found = call()
        except allowed as error:
            self.refused += case != self._refused  # a case may be read several times
            self._refused = case
            if len(str(error)) > 2000:
                self.fault(case, f"an error of {len(str(error))} characters")
        except Hang:
            self.fault(case, f"hang: over {LIMIT} s")
        except Exception:  # ruff: ignore[blind-except] - counted
            last = traceback.format_exc().strip().splitlines()
            place = [line.strip() for line in last if line.startswith("  File")][-1:]
            self.fault(case, " ".join([*place, last[-1]])[:400])
        took = time.process_time() - started
        self.slow += took > SLOW
        self.longest = max(self.longest, took)
        return found

    def need(self, case: str, condition: object, what: str) -> None:
        """Keep a fault unless the condition is true."""
        if not condition:
            self.fault(case, what)

    def fault(self, case: str, what: str) -> None:
        """Keep a fault."""
        self.faults.append(Fault(case, what))


@contextmanager
def _alarm() -> Generator[None, None, None]:
    def ring(signum: int, frame: FrameType | None) -> None:
        del signum, frame
        raise Hang

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
