"""Search, tolerances and identities: they find what is there, and nothing else."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from verify import Cause, Verdict, recheck
from verify.numerics import Tolerance, ToleranceError, gamma, table, within
from verify.search import Search, SearchError
from verify.symbolic import Identity, padded

BELOW = {
    "kind": "formula",
    "says": "too large",
    "relation": [">", ["in", "x"], 9],
}


def witness(x):
    return BELOW | {"inputs": {"x": int(x)}}


def hunt(seed=1, **options):
    search = Search(200, seed, **options)
    return search.for_all(
        st.integers(0, 10**6), lambda x: x > 9, witness, searched="integers"
    )


def test_search_shrinks_to_the_smallest_counterexample():
    outcome = hunt()
    assert outcome.verdict is Verdict.REFUTED
    assert outcome.witness["inputs"] == {"x": 10}
    assert recheck.decide(outcome.witness).valid


def test_search_without_shrinking_still_finds_one():
    assert hunt(shrink=False).witness["inputs"]["x"] > 9


def test_search_holds_and_counts_what_it_judged():
    search = Search(50, 3)
    outcome = search.for_all(
        st.integers(0, 10**6), lambda x: x < 0, witness, searched="integers"
    )
    assert (outcome.verdict, outcome.n) == (Verdict.HOLDS, 50)


def test_discards_are_counted_with_their_reason():
    search = Search(40, 3)

    def violated(x):
        if x % 2:
            search.discard("odd")
        return False

    outcome = search.for_all(
        st.integers(0, 10**6), violated, witness, searched="integers"
    )
    assert outcome.discards["odd"] > 0
    assert outcome.n == 40


def test_a_pinned_counterexample_comes_first():
    outcome = Search(50, 3).for_all(
        st.integers(0, 5), lambda x: x > 9, witness, searched="s", pinned=(3, 77)
    )
    assert outcome.witness["inputs"] == {"x": 77}


def test_a_search_that_can_judge_nothing_does_not_hold():
    from hypothesis.errors import FailedHealthCheck, Unsatisfiable

    with pytest.raises((FailedHealthCheck, Unsatisfiable)):
        Search(50, 3).for_all(
            st.integers().filter(lambda x: False),
            lambda x: False,
            witness,
            searched="nothing",
        )


SCRIPT = """
{imports}
from hypothesis import strategies as st
from verify.search import Search
seen = []
def violated(x):
    seen.append(x)
    return False
space = st.tuples(st.integers(-9999, 9999), st.integers(0, 4))
Search(60, 5).for_all(space, violated, lambda x: None, searched="s")
print(seen)
"""


def test_draws_depend_on_the_seed_and_not_on_what_is_imported():
    draws = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT.format(imports=imports)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for imports in ("", "import verify.judge, verify.cli, theorems.ren2024.model")
    ]
    assert draws[0] == draws[1]


def test_exhaust_stops_at_the_first_and_refuses_an_empty_family():
    search = Search(1, 0)
    outcome = search.exhaust(range(20), lambda x: x > 9, witness, searched="twenty")
    assert (outcome.n, outcome.witness["inputs"]) == (11, {"x": 10})
    with pytest.raises(SearchError, match="nothing"):
        search.exhaust([], lambda x: False, witness, searched="nothing")


floats = st.floats(-1e3, 1e3, allow_subnormal=False, width=32)


@given(st.lists(st.tuples(floats, floats), min_size=1, max_size=30))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gamma_bounds_the_rounding_error_of_dot_products(dtype, pairs):
    x, y = (np.array(side, dtype=dtype) for side in zip(*pairs, strict=True))
    exact = [Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, y, strict=True)]
    total = np.dtype(dtype).type(0)
    for a, b in zip(x, y, strict=True):
        total += a * b
    allowed = gamma(2 * len(pairs), dtype) * float(sum(map(abs, exact)))
    tiny = len(pairs) * float(np.finfo(dtype).tiny)  # products may underflow
    assert abs(float(Fraction(float(total)) - sum(exact))) <= allowed + tiny


def test_gamma_refuses_where_it_says_nothing():
    with pytest.raises(ToleranceError):
        gamma(1e8, "float32")


def test_within_holds_refutes_and_is_undecided():
    allowed = Tolerance(np.array([1.0, 1.0, 2.0]), "by fiat")
    good = within([0.5, 0.1, 1.0], allowed, says="s")
    bad = within([0.5, 3.0, 2.5], allowed, says="s", labels={"n": [7, 8, 9]})
    lost = within([0.5, np.nan, 2.5], allowed, says="s")
    assert (good.verdict, good.measured, good.margin) == (Verdict.HOLDS, 0.5, 0.5)
    assert bad.verdict is Verdict.REFUTED
    assert [row[2] for row in bad.witness["rows"]] == [8, 9]
    assert recheck.decide(bad.witness).valid
    assert (lost.verdict, lost.cause) == (Verdict.INCONCLUSIVE, Cause.NAN)
    with pytest.raises(ValueError, match="tolerances"):
        within([1.0], allowed, says="s")


def test_a_table_that_does_not_show_what_it_says_is_invalid():
    relation = [">", ["in", "x"], 1]
    record = table({"x": [0.5, 2.0]}, relation=relation, aggregate="all", says="s")
    assert recheck.decide(record).valid is False
    assert recheck.decide(record | {"aggregate": "any"}).valid


n = sp.Symbol("n", integer=True, positive=True)
A, B = sp.MatrixSymbol("A", n, n), sp.MatrixSymbol("B", n, n)


def square(*entries):
    return np.array([Fraction(e) for e in entries], dtype=object).reshape(2, 2)


INSTANCES = [{"A": square(1, 2, 3, 4), "B": square(0, 1, 1, 1), "unused": 5}]


def test_an_identity_is_proved_for_all_sizes_with_a_certificate():
    outcome = Identity(sp.Trace(A * B), sp.Trace(B * A)).decide(INSTANCES)
    assert outcome.verdict is Verdict.HOLDS
    assert recheck.decide(outcome.certificate).valid


def test_a_false_identity_is_refuted_by_an_exact_instance():
    outcome = Identity(A * B, B * A).decide(INSTANCES)
    assert outcome.verdict is Verdict.REFUTED
    assert recheck.decide(outcome.witness).valid


def test_an_unproved_identity_without_counterexample_is_inconclusive():
    outcome = Identity(A * B, B * A).decide([
        {"A": square(1, 0, 0, 1)} | {"B": square(1, 2, 3, 4)}
    ])
    assert (outcome.verdict, outcome.cause) == (Verdict.INCONCLUSIVE, Cause.NO_PROOF)


def test_padding_touches_empty_blocks_only():
    empty, full = np.zeros((2, 0), dtype=object), square(1, 2, 3, 4)
    filled = padded({"V": empty, "A": full, "eta": Fraction(1, 2)})
    assert filled["V"].shape == (2, 1)
    assert not filled["V"].any()
    assert filled["A"] is full
