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
        "not run comes before a disagreement",
        THEOREM,
        [PROVED, of("property", N), of("trained", R)],
        N,
        None,
    ),
    (
        "an optional proof meets no need",
        THEOREM,
        [HUNTED, of("symbolic", H, True, optional=True)],
        U,
        Cause.NO_PROOF,
    ),
    (
        "an optional witness refutes",
        THEOREM,
        [HUNTED, of("certified", R, optional=True)],
        R,
        None,
    ),
    (
        "an open recipe refutes nothing by numbers either",
        EMPIRICAL,
        [of("numeric", R, recipe_complete=False)],
        U,
        Cause.RECIPE,
    ),
    (
        "an open recipe and a check that did not run",
        EMPIRICAL,
        [of("trained", R, recipe_complete=False), of("numeric", N)],
        N,
        None,
    ),
    (
        "an optional one is not reproduced",
        EMPIRICAL,
        [of("numeric", H), of("trained", R, optional=True, recipe_complete=False)],
        H,
        None,
    ),
    (
        "broken beats everything, optional or not",
        THEOREM,
        [PROVED, HUNTED, of("numeric", H, optional=True, broken="it raised")],
        U,
        Cause.FAULT,
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
    waiting = [of("property", N), of("trained", R)]
    assert combine(THEOREM, default, waiting).disagreement == "trained-check"
    open_recipe = of("trained", R, optional=True, recipe_complete=False)
    measured = combine(EMPIRICAL, Requires.default(EMPIRICAL), [open_recipe])
    assert measured.disagreement == ""


def test_headline_is_the_strongest_grade_of_the_widest_scope():
    checks = [of("symbolic", H), of("numeric", H, True), of("certified", H, True)]
    combined = combine(THEOREM, Requires.default(THEOREM), [*checks, HUNTED])
    assert (combined.grade, combined.scope) == (Grade.CERTIFIED, "all")


def test_a_weaker_requirement_shows_its_reason():
    weaker = Requires((Need(frozenset({Grade.PROPERTY})),), why="no proof exists")
    assert combine(THEOREM, weaker, [HUNTED]).weaker == "no proof exists"


def summary(grade, verdict, everywhere, **fields):
    return of(grade, verdict, everywhere and Grade(grade).may_cover_all, **fields)


summaries = st.builds(
    summary,
    st.sampled_from([g.value for g in Grade]),
    st.sampled_from(list(Verdict)),
    st.booleans(),
    recipe_complete=st.booleans(),
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


@given(
    st.lists(summaries, max_size=5),
    st.sampled_from([H, U, N]),
    st.sampled_from(list(Grade)),
    st.sampled_from(list(Kind)),
)
def test_an_optional_check_changes_no_verdict(checks, verdict, grade, kind):
    extra = of(grade, verdict, optional=True, **OPEN)
    default = Requires.default(kind)
    before, after = (combine(kind, default, c) for c in (checks, [*checks, extra]))
    assert (before.verdict, before.fault) == (after.verdict, after.fault)


@given(st.lists(summaries, max_size=5), st.sampled_from(list(Kind)))
def test_an_optional_proof_changes_a_verdict_by_conflict_only(checks, kind):
    extra = of("symbolic", H, True, optional=True)
    default = Requires.default(kind)
    before, after = (combine(kind, default, c) for c in (checks, [*checks, extra]))
    assert after.verdict is before.verdict or after.fault is Fault.CONFLICT


@given(
    st.lists(summaries, min_size=1, max_size=5),
    st.sampled_from([H, R, U]),
    st.sampled_from(list(Kind)),
)
def test_a_run_that_reproduces_a_finding_contradicts_it_nowhere(checks, known, kind):
    finding = Finding(known, "known", Cause.BUDGET)
    combined = combine(kind, Requires.default(kind), checks)
    if combined.verdict is known and not (combined.fault or combined.disagreement):
        assert not any(contradicts(finding, kind, check) for check in checks)


@pytest.mark.parametrize("waiting", [[PROVED], [PROVED, of("property", U, **OPEN)]])
def test_trained_evidence_that_disagrees_is_never_lost(waiting):
    """Also where the claim is undecided for another reason."""
    optional = of("trained", R, optional=True)
    combined = combine(THEOREM, Requires.default(THEOREM), [*waiting, optional])
    assert combined.verdict is U
    assert combined.disagreement == "trained-check"


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
    assert not may_refute(EMPIRICAL, of("numeric", R, recipe_complete=False))
    assert may_refute(THEOREM, of("numeric", R, recipe_complete=False))


def test_an_undecided_truth_is_neither_true_nor_false():
    assert Truth.PROVED
    assert not Truth.DISPROVED
    with pytest.raises(Undecided):
        bool(Truth.UNDECIDED)


def test_grades_are_ordered_by_strength():
    order = ["symbolic", "certified", "numeric", "property", "trained"]
    assert sorted(Grade, key=lambda grade: grade.rank) == order
    assert [g for g in Grade if g.may_cover_all] == order[:3]


@given(
    st.builds(Need, st.frozensets(st.sampled_from(list(Grade))), st.booleans()),
    st.builds(Need, st.frozensets(st.sampled_from(list(Grade))), st.booleans()),
    summaries,
)
def test_a_stronger_need_is_met_by_fewer_checks(one, other, check):
    if one.implies(other) and one.met_by(check):
        assert other.met_by(check)
    assert one.implies(one)


def test_unmet_needs_are_named():
    combined = combine(THEOREM, Requires.default(THEOREM), [of("numeric", H)])
    assert 'symbolic or certified or numeric of scope "all"' in combined.reason
    assert "property or trained" in combined.reason
