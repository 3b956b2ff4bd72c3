"""The rules of combination, findings and exit codes as one table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.verdict import (
    FALSIFICATION,
    PROOF,
    Cause,
    CheckSummary,
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
    may_refute,
)

H, R, U, N = Verdict.HOLDS, Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.NOT_RUN
THEOREM, EMPIRICAL = Kind.THEOREM, Kind.EMPIRICAL


def of(grade, verdict, everywhere=False, **fields):
    scope = "all" if everywhere else "some"
    name = fields.pop("name", f"{grade}-check")
    return CheckSummary(
        name,
        Grade(grade),
        covers_all=everywhere,
        scope=scope,
        verdict=verdict,
        **fields,
    )


PROVED = of("symbolic", H, True)
HUNTED = of("property", H)
OPEN = {"cause": Cause.BUDGET, "reason": "gave up"}

TABLE = [
    ("proof and hunt hold", THEOREM, [PROVED, HUNTED], H, None),
    ("a proof alone is not enough", THEOREM, [PROVED], U, Cause.NO_PROOF),
    ("a hunt alone is not enough", THEOREM, [HUNTED], U, Cause.NO_PROOF),
    (
        "a proof of a part is no proof",
        THEOREM,
        [of("symbolic", H), HUNTED],
        U,
        Cause.NO_PROOF,
    ),
    ("training falsifies as well", THEOREM, [PROVED, of("trained", H)], H, None),
    ("numbers for all", THEOREM, [of("numeric", H, True), HUNTED], H, None),
    ("a hunt refutes", THEOREM, [of("property", R)], R, None),
    ("numbers refute", THEOREM, [of("numeric", R), HUNTED], R, None),
    ("a certificate refutes", THEOREM, [of("certified", R), HUNTED], R, None),
    ("proof against witness", THEOREM, [PROVED, of("property", R)], U, Cause.FAULT),
    (
        "numbers against witness: the witness wins",
        THEOREM,
        [of("numeric", H, True), of("property", R)],
        R,
        None,
    ),
    (
        "a witness counts though others did not run",
        THEOREM,
        [of("symbolic", N), of("property", R)],
        R,
        None,
    ),
    (
        "training never refutes a theorem",
        THEOREM,
        [PROVED, HUNTED, of("trained", R)],
        U,
        Cause.DISAGREEMENT,
    ),
    (
        "optional training never lowers a verdict",
        THEOREM,
        [PROVED, HUNTED, of("trained", R, optional=True)],
        H,
        None,
    ),
    ("training refutes an experiment", EMPIRICAL, [of("trained", R)], R, None),
    ("training confirms an experiment", EMPIRICAL, [of("trained", H)], H, None),
    (
        "an open recipe refutes nothing",
        EMPIRICAL,
        [of("trained", R, recipe_complete=False)],
        U,
        Cause.RECIPE,
    ),
    ("not run", THEOREM, [PROVED, of("property", N)], N, None),
    ("nothing at all", THEOREM, [], N, None),
    ("one gave up", THEOREM, [PROVED, of("property", U, **OPEN)], U, Cause.BUDGET),
    (
        "an optional one gave up",
        THEOREM,
        [PROVED, HUNTED, of("numeric", U, optional=True, **OPEN)],
        H,
        None,
    ),
    (
        "an optional one did not run",
        THEOREM,
        [PROVED, HUNTED, of("numeric", N, optional=True)],
        H,
        None,
    ),
    (
        "broken beats everything",
        THEOREM,
        [PROVED, HUNTED, of("numeric", R, broken="a mutant survived")],
        U,
        Cause.FAULT,
    ),
]


@pytest.mark.parametrize(
    ("kind", "checks", "verdict", "cause"),
    [pytest.param(*row[1:], id=row[0]) for row in TABLE],
)
def test_combination(kind, checks, verdict, cause):
    combined = combine(kind, Requires.default(kind), checks)
    assert (combined.verdict, combined.cause) == (verdict, cause)


def test_faults_and_disagreements_are_named():
    default = Requires.default(THEOREM)
    broken = combine(THEOREM, default, [PROVED, of("property", H, broken="no teeth")])
    conflict = combine(THEOREM, default, [PROVED, of("property", R)])
    both = [PROVED, HUNTED, of("trained", R, optional=True)]
    assert (broken.fault, "no teeth" in broken.reason) == (Fault.BROKEN, True)
    assert conflict.fault is Fault.CONFLICT
    assert combine(THEOREM, default, both).disagreement == "trained-check"


def test_headline_is_the_strongest_grade_of_the_widest_scope():
    checks = [of("symbolic", H), of("numeric", H, True), of("certified", H, True)]
    combined = combine(THEOREM, Requires.default(THEOREM), [*checks, HUNTED])
    assert (combined.grade, combined.scope) == (Grade.CERTIFIED, "all")


def test_a_weaker_requirement_shows_its_reason():
    weaker = Requires((Need(frozenset({Grade.PROPERTY})),), why="no proof exists")
    assert combine(THEOREM, weaker, [HUNTED]).weaker == "no proof exists"


summaries = st.builds(
    of,
    st.sampled_from([g.value for g in Grade]),
    st.sampled_from(list(Verdict)),
    name=st.text("abc", min_size=1, max_size=3),
    optional=st.booleans(),
    cause=st.just(Cause.BUDGET),
    broken=st.sampled_from(["", "", "", "no teeth"]),
)


@given(st.lists(summaries, max_size=5), st.randoms(), st.sampled_from(list(Kind)))
def test_order_of_checks_never_matters(checks, random, kind):
    shuffled = list(checks)
    random.shuffle(shuffled)
    default = Requires.default(kind)
    one, other = (combine(kind, default, c) for c in (checks, shuffled))
    assert (one.verdict, one.fault) == (other.verdict, other.fault)


@given(st.lists(summaries, max_size=5), st.sampled_from([U, N]))
def test_an_optional_check_never_lowers_a_verdict(checks, verdict):
    extra = of("numeric", verdict, optional=True, **OPEN)
    default = Requires.default(THEOREM)
    before, after = (combine(THEOREM, default, c) for c in (checks, [*checks, extra]))
    assert before.verdict is after.verdict


@given(st.lists(summaries, max_size=5))
def test_holds_means_that_every_required_check_holds(checks):
    combined = combine(THEOREM, Requires.default(THEOREM), checks)
    if combined.verdict is H:
        assert all(c.optional or c.verdict is H for c in checks)
        assert not Requires((PROOF, FALSIFICATION)).unmet([
            c for c in checks if c.verdict is H
        ])


FINDINGS = [
    (H, THEOREM, PROVED, False),
    (H, THEOREM, of("property", R), True),
    (H, THEOREM, of("trained", R), True),
    (H, EMPIRICAL, of("trained", R, recipe_complete=False), False),
    (H, THEOREM, of("property", U, **OPEN), True),
    (H, THEOREM, of("property", U, optional=True, **OPEN), False),
    (R, THEOREM, PROVED, True),
    (R, THEOREM, HUNTED, False),
    (R, THEOREM, of("property", R), False),
    (R, THEOREM, of("trained", R), False),
    (U, THEOREM, of("property", R), True),
    (R, THEOREM, of("property", R, broken="no teeth"), True),
]


@pytest.mark.parametrize(("finding", "kind", "check", "expected"), FINDINGS)
def test_what_contradicts_a_finding(finding, kind, check, expected):
    assert bool(contradicts(Finding(finding, "known"), kind, check)) is expected


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ({"red": [], "crashed": False, "ran": 3}, 0),
        ({"red": ["x"], "crashed": False, "ran": 3}, 1),
        ({"red": [], "crashed": False, "ran": 3, "strict": ["x"]}, 1),
        ({"red": [], "crashed": False, "ran": 0}, 2),
        ({"red": ["x"], "crashed": True, "ran": 3}, 3),
    ],
)
def test_exit_codes(state, code):
    assert exit_code(**state) == code


def test_trained_evidence_refutes_only_complete_experiments():
    trained = of("trained", R)
    assert not may_refute(THEOREM, trained)
    assert may_refute(EMPIRICAL, trained)
    assert not may_refute(EMPIRICAL, of("trained", R, recipe_complete=False))


def test_an_undecided_truth_is_neither_true_nor_false():
    assert Truth.PROVED
    assert not Truth.DISPROVED
    with pytest.raises(Undecided):
        bool(Truth.UNDECIDED)
