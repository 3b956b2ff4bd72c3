"""What the rules of combination say in full: words, defaults, headlines, sentences.

Each of these tests kills a mutant of `verify.verdict` that the table of verdicts in
``test_verdict.py`` does not see.
"""

from dataclasses import FrozenInstanceError

import pytest

from verify.verdict import (
    FALSIFICATION,
    MEASUREMENT,
    PROOF,
    Cause,
    CheckSummary,
    Combined,
    Fault,
    Finding,
    Grade,
    Kind,
    Need,
    Requires,
    Truth,
    Undecided,
    Verdict,
    combine,
    contradicts,
    exit_code,
    holds,
    inconclusive,
    refuted,
)

H, R, U, N = Verdict.HOLDS, Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.NOT_RUN
THEOREM, EMPIRICAL = Kind.THEOREM, Kind.EMPIRICAL


def of(grade, verdict, everywhere=False, **fields):
    """A check of that grade, of scope "all" or "some"."""
    name = fields.pop("name", f"{grade}-check")
    scope = "all" if everywhere else "some"
    seen = {"covers_all": everywhere, "scope": scope, "verdict": verdict} | fields
    return CheckSummary(name, Grade(grade), **seen)


PROVED, HUNTED = of("symbolic", H, True), of("property", H)
OPEN = {"cause": Cause.BUDGET, "reason": "gave up"}


WORDS = {
    Verdict: "HOLDS REFUTED INCONCLUSIVE NOT_RUN",
    Fault: "BROKEN CONFLICT",
    Truth: "proved disproved undecided",
    Grade: "symbolic certified numeric property trained",
    Kind: "theorem proof-step definition assumption example empirical",
}
CAUSES = [
    "budget", "undecided enclosure", "solver not optimal", "skip", "time-out", "NaN",
    "recipe incomplete", "no proof found", "trained evidence disagrees", "fault",
]  # fmt: skip


def test_words_are_those_that_reports_and_journals_were_written_with():
    """Another word makes every record of an earlier run unreadable."""
    assert {kind: " ".join(kind) for kind in WORDS} == WORDS
    assert list(Cause) == CAUSES


def test_undecided_carries_its_reason_and_its_cause():
    given = Undecided("the budget is spent", Cause.BUDGET)
    assert (str(given), given.reason, given.cause) == (
        "the budget is spent", "the budget is spent", Cause.BUDGET
    )  # fmt: skip
    assert Undecided("balls overlap").cause is Cause.UNDECIDED
    with pytest.raises(Undecided, match="comparison of enclosures is undecided"):
        bool(Truth.UNDECIDED)


def test_defaults_of_requirements():
    """A theorem needs a proof and a hunt; an experiment one measurement."""
    numbers, hunt = of("numeric", H), of("property", H)
    everywhere = of("numeric", H, True)
    assert Requires.default(THEOREM) == Requires((PROOF, FALSIFICATION))
    assert Requires.default(Kind.PROOF_STEP) == Requires.default(THEOREM)
    assert Requires.default(EMPIRICAL) == Requires((MEASUREMENT,))
    assert combine(EMPIRICAL, Requires.default(EMPIRICAL), [numbers]).verdict is H
    assert combine(EMPIRICAL, Requires.default(EMPIRICAL), [hunt]).verdict is U
    assert not FALSIFICATION.met_by(everywhere)
    assert [str(need) for need in (PROOF, FALSIFICATION, MEASUREMENT)] == [
        'symbolic or certified or numeric of scope "all"',
        "property or trained",
        "numeric or trained",
    ]


def test_what_a_requirement_covers():
    default = Requires((PROOF, FALSIFICATION))
    part = Need(PROOF.grades)
    symbols = Need(frozenset({Grade.SYMBOLIC}), everywhere=True)
    assert default.covers(default)
    assert default.covers(Requires((PROOF,)))
    assert not Requires((PROOF,)).covers(default)
    assert Requires((symbols, FALSIFICATION)).covers(default)
    assert not default.covers(Requires((symbols,)))
    assert PROOF.implies(part)
    assert not part.implies(PROOF)
    assert default.covers(Requires(()))
    assert not Requires(()).covers(Requires((part,)))


def test_findings_as_modules_write_them():
    assert holds() == Finding(H)
    assert holds("settled") == Finding(H, "settled", None)
    assert refuted("a witness") == Finding(R, "a witness", None)
    assert inconclusive(Cause.BUDGET, "more") == Finding(U, "more", Cause.BUDGET)
    assert (Finding(H).reason, Finding(H).cause) == ("", None)


def test_a_check_of_which_nothing_is_known_did_not_run():
    """No default may claim anything: not a scope, not a verdict, not optional."""
    assert CheckSummary("x", Grade.SYMBOLIC) == CheckSummary(
        "x", Grade.SYMBOLIC, covers_all=False, scope="", optional=False, verdict=N,
        cause=None, reason="", broken="", recipe_complete=True,
    )  # fmt: skip
    assert Combined(H) == Combined(H, None, "", None, None, "", "", "")
    assert Requires(()).why == ""
    assert Need(frozenset()) == Need(frozenset(), everywhere=False)


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (PROOF, "everywhere"),
        (Requires(()), "needs"),
        (Finding(H), "verdict"),
        (PROVED, "verdict"),
        (Combined(U), "verdict"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_nothing_that_carries_a_verdict_can_be_changed(record, name):
    with pytest.raises(FrozenInstanceError):
        setattr(record, name, H)
    assert {record: 1}[record] == 1


OPEN_RECIPE = of("trained", R, recipe_complete=False, name="fit")
LOUD = of("trained", R, reason="slope 0.4", name="fit")
WEAK = Requires((Need(frozenset({Grade.PROPERTY})),), why="no proof")
HEADLINES = [
    (
        "broken",
        (THEOREM, [PROVED, of("property", R, name="hunt", broken="no teeth")]),
        Combined(U, Fault.BROKEN, "hunt: no teeth", Cause.FAULT),
    ),
    (
        "conflict",
        (THEOREM, [PROVED, of("property", R, name="hunt")]),
        Combined(
            U, Fault.CONFLICT, "symbolic-check proves what hunt refutes", Cause.FAULT
        ),
    ),
    (
        "refuted by the strongest",
        (
            THEOREM,
            [of("property", R, reason="a draw"), of("certified", R, reason="exact")],
        ),
        Combined(
            R,
            reason="exact",
            grade=Grade.CERTIFIED,
            scope="one witness suffices",
        ),
    ),
    (
        "not run",
        (THEOREM, [of("property", N), PROVED, of("numeric", N), LOUD]),
        Combined(
            N, reason="not run: property-check, numeric-check", disagreement="fit"
        ),
    ),
    ("no check", (THEOREM, []), Combined(N, reason="no check")),
    (
        "disagreement",
        (THEOREM, [PROVED, HUNTED, LOUD]),
        Combined(
            U,
            reason="fit (trained) disagrees: slope 0.4",
            cause=Cause.DISAGREEMENT,
            disagreement="fit",
        ),
    ),
    (
        "open recipe",
        (EMPIRICAL, [OPEN_RECIPE]),
        Combined(
            U,
            reason="not reproduced; the text leaves the recipe open (fit)",
            cause=Cause.RECIPE,
        ),
    ),
    (
        "gave up",
        (THEOREM, [PROVED, of("property", U, **OPEN)]),
        Combined(U, reason="property-check: gave up", cause=Cause.BUDGET),
    ),
    (
        "unmet",
        (THEOREM, [of("numeric", H)]),
        Combined(
            U,
            reason="nothing that holds is symbolic or certified or numeric of scope "
            '"all"; nor property or trained',
            cause=Cause.NO_PROOF,
        ),
    ),
    (
        "holds",
        (
            THEOREM,
            [
                of("property", H, reason="hunted"),
                of("symbolic", H, True, reason="proved"),
            ],
        ),
        Combined(H, reason="proved", grade=Grade.SYMBOLIC, scope="all"),
    ),
    (
        "a required one disagrees after an optional one",
        (
            THEOREM,
            [of("trained", R, optional=True, name="aside"), PROVED, HUNTED, LOUD],
        ),
        Combined(
            U,
            reason="fit (trained) disagrees: slope 0.4",
            cause=Cause.DISAGREEMENT,
            disagreement="aside",
        ),
    ),
    (
        "what covers all is not called by the words of its scope",
        (THEOREM, [of("symbolic", H, True, scope="every d"), HUNTED]),
        Combined(H, grade=Grade.SYMBOLIC, scope="all"),
    ),
    (
        "holds in part, as little was required",
        (THEOREM, [of("property", H, reason="hunted")], WEAK),
        Combined(
            H, reason="hunted", grade=Grade.PROPERTY, scope="some", weaker="no proof"
        ),
    ),
]


@pytest.mark.parametrize(
    ("given", "expected"), [pytest.param(*x[1:], id=x[0]) for x in HEADLINES]
)
def test_headline(given, expected):
    """The whole line that a report shows of a claim, not its verdict alone."""
    kind, checks, *requires = given
    assert combine(kind, *requires or [Requires.default(kind)], checks) == expected


SENTENCES = [
    (H, THEOREM, of("property", H, broken="no teeth"), "BROKEN: no teeth"),
    (H, THEOREM, of("numeric", R), "a valid witness against the finding HOLDS"),
    (
        U,
        EMPIRICAL,
        of("trained", R),
        "a valid witness against the finding INCONCLUSIVE",
    ),
    (U, THEOREM, of("trained", R), "trained evidence disagrees"),
    (R, THEOREM, PROVED, 'HOLDS of scope "all" against the finding REFUTED'),
    (R, THEOREM, of("certified", H), ""),
    (R, THEOREM, of("numeric", H, True), ""),
    (H, THEOREM, PROVED, ""),
    (H, THEOREM, of("numeric", U, **OPEN), "could not decide (budget): gave up"),
    (R, THEOREM, of("numeric", U, **OPEN), ""),
    (H, THEOREM, of("numeric", N), ""),
    (R, EMPIRICAL, OPEN_RECIPE, ""),
]


@pytest.mark.parametrize(("finding", "kind", "check", "sentence"), SENTENCES)
def test_how_a_contradiction_is_worded(finding, kind, check, sentence):
    assert contradicts(Finding(finding, "known"), kind, check) == sentence


def test_exit_code_of_nothing_in_particular():
    """Red beats an empty selection, and a crash beats both."""
    assert exit_code(red=[], crashed=False, ran=1, strict=()) == 0
    assert exit_code(red=["x"], crashed=False, ran=0) == 1
    assert exit_code(red=[], crashed=True, ran=0) == 3
    with pytest.raises(TypeError):
        exit_code([], False, 1)
