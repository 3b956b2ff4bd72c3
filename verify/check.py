"""Declaring checks: functions that decide claims, and the evidence they share.

A check takes ``claim`` and, by name, what it needs: ``search``, ``profile``, ``seed``,
``device``, ``progress`` and ``runs`` (studies of trained models) from the engine, or
any ``@evidence`` visible in its module. Evidence takes no claim: it is made once and
judged for the claim, its mutants, its anchors and its resolution alike. ``seed`` is its
own, derived from the ``root_seed`` of the run, which studies that several modules
share derive theirs from.

Standard library only.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from verify.claim import Claim
from verify.outcome import Outcome
from verify.paper import ClaimError
from verify.verdict import Grade

INSTRUMENTS = (
    "search",
    "profile",
    "seed",
    "root_seed",
    "device",
    "progress",
    "runs",
)

CheckFunction = Callable[..., Outcome]


def _wanted(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


@dataclass(frozen=True)
class Evidence:
    """Costly evidence, made once per run and shared by every judgement.

    Attributes:
        name: Name of the function.
        module: Module that defines it.
        function: Makes the evidence from instruments and other evidence.
        wants: Names of its parameters.
    """

    name: str
    module: str
    function: Callable[..., Any] = field(repr=False)
    wants: tuple[str, ...]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Make the evidence directly, for interactive use."""
        return self.function(*args, **kwargs)


def evidence(function: Callable[..., Any]) -> Evidence:
    """Declare evidence that is made once and judged many times.

    Args:
        function: Takes instruments and other evidence by name, never a claim: evidence
            that knew the claim could be bent to it.

    Returns:
        The declaration; checks ask for it by its name.

    Raises:
        ClaimError: It takes ``claim``.
    """
    wants = _wanted(function)
    if "claim" in wants:
        raise ClaimError(
            f"evidence {function.__name__!r} takes the claim; evidence is made once "
            "for the claim, its mutants and its anchors alike"
        )
    return Evidence(function.__name__, function.__module__, function, wants)


@dataclass(frozen=True)
class Check:
    """A function that decides claims.

    Attributes:
        name: Name of the function.
        module: Module that defines it.
        claims: Claims it decides, each on its own.
        grade: Strength of its evidence.
        scope: "all", or the domain really covered, in words.
        optional: Never lowers a verdict.
        needs_module: Import name of a package without which it does not run.
        needs_device: Device without which it does not run.
        profiles: Profiles that include it; empty for all.
        assumption: For a necessity check the assumption that is dropped.
        needed: For a necessity check the finding: whether the claim breaks.
        function: Decides.
        wants: Names of its parameters.
    """

    name: str
    module: str
    claims: tuple[Claim, ...] = field(repr=False)
    grade: Grade
    scope: str
    optional: bool = False
    needs_module: str = ""
    needs_device: str = ""
    profiles: tuple[str, ...] = ()
    assumption: str = ""
    needed: bool | None = None
    function: CheckFunction = field(repr=False, kw_only=True)
    wants: tuple[str, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        if not self.claims:
            raise ClaimError(f"check {self.name!r} decides no claim")
        if "claim" not in self.wants:
            raise ClaimError(
                f"check {self.name!r} does not take the claim: read every number and "
                "formula from it, or mutants cannot be told from it"
            )
        if not self.scope:
            raise ClaimError(f"check {self.name!r}: say its scope")
        if self.covers_all and not self.grade.may_cover_all:
            raise ClaimError(
                f'check {self.name!r}: a {self.grade} check never has scope "all"'
            )
        if (self.needs_module or self.needs_device) and not self.optional:
            raise ClaimError(
                f"check {self.name!r} may be unavailable; declare it optional=True"
            )
        self._resolve_names()

    def _resolve_names(self) -> None:
        scope = getattr(self.function, "__globals__", {})
        for name in self.wants:
            if name == "claim" or name in INSTRUMENTS:
                continue
            if not isinstance(scope.get(name), Evidence):
                raise ClaimError(
                    f"check {self.name!r} asks for {name!r}; it may ask for claim, "
                    f"{', '.join(INSTRUMENTS)} or @evidence defined above it"
                )

    @property
    def covers_all(self) -> bool:
        """Whether its scope is "all"."""
        return self.scope == "all"

    @property
    def evidence(self) -> tuple[str, ...]:
        """Names of the evidence it asks for."""
        return tuple(n for n in self.wants if n != "claim" and n not in INSTRUMENTS)

    @property
    def is_necessity(self) -> bool:
        """Whether it drops an assumption instead of deciding the claim."""
        return bool(self.assumption)

    def __call__(self, *args: Any, **kwargs: Any) -> Outcome:
        """Decide directly, for interactive use."""
        return self.function(*args, **kwargs)

    def unavailable(self, device: str, profile: str) -> str:
        """Say why the check cannot run here; empty when it can."""
        if self.profiles and profile not in self.profiles:
            return f"left out of profile {profile}"
        if self.needs_device and self.needs_device != device:
            return f"needs --device {self.needs_device}"
        if self.needs_module and importlib.util.find_spec(self.needs_module) is None:
            return f"package {self.needs_module} is not installed"
        return ""


def check(
    *claims: Claim,
    grade: str,
    scope: str,
    optional: bool = False,
    needs_module: str = "",
    needs_device: str = "",
    profiles: tuple[str, ...] = (),
) -> Callable[[CheckFunction], Check]:
    """Declare a function as a check of one or several claims.

    Args:
        *claims: Claims it decides, each on its own.
        grade: ``symbolic``, ``certified``, ``numeric``, ``property`` or ``trained``.
        scope: ``"all"``, or the domain really covered, in words.
        optional: The check never lowers a verdict.
        needs_module: Import name of a package without which it does not run; only for
            optional checks.
        needs_device: Device without which it does not run; only for optional checks.
        profiles: Profiles that include it; empty for all.

    Returns:
        A decorator. The function is called once for the claim and once for each
        mutant, anchor, variant and step of the resolution.
    """

    def declare(function: CheckFunction) -> Check:
        return Check(
            function.__name__,
            function.__module__,
            claims,
            Grade(grade),
            scope,
            optional,
            needs_module,
            needs_device,
            profiles,
            function=function,
            wants=_wanted(function),
        )

    return declare


def necessity(
    *claims: Claim, assumption: str, needed: bool, grade: str, scope: str
) -> Callable[[CheckFunction], Check]:
    """Declare a function that drops an assumption and looks for what breaks.

    It returns ``Refuted(witness=...)`` when the claim breaks without the assumption,
    and ``Holds(searched=..., n=...)`` when nothing was found.

    Args:
        *claims: Claims whose assumption is dropped.
        assumption: Id of the assumption.
        needed: The finding: whether the claim breaks. A run that finds otherwise is
            red.
        grade: Grade of the evidence.
        scope: What was searched, in words.

    Returns:
        A decorator.

    Raises:
        ClaimError: A claim has no such assumption.
    """
    for claim in claims:
        known = [a.id for a in claim.assumes]
        if assumption not in known:
            raise ClaimError(
                f"{claim.id} has no assumption {assumption!r}; it has {known}"
            )

    def declare(function: CheckFunction) -> Check:
        return Check(
            function.__name__,
            function.__module__,
            claims,
            Grade(grade),
            scope,
            True,
            assumption=assumption,
            needed=needed,
            function=function,
            wants=_wanted(function),
        )

    return declare
