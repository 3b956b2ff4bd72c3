"""Claims as data: what a paper asserts, and the changes that test its checks.

A claim carries every number or formula it asserts as *parameters* (sympy objects,
numbers, strings). The report prints them, proofs substitute them, numeric checks
evaluate them, and mutants override them: one home for each.

Standard library only; sympy objects are carried, never imported.
"""

from __future__ import annotations

import keyword
import numbers
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from verify.paper import Assumption, ClaimError, Source
from verify.verdict import (
    Cause,
    Finding,
    Kind,
    Requires,
    Verdict,
    holds,
    inconclusive,
)

ID = re.compile(
    r"[a-z][a-z0-9]*(/[a-z0-9]+([.-][a-z0-9]+)*)+(@[a-z0-9]+(-[a-z0-9]+)*)?"
)


class Wording(StrEnum):
    """How sure we are that the claim is what the paper says."""

    PRINTED = "printed"
    DERIVED = "derived"
    GUESSED = "guessed"
    OURS = "ours"


class _Copyable:
    """Copies and pickles records with read-only mappings, which Python does not."""

    def __getstate__(self) -> tuple[dict[str, Any], frozenset[str]]:
        state = dict(vars(self))
        frozen = {n for n, x in state.items() if isinstance(x, MappingProxyType)}
        return state | {name: dict(state[name]) for name in frozen}, frozenset(frozen)

    def __setstate__(self, pickled: tuple[dict[str, Any], frozenset[str]]) -> None:
        state, frozen = pickled
        thaw = {name: MappingProxyType(state[name]) for name in frozen}
        self.__dict__.update(state | thaw)


@dataclass(frozen=True, init=False)
class Variation(_Copyable):
    """A claim changed in some parameters, or on another domain.

    Args:
        name: What is changed, in a few words.
        why: Why the changed claim is false (mutant), true (anchor), unknown (variant).
        domain: Another domain, if that is changed.
        **changes: New values of parameters of the claim.
    """

    name: str
    why: str
    changes: Mapping[str, Any]
    domain: Any

    def __init__(
        self, name: str, /, *, why: str, domain: Any = None, **changes: Any
    ) -> None:
        if not name or not why:
            raise ClaimError(f"{type(self).__name__} {name!r}: give a name and a why")
        if not changes and domain is None:
            raise ClaimError(f"{type(self).__name__} {name!r} changes nothing")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "why", why)
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "changes", MappingProxyType(dict(changes)))


class Anchor(Variation):
    """The claim changed to something known true: no check may refute it."""


class Variant(Variation):
    """The claim changed to something whose truth is unknown: reported, never judged."""


class Mutant(Variation):
    """The claim changed to something false: every check must refute it.

    Args:
        name: What is changed, in a few words.
        why: Why the changed claim is false.
        domain: Another domain, if that is changed.
        blind: Names of checks that cannot see this change, each with the reason. A
            check declared blind that rejects after all is an error.
        **changes: New values of parameters of the claim.
    """

    blind: Mapping[str, str]

    def __init__(
        self,
        name: str,
        /,
        *,
        why: str,
        domain: Any = None,
        blind: Mapping[str, str] = MappingProxyType({}),
        **changes: Any,
    ) -> None:
        super().__init__(name, why=why, domain=domain, **changes)
        if not all(blind.values()):
            raise ClaimError(f"Mutant {name!r}: say why each check is blind to it")
        object.__setattr__(self, "blind", MappingProxyType(dict(blind)))


@dataclass(frozen=True)
class Resolve:
    """A parameter asserted with equality whose resolution is measured.

    Attributes:
        parameter: Name of a numeric parameter.
        reach: Largest deviation tried on each side, in the parameter's own unit.
    """

    parameter: str
    reach: float

    def __post_init__(self) -> None:
        if not self.reach > 0:
            raise ClaimError(f"resolve {self.parameter!r}: reach is {self.reach}")


@dataclass(frozen=True, kw_only=True)
class Claim(_Copyable):
    """One assertion of a paper.

    Attributes:
        id: ``<paper>/<kind>-<number>[/<part>][@<reading>]``.
        says: One plain sentence.
        source: Where it stands.
        kind: Sort of assertion.
        wording: How sure we are that this is what the paper says.
        title: A few words for tables; by default the id without the paper.
        latex: The statement as LaTeX.
        quantifiers: Domain and quantifiers in words.
        domain: Object that describes the domain to the checks; anchors and mutants may
            change it.
        assumes: Hypotheses.
        parameters: Every number or formula asserted; readable as attributes.
        mutants: False changes that every check must refute.
        anchors: True changes that no check may refute.
        variants: Changes of unknown truth.
        resolves: Numeric parameters whose resolution is measured.
        requires: What HOLDS needs; by default that of the kind.
        finding: The verdict recorded as known.
        nearest: For a refuted claim the id of the nearest statement that holds.
        recipe_complete: For an empirical claim whether the text fixes the recipe.
        pinned: Instances that are replayed first by every search: counterexamples once
            found stay found.
    """

    id: str
    says: str
    source: Source
    kind: Kind = Kind.THEOREM
    wording: Wording = Wording.PRINTED
    title: str = ""
    latex: str = ""
    quantifiers: str = ""
    domain: Any = None
    assumes: tuple[Assumption, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    mutants: tuple[Mutant, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    variants: tuple[Variant, ...] = ()
    resolves: tuple[Resolve, ...] = ()
    requires: Requires | None = None
    finding: Finding = field(default_factory=holds)
    nearest: str = ""
    recipe_complete: bool = True
    pinned: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if not ID.fullmatch(self.id):
            raise ClaimError(
                f"claim id {self.id!r} is not <paper>/<kind>-<number>[/<part>]"
                "[@<reading>] in lower case"
            )
        if self.paper != self.source.paper:
            raise ClaimError(
                f"{self.id}: its source is in {self.source.paper!r}; use the PAPER of "
                f"{self.paper!r}"
            )
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))
        self._check_names()
        self._check_variations()
        self._check_findings()

    def _check_names(self) -> None:
        own = {f.name for f in fields(self)}.union(dir(type(self)), ("why", "blind"))
        for name in self.parameters:
            usable = name.isidentifier() and not keyword.iskeyword(name)
            if name in own or not usable:
                raise ClaimError(
                    f"{self.id}: a parameter cannot be called {name!r}; checks read it "
                    "as an attribute of the claim"
                )
        known = [assumption.id for assumption in self.assumes]
        for name in known:
            if known.count(name) > 1:
                raise ClaimError(f"{self.id}: two assumptions are called {name!r}")

    def _check_variations(self) -> None:
        everything = (*self.mutants, *self.anchors, *self.variants)
        names = [variation.name for variation in everything]
        for name in names:
            if names.count(name) > 1:
                raise ClaimError(f"{self.id}: two variations are called {name!r}")
        for variation in everything:
            for parameter, value in variation.changes.items():
                if parameter not in self.parameters:
                    raise ClaimError(
                        f"{self.id}: {variation.name!r} changes {parameter!r}, which "
                        f"is no parameter; there are {sorted(self.parameters)}"
                    )
                if bool(value == self.parameters[parameter]):
                    raise ClaimError(
                        f"{self.id}: {variation.name!r} leaves {parameter!r} as it is"
                    )
        for resolve in self.resolves:
            if resolve.parameter not in self.parameters:
                raise ClaimError(f"{self.id}: no parameter {resolve.parameter!r}")
            if not _is_number(self.parameters[resolve.parameter]):
                raise ClaimError(
                    f"{self.id}: {resolve.parameter!r} is no number and has no "
                    "resolution"
                )

    def _check_findings(self) -> None:
        verdict = self.finding.verdict
        usual, own = Requires.default(self.kind), self.requirement
        if not (own.why or own.covers(usual)):
            raise ClaimError(
                f"{self.id}: it requires less than the default of its kind; say "
                "Requires(..., why=...)"
            )
        if verdict is Verdict.NOT_RUN:
            raise ClaimError(f"{self.id}: NOT_RUN is no finding")
        if verdict is not Verdict.HOLDS and not self.finding.reason:
            raise ClaimError(f"{self.id}: a finding {verdict} needs its reason")
        if verdict is Verdict.INCONCLUSIVE and self.finding.cause is None:
            raise ClaimError(f"{self.id}: an INCONCLUSIVE finding names its cause")
        if verdict is not Verdict.INCONCLUSIVE and not self.mutants:
            raise ClaimError(
                f"{self.id} has no mutants: add at least one false change of its "
                "parameters, so that its checks can be seen to fail"
            )
        if verdict is Verdict.REFUTED and not self.anchors:
            raise ClaimError(
                f"{self.id} is refuted and has no anchor: add a true change (the "
                "repaired formula, a restricted domain) that no check may refute"
            )

    def __getattr__(self, name: str) -> Any:
        parameters = self.__dict__.get("parameters", {})
        if name in parameters:
            return parameters[name]
        raise AttributeError(
            f"claim has no field or parameter {name!r}; its parameters are "
            f"{sorted(parameters)}"
        )

    @property
    def paper(self) -> str:
        """Key of the paper."""
        return self.id.partition("/")[0]

    @property
    def base_id(self) -> str:
        """The id without its reading."""
        return self.id.partition("@")[0]

    @property
    def reading(self) -> str:
        """Name of the reading; empty when the text leaves nothing open."""
        return self.id.partition("@")[2]

    @property
    def short_id(self) -> str:
        """The id without the paper."""
        return self.id.partition("/")[2]

    @property
    def requirement(self) -> Requires:
        """What HOLDS needs: the claim's own, or the default of its kind."""
        return self.requires or Requires.default(self.kind)

    def changed(self, *variations: Variation) -> Claim:
        """Apply variations, left to right, to the claim.

        Args:
            *variations: Mutants, anchors or variants of this claim.

        Returns:
            The changed claim. It keeps its id; its variations are dropped.
        """
        parameters, domain = dict(self.parameters), self.domain
        for variation in variations:
            parameters |= variation.changes
            domain = domain if variation.domain is None else variation.domain
        return self._bare(parameters, domain)

    def at(self, /, **values: Any) -> Claim:
        """The claim with other values of some parameters, without variations."""
        return self._bare({**self.parameters, **values}, self.domain)

    def _bare(self, parameters: Mapping[str, Any], domain: Any) -> Claim:
        return replace(
            self,
            parameters=parameters,
            domain=domain,
            mutants=(),
            anchors=(),
            variants=(),
            resolves=(),
            finding=inconclusive(Cause.BUDGET, "a changed claim records no finding"),
            pinned=self.pinned,
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Number) or bool(getattr(value, "is_number", False))
