"""Searching for counterexamples: what is found, counted, and drawn again."""

import itertools
import os
import subprocess
import sys
import time
from fractions import Fraction

import pytest
from hypothesis import errors, settings
from hypothesis import strategies as st

from verify import Claim, Mutant, Paper, Verdict, check, recheck
from verify.judge import Bench, decide
from verify.profiles import profile
from verify.search import Search, SearchError

integers = st.integers(0, 10**6)
exactly = st.fractions(-100, 100, max_denominator=50)


def record(**inputs):
    return {
        "kind": "formula",
        "says": "beyond the bound",
        "inputs": {name: str(Fraction(x)) for name, x in inputs.items()},
        "relation": ["==", 0, 0],
    }


def shows(x):
    return record(x=x)


def hunt(violated, space=integers, examples=300, seed=7, **options):
    search = Search(examples, seed, shrink=options.pop("shrink", True))
    return search.for_all(space, violated, shows, searched="some", **options)


# ---------------------------------------------------------------- finding, shrinking


@pytest.mark.parametrize("bound", [0, 1, 9, 1000, 65_537])
@pytest.mark.parametrize("seed", [0, 1, 2**62])
def test_the_smallest_counterexample_is_found(bound, seed):
    outcome = hunt(lambda x: x >= bound, seed=seed)
    assert outcome.verdict is Verdict.REFUTED
    assert outcome.witness["inputs"] == {"x": str(bound)}
    assert outcome.reason == "beyond the bound"


def test_several_coordinates_shrink_together():
    outcome = Search(500, 3).for_all(
        st.tuples(st.integers(0, 100), st.integers(0, 100)),
        lambda pair: pair[0] + pair[1] > 20 and pair[0] > pair[1],
        lambda pair: record(a=pair[0], b=pair[1]),
        searched="pairs",
    )
    a, b = (int(outcome.witness["inputs"][name]) for name in "ab")
    assert a + b == 21  # one less in either and it is none
    assert a > b


def test_the_witness_is_taken_once_of_the_smallest():
    taken = []

    def witness(x):
        taken.append(x)
        return record(x=x)

    outcome = Search(300, 1).for_all(
        integers, lambda x: x > 99, witness, searched="some"
    )
    assert taken == [100]
    assert recheck.decide(outcome.witness).valid


def test_without_shrinking_the_first_is_taken():
    judged = []

    def violated(x):
        judged.append(x)
        return x > 99

    outcome = hunt(violated, shrink=False)
    first = next(x for x in judged if x > 99)
    assert outcome.witness["inputs"] == {"x": str(first)}
    assert outcome.n == judged.index(first) + 1


def test_aiming_climbs_where_blind_draws_do_not():
    def outcome(aims):
        search = Search(400, 5, shrink=False)

        def violated(x):
            if aims:
                search.aim(-abs(x - 123_456.5), "distance")
            return abs(x - 123_456.5) < 2

        space = st.integers(0, 2**40)
        return search.for_all(space, violated, shows, searched="some").verdict

    assert outcome(aims=False) is Verdict.HOLDS
    assert outcome(aims=True) is Verdict.REFUTED


# ---------------------------------------------------------------- counting


def test_a_budget_is_spent_in_full():
    assert hunt(lambda x: False, examples=80).n == 80
    assert hunt(lambda x: False, examples=80, scale=0.5).n == 40
    assert hunt(lambda x: False, examples=80, scale=1e-9).n == 1


def test_a_small_space_is_judged_once_each():
    judged = []
    outcome = hunt(judged.append, space=st.integers(0, 5))
    assert (outcome.verdict, outcome.n) == (Verdict.HOLDS, 6)
    assert sorted(judged) == list(range(6))


def test_judged_and_discarded_are_told_apart():
    search, judged = Search(60, 4), []

    def violated(x):
        if x % 2:
            search.discard("odd")
        if x % 3 == 0:
            search.discard("threefold")
        judged.append(x)
        return False

    outcome = search.for_all(integers, violated, shows, searched="some")
    assert outcome.n == len(judged) == 60
    assert set(outcome.discards) == {"odd", "threefold"}


def test_shrinking_counts_no_further():
    counts = []
    for shrink in (True, False):
        search = Search(400, 11, shrink)

        def violated(x, search=search):
            if x % 2:
                search.discard("odd")
            return x > 500_000

        outcome = search.for_all(integers, violated, shows, searched="some")
        assert outcome.verdict is Verdict.REFUTED
        counts.append((outcome.n, dict(outcome.discards)))
    assert counts[0] == counts[1]


# ---------------------------------------------------------------- pinned instances


def test_pinned_instances_come_first_and_are_judged_in_order():
    judged = []

    def violated(x):
        judged.append(x)
        return x == -2

    outcome = hunt(violated, pinned=(-1, -2, -3))
    assert judged == [-1, -2]  # nothing is drawn, nothing is shrunk
    assert (outcome.n, outcome.witness["inputs"]) == (2, {"x": "-2"})


def test_pinned_instances_come_on_top_of_the_budget():
    assert hunt(lambda x: False, examples=30, pinned=(-1, -2)).n == 32


def test_a_pinned_instance_may_be_discarded_or_aimed_at():
    search = Search(20, 1)

    def violated(x):
        search.aim(float(x), "size")
        if x == -1:
            search.discard("out of domain")
        return x == -2

    outcome = search.for_all(
        integers, violated, shows, searched="some", pinned=(-1, -2)
    )
    assert (outcome.n, outcome.discards) == (1, {"out of domain": 1})
    assert outcome.verdict is Verdict.REFUTED


# ---------------------------------------------------------------- what does not count

UNABLE = (errors.Unsatisfiable, errors.FailedHealthCheck)
TOY = Paper("toy", "A toy paper")
CLAIM = Claim(
    id="toy/lemma-1",
    says="No number is negative.",
    source=TOY.at("Lemma 1"),
    parameters={"least": 0},
    mutants=(Mutant("one", why="zero is none", least=1),),
)


def filtered(claim, search):
    space = integers.filter(lambda x: x < claim.least)
    return search.for_all(space, lambda x: False, shows, searched="nothing")


def discarded(claim, search):
    def violated(x):
        search.discard("out of domain")

    return search.for_all(integers, violated, shows, searched="nothing")


@pytest.mark.parametrize("function", [filtered, discarded])
@pytest.mark.parametrize("examples", [1, 50])
def test_a_search_that_judges_nothing_is_no_verdict(function, examples):
    with pytest.raises(UNABLE):
        function(CLAIM, Search(examples, 1))
    made = check(CLAIM, grade="property", scope="none")(function)
    decision = decide(Bench(profile("smoke")), made, CLAIM)
    assert (decision.verdict, decision.rejected) == (Verdict.INCONCLUSIVE, False)
    assert decision.error


def test_a_counterexample_that_does_not_come_again_is_no_verdict():
    fresh = iter([True])
    with pytest.raises(errors.FlakyFailure):
        hunt(lambda x: next(fresh, False))


def test_an_error_while_judging_is_no_verdict():
    with pytest.raises(ZeroDivisionError):
        hunt(lambda x: 1 / 0)


# ---------------------------------------------------------------- the same again


def draws(seed):
    seen = []
    hunt(seen.append, space=exactly, examples=60, seed=seed)
    return seen


def test_the_seed_fixes_the_draws():
    assert draws(3) == draws(3)
    assert draws(3) != draws(4)


def test_the_seed_fixes_the_witness():
    def once():
        return hunt(lambda x: x * x > 50, space=exactly, seed=9, shrink=False)

    assert once() == once()


def test_a_search_leaves_the_draws_of_others_alone():
    seen = draws(3)
    hunt(lambda x: x > 10, seed=4)
    with pytest.raises(ZeroDivisionError):
        hunt(lambda x: 1 / 0)
    assert draws(3) == seen


SCRIPT = """
import importlib, pathlib, sys
sys.path.insert(0, sys.argv[1])
for name in sys.argv[2:]:
    importlib.import_module(name)
from hypothesis import strategies as st
from verify.search import Search

seen = []
def violated(pair):
    seen.append(pair)
    return pair[0] % 89 == 88 and len(pair[1]) > 1
space = st.tuples(st.integers(-10**9, 10**9), st.text(), st.floats(0, 1e6))
outcome = Search(400, 5, shrink=False).for_all(
    space, violated, lambda pair: {"says": repr(pair)}, searched="s"
)
print(len(seen), seen, outcome)
"""


def test_the_seed_fixes_draws_and_witness_in_every_process(tmp_path):
    constants = ", ".join(str(7_654_321 + 1000 * i) for i in range(200))
    (tmp_path / "full_of_constants.py").write_text(
        f"N = [{constants}]\nWORDS = ['quintessence', 'zymurgy']\nRATE = 1234.5678\n"
    )
    printed = []
    for hashes, modules in (
        ("1", ["full_of_constants", "verify.judge"]),
        ("2", []),
    ):
        printed.append(
            subprocess.run(
                [sys.executable, "-c", SCRIPT, str(tmp_path), *modules],
                capture_output=True,
                text=True,
                check=True,
                encoding="utf-8",
                env=os.environ
                | {"PYTHONHASHSEED": hashes, "CI": hashes, "PYTHONUTF8": "1"},
            ).stdout
        )
    assert printed[0] == printed[1]
    assert int(printed[0].split()[0]) > 50


# ---------------------------------------------------------------- finite families


def test_a_finite_family_is_judged_in_order():
    judged = []

    def violated(x):
        judged.append(x)
        return x > 9

    outcome = Search(1, 0).exhaust(range(5, 50), violated, shows, searched="some")
    assert judged == list(range(5, 11))
    assert (outcome.verdict, outcome.n) == (Verdict.REFUTED, 6)
    held = Search(1, 0).exhaust(range(5), lambda x: x > 9, shows, searched="five")
    assert (held.verdict, held.n, held.searched) == (Verdict.HOLDS, 5, "five")


def test_an_empty_family_is_no_verdict():
    with pytest.raises(SearchError, match="nothing to search in 'none'"):
        Search(1, 0).exhaust(iter(()), lambda x: True, shows, searched="none")


# ---------------------------------------------------------------- surroundings


def test_slow_instances_are_judged(monkeypatch):
    now, minutes = time.perf_counter, itertools.count(step=60)
    monkeypatch.setattr(time, "perf_counter", lambda: now() + next(minutes))
    assert hunt(lambda x: False, examples=20).n == 20


@pytest.mark.parametrize("derandomize", [True, False])
def test_settings_of_the_surroundings_do_not_matter(derandomize):
    def drawn():
        seen = []
        hunt(lambda x: seen.append(x) or False, examples=20)
        return seen

    before, profile_name = drawn(), settings.get_current_profile_name()
    settings.register_profile("few", derandomize=derandomize, max_examples=3)
    settings.load_profile("few")
    try:
        assert drawn() == before
    finally:
        settings.load_profile(profile_name)
