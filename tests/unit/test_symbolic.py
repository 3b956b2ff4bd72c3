"""The symbolic instrument: one expression derived, proved, evaluated and exported."""

import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from operator import add, mul

import numpy as np
import pytest
import sympy as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.matrices.expressions.matexpr import MatrixElement

from verify import symbolic
from verify.recheck import decide
from verify.symbolic import (
    Proof,
    SymbolicError,
    calculus,
    components,
    describe,
    evaluator,
    family,
    formula,
    gradient,
    normal_form,
    prove_equal,
    prove_equal_at,
    tree,
)

N, T, d_o, d_r = sp.symbols("N T d_o d_r", integer=True, positive=True)
eta, D, alpha, x, y = sp.symbols("eta D alpha x y")
V_D, V_T = sp.MatrixSymbol("V_D", d_o, N), sp.MatrixSymbol("V_T", d_o, T)
Phi_D, Phi_T = sp.MatrixSymbol("Phi_D", d_r, N), sp.MatrixSymbol("Phi_T", d_r, T)
p, W = sp.MatrixSymbol("p", d_r, 1), sp.MatrixSymbol("W", d_o, d_r)
A, B = sp.MatrixSymbol("A", N, N), sp.MatrixSymbol("B", N, N)
a, b = sp.MatrixSymbol("a", N, 1), sp.MatrixSymbol("b", N, 1)
SIZES = {N: 3, T: 2, d_o: 2, d_r: 3}
BACKENDS = ("exact", "numpy", "torch")


# --- Theorem 3.1 of Ren and Liu (2024): one gradient step is attention ------------


def demonstrations():
    # Made afresh on every call: sympy then sums over fresh dummies.
    return (sp.OneMatrix(1, N) * Phi_D.T * p)[0, 0]


def everything():
    return demonstrations() + (sp.OneMatrix(1, T) * Phi_T.T * p)[0, 0]


@dataclass(frozen=True)
class Step:
    """The two sides; mutants replace a part of the left one."""

    loss: sp.Expr = -sp.Trace(V_D.T * W * Phi_D) / (eta * D)
    W_0: sp.MatrixExpr = V_T * Phi_T.T / D
    scale: sp.Expr = -eta
    D: sp.Expr | None = None

    def left(self):
        W_hat = self.W_0 + self.scale * gradient(self.loss, W)
        return (W_hat * p).subs(D, self.D or everything())

    def right(self):
        return (V_T * Phi_T.T * p + V_D * Phi_D.T * p) / everything()


MUTANTS = {
    "no eta": Step(loss=-sp.Trace(V_D.T * W * Phi_D) / D),
    "no D": Step(loss=-sp.Trace(V_D.T * W * Phi_D) / eta),
    "mean": Step(loss=-sp.Trace(V_D.T * W * Phi_D) / (eta * D * N)),
    "sign": Step(scale=eta),
    "W_0 without 1/D": Step(W_0=V_T * Phi_T.T),
    "W_0 zero": Step(W_0=sp.ZeroMatrix(d_o, d_r)),
    "two steps": Step(scale=-2 * eta),
    "D from demonstrations": Step(D=demonstrations()),
}


def rationals(rng, *shape):
    numbers = [Fraction(int(n), int(m)) for n, m in rng.integers(1, 9, (999, 2))]
    array = np.empty(shape, object)
    array.flat = numbers[: array.size]
    return array if shape else array[()]


def theorem_inputs(rng, *runs):
    matrices = (V_D, V_T, Phi_D, Phi_T, p)
    shapes = {one.name: one.subs(SIZES).shape for one in matrices}
    shapes = {name: (int(r), int(c)) for name, (r, c) in shapes.items()}
    inputs = {name: rationals(rng, *runs, *shape) for name, shape in shapes.items()}
    return {**inputs, "eta": rationals(rng, *runs)}


def known(expr, inputs):
    """The inputs an expression reads: eta cancels in some of them."""
    names = {one.name for one in expr.atoms(sp.Symbol, sp.MatrixSymbol)}
    return {name: value for name, value in inputs.items() if name in names}


def evaluate(expr, backend, inputs):
    return evaluator(expr, backend)(known(expr, inputs))


@pytest.fixture
def rng():
    return np.random.default_rng(20231013)


def test_one_gradient_step_is_attention_for_every_size():
    proof = prove_equal(Step().left(), Step().right())
    assert proof.proved
    assert proof.residual == sp.ZeroMatrix(d_o, 1)
    assert any("V_T*Phi_T.T*p" in step for step in proof.steps)


@pytest.mark.parametrize("name", MUTANTS)
def test_altered_steps_are_not_proved_and_differ_in_rationals(name, rng):
    mutant = MUTANTS[name]
    proof = prove_equal(mutant.left(), mutant.right())
    assert not proof.proved
    assert proof.residual != sp.ZeroMatrix(d_o, 1)
    inputs = theorem_inputs(rng)
    left = evaluate(mutant.left(), "exact", inputs)
    right = evaluate(mutant.right(), "exact", inputs)
    assert (left != right).any()


def test_the_proved_sides_agree_in_rationals_and_at_small_sizes(rng):
    inputs = theorem_inputs(rng)
    left = evaluate(Step().left(), "exact", inputs)
    assert all(isinstance(one, Fraction) for one in left.flat)
    assert (left == evaluate(Step().right(), "exact", inputs)).all()
    assert prove_equal_at(Step().left(), Step().right(), SIZES).proved
    assert not prove_equal_at(
        MUTANTS["mean"].left(), MUTANTS["mean"].right(), SIZES
    ).proved


def test_written_out_exact_numpy_and_torch_values_agree(rng):
    inputs, expr = theorem_inputs(rng), Step().left()
    exact = evaluate(expr, "exact", inputs)
    values = {
        sp.Symbol(f"{name}_{i}_{j}"): sp.Rational(one.numerator, one.denominator)
        for name, array in inputs.items()
        if name != "eta"
        for (i, j), one in np.ndenumerate(array)
    }
    values[eta] = sp.Rational(str(inputs["eta"]))
    written = components(expr, SIZES).subs(values)
    assert [Fraction(str(one)) for one in written] == list(exact.flat)
    expected = exact.astype(float)
    for backend in ("numpy", "torch"):
        result = evaluate(expr, backend, inputs)
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-13)


@pytest.mark.parametrize("backend", BACKENDS)
def test_batching_equals_looping(backend, rng):
    expr = Step().left() + p[0, 0] * V_D * Phi_D.T * p * eta
    inputs = theorem_inputs(rng, 2, 3)
    batched = np.asarray(evaluate(expr, backend, inputs))
    assert batched.shape == (2, 3, 2, 1)
    for run in np.ndindex(2, 3):
        one = {name: value[run] for name, value in inputs.items()}
        alone = np.asarray(evaluate(expr, backend, one))
        if backend == "exact":
            assert (batched[run] == alone).all()
        else:
            np.testing.assert_allclose(batched[run], alone, rtol=1e-14)


def test_batch_axes_broadcast_against_unbatched_inputs(rng):
    inputs = theorem_inputs(rng)
    inputs["p"] = rationals(rng, 5, 3, 1)
    result = evaluate(Step().left(), "numpy", inputs)
    assert result.shape == (5, 2, 1)


def test_a_witness_of_a_mutant_is_decided_without_sympy(rng):
    mutant, inputs = MUTANTS["no D"], theorem_inputs(rng)
    says = "a step without 1/D is not attention"
    left, right = mutant.left()[0, 0], mutant.right()[0, 0]
    record = formula(left, "!=", right, {**inputs, "unused": 1}, says)
    assert record.keys() == {"kind", "says", "inputs", "relation"}
    assert record["inputs"].keys() == {"V_D", "V_T", "Phi_D", "Phi_T", "p"}
    record = json.loads(json.dumps(record))
    assert holds(record)
    assert decide(record).valid is True
    record["relation"][0] = "=="
    assert not holds(record)
    assert decide(record).valid is False
    proved = formula(Step().left(), "==", Step().right(), inputs, "they agree")
    assert holds(proved)
    assert decide(proved).valid is True


# --- gradient ----------------------------------------------------------------------


def test_sympys_own_derivative_of_a_sum_of_traces_is_zero_and_ours_is_not():
    """Pins sympy 1.14: once this fails, the reason to derive by hand is gone."""
    C, E = sp.MatrixSymbol("C", d_r, d_o), sp.MatrixSymbol("E", d_r, d_o)
    loss = sp.Trace(C * W) + sp.Trace(E * W)
    assert loss.diff(W) == sp.ZeroMatrix(d_o, d_r)
    assert prove_equal(gradient(loss, W), C.T + E.T).proved


def test_sympy_writes_one_entry_in_two_unequal_ways_and_we_do_not():
    first, second = everything(), everything()
    assert first != second
    assert prove_equal(first, second).proved


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (sp.Trace(W * W.T) * alpha / 2, alpha * W),
        (sp.Trace((W * Phi_D - V_D) * (W * Phi_D - V_D).T) / 2,
         (W * Phi_D - V_D) * Phi_D.T),
        (sp.Trace(W * W.T) ** 2, 4 * sp.Trace(W * W.T) * W),
        (sp.exp((p.T * W.T * W * p)[0, 0]),
         2 * sp.exp((p.T * W.T * W * p)[0, 0]) * W * p * p.T),
        (x * sp.Trace(V_D.T * V_D) + D, sp.ZeroMatrix(d_o, d_r)),
        (sp.Integer(0), sp.ZeroMatrix(d_o, d_r)),
        (sp.Trace(W * Phi_D * V_D.T) / D + sp.Trace(W.T * W) / N,
         V_D * Phi_D.T / D + 2 * W / N),
    ],
)  # fmt: skip
def test_gradient(loss, expected):
    result = gradient(loss, W)
    assert result.shape == (d_o, d_r)
    assert prove_equal(result, expected).proved


def test_gradient_of_a_square_trace_is_the_identity():
    result = gradient(sp.Trace(A) + sp.Trace(A * A), A)
    assert prove_equal(result, sp.Identity(N) + 2 * A.T).proved


def test_gradient_agrees_with_autograd(rng):
    loss = sp.Trace(V_D.T * W * Phi_D) / D + sp.Trace(W * W.T * W * W.T) * alpha / 4
    values = {
        name: torch.tensor(value.astype(float))
        for name, value in theorem_inputs(rng).items()
        if name in {"V_D", "Phi_D"}
    }
    weights = torch.tensor(rng.normal(size=(2, 3)), requires_grad=True)
    values |= {"W": weights, "D": 1.7, "alpha": 0.3}
    evaluator(loss, "torch")(values).backward()
    derived = evaluate(gradient(loss, W), "torch", values)
    torch.testing.assert_close(weights.grad, derived.detach(), rtol=1e-13, atol=1e-13)


def test_a_wrong_rule_is_caught_by_the_control(monkeypatch):
    right = calculus._place

    def wrong(word, k, W):
        place = right(word, k, W)
        return place[:1] + tuple(reversed(place[1:]))

    monkeypatch.setattr(calculus, "_place", wrong)
    with pytest.raises(SymbolicError, match=r"fails its control at sizes"):
        gradient(sp.Trace(A * B * A.T * B * B), A)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (W * p, "must be a scalar"),
        (sp.Determinant(W * W.T), "no rule"),
        (W[0, 1] ** 2, "no rule"),
        (sp.Trace((W * W.T).inverse()), "no rule"),
    ],
)
def test_gradient_refuses_what_it_has_no_rule_for(loss, message):
    with pytest.raises(SymbolicError, match=message):
        gradient(loss, W)


# --- normal form -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((A * B).T, B.T * A.T),
        ((A + B) ** 2, A**2 + A * B + B * A + B**2),
        (2 * (A - B) / x + 2 * B / x, 2 * A / x),
        ((x**2 - 1) / (x - 1) * A, (x + 1) * A),
        (a * b.T * a, (b.T * a)[0, 0] * a),
        (a * (b.T * a), (a.T * b)[0, 0] * a),
        (sp.OneMatrix(N, T) * sp.OneMatrix(T, 1), T * sp.OneMatrix(N, 1)),
        (A * sp.Identity(N) - A, sp.ZeroMatrix(N, N)),
        (A.inverse() * A * B, B),
        ((A * B + x * sp.Identity(N)).inverse() * (A * B + x * sp.Identity(N)),
         sp.Identity(N)),
        ((A + A.T).inverse().T, (A + A.T).inverse()),
        (sp.Trace(A * B), sp.Trace(B * A)),
        (sp.Trace(A * B), sp.Trace(A.T * B.T)),
        (sp.Trace(a * b.T * A), (b.T * A * a)[0, 0]),
        (sp.Trace(a * b.T) ** 2, (a.T * b)[0, 0] * (b.T * a)[0, 0]),
        (sp.Trace(sp.Identity(N)), N),
        (MatrixElement(a.T * b, 0, 0), (b.T * a)[0, 0]),
        ((sp.OneMatrix(1, N) * sp.OneMatrix(N, 1))[0, 0], N),
        (sp.Sum(sp.exp(x) * A[x, x], (x, 0, N - 1)),
         sp.Sum(A[x, x] * sp.exp(x), (x, 0, N - 1))),
        (sp.sin(x) ** 2 + sp.cos(x) ** 2, 1),
        ((a.T * a)[0, 0] * (a.T * a).inverse(), sp.Identity(1)),
    ],
)  # fmt: skip
def test_proved(left, right):
    proof = prove_equal(left, right)
    assert proof.proved, proof.residual
    assert proof == Proof(True, proof.residual, proof.steps)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (A * B, B * A),
        (A.T, A),
        (a * b.T, b * a.T),
        (A + B, A),
        (sp.Trace(A * B * A.T), sp.Trace(A * B.T * A)),
        (A[0, 1], A[1, 0]),
        (sp.sqrt(x**2), x),
        (A.inverse() * B * A, B),
    ],
)
def test_not_proved(left, right):
    proof = prove_equal(left, right)
    assert not proof.proved
    assert proof.residual != 0


def test_normal_form_is_the_same_for_equal_inputs_and_prints_no_dummies():
    left, right = Step().left(), Step().left()
    assert normal_form(left) == normal_form(right)
    assert describe(left) == describe(right)
    assert normal_form(normal_form(left)) == normal_form(left)


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        (a, A, "differ in shape"),
        (a.T * a, x, "differ in shape"),
        (A / (a.T * b), a, "do not fit"),
    ],
)
def test_sides_that_do_not_fit(left, right, message):
    with pytest.raises(SymbolicError, match=message):
        prove_equal(left, right)


def matrices(depth=3):
    """Square expressions in A, B, a b', x, with traces and entries as coefficients."""
    ones = sp.OneMatrix(N, N)
    leaf = st.sampled_from([A, B, a * b.T, sp.Identity(N), ones, A.T, a * a.T])
    numbers = st.sampled_from([x, sp.Rational(2, 3), sp.Integer(-1), 1 / (1 + x**2)])

    def grow(inner):
        scalar = st.one_of(
            numbers,
            inner.map(sp.Trace),
            inner.map(lambda one: (a.T * one * b)[0, 0]),
            inner.map(lambda one: one[0, 1]),
        )
        return st.one_of(
            st.tuples(inner, inner).map(lambda two: two[0] + two[1]),
            st.tuples(inner, inner).map(lambda two: two[0] * two[1]),
            st.tuples(scalar, inner).map(lambda two: two[0] * two[1]),
            inner.map(lambda one: one.T),
        )

    return st.recursive(leaf, grow, max_leaves=depth + 2)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(expr=matrices(), seed=st.integers(0, 99))
def test_normal_form_keeps_every_value(expr, seed):
    rng = np.random.default_rng(seed)
    inputs = {one.name: rationals(rng, 3, 3 if one in {A, B} else 1)
              for one in (A, B, a, b)}  # fmt: skip
    inputs |= {"x": rationals(rng), "N": 3}
    before, after = (evaluate(e, "exact", inputs) for e in (expr, normal_form(expr)))
    assert (before == after).all()
    assert prove_equal(expr, normal_form(expr)).proved


# --- components --------------------------------------------------------------------


def test_components_write_out_every_kind_of_part():
    i = sp.Symbol("i", integer=True)
    expr = (
        N * sp.Trace(A * B)
        + sp.Sum(A[0, i] * a[i, 0], (i, 0, N - 1))
        + (sp.OneMatrix(1, N) * (A + sp.Identity(N)) ** 2 * a)[0, 0]
        + sp.Trace(sp.HadamardProduct(A, B))
    )
    entry = {name: sp.Symbol(name) for name in ("A_0_0", "B_0_0", "a_0_0")}
    A_0, B_0, a_0 = entry.values()
    expected = A_0 * B_0 + A_0 * a_0 + (A_0 + 1) ** 2 * a_0 + A_0 * B_0
    assert sp.expand(components(expr, {N: 1}) - expected) == 0


def test_components_can_be_renamed_and_do_not_collide():
    assert components(a, {N: 1}, names={"a": "q"}) == sp.ImmutableMatrix([
        [sp.Symbol("q_0_0")]
    ])
    clash = sp.Symbol("a_0_0") * a
    with pytest.raises(SymbolicError, match="a_0_0"):
        components(clash, {N: 1})
    assert components(clash, {N: 1}, names={"a": "q"}).shape == (1, 1)


@pytest.mark.parametrize("sizes", [{}, {N: -1}])
def test_components_need_a_size_for_every_dimension(sizes):
    with pytest.raises(SymbolicError, match="dimension N"):
        components(a, sizes)


def test_components_at_empty_sizes():
    assert components(sp.OneMatrix(1, N) * a, {N: 0}) == sp.zeros(1, 1)


# --- evaluator ---------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_float32_stays_float32(backend, rng):
    make = torch.tensor if backend == "torch" else np.asarray
    single = torch.float32 if backend == "torch" else np.float32
    expr = (
        sp.Rational(1, 3) * sp.sqrt(2) * A / N + sp.exp(eta) * sp.sqrt(N) * B
        + sp.Max(eta, 0) * sp.OneMatrix(N, N) + sp.pi * sp.Identity(N)
        + sp.Trace(A) * A + sp.Piecewise((x, x > 0), (0, True)) * A
    )  # fmt: skip
    inputs = {
        "A": make(rng.normal(size=(3, 3)), dtype=single),
        "B": make(rng.normal(size=(3, 3)), dtype=single),
        "eta": 0.1,
        "x": np.float64(0.25),
    }
    assert evaluator(expr, backend)(inputs).dtype == single
    inputs["eta"] = Fraction(1, 10)
    assert evaluator(expr, backend)(inputs).dtype == single


def test_constants_are_rounded_correctly(rng):
    third = sp.Rational(10**40 + 1, 3 * 10**40)
    value = evaluator(third * x + sp.sqrt(2) * y, "numpy")
    assert value({"x": 1, "y": 0}).item().hex() == (1 / 3).hex()
    assert value({"x": 0, "y": 1}).item().hex() == math.sqrt(2).hex()
    assert evaluator(third * x, "exact")({"x": 3}) == Fraction(10**40 + 1, 10**40)
    assert evaluator(10**30 * x, "numpy")({"x": 1}).item().hex() == (1e30).hex()


def test_scalar_formulas_are_exact():
    assert evaluator(x / (x + y), "exact")({"x": 1, "y": 2}) == Fraction(1, 3)
    assert evaluator(2**x / y**2, "exact")({"x": -3, "y": 2}) == Fraction(1, 32)
    assert evaluator(sp.Integer(7), "exact")({}) == 7
    clipped = sp.Max(x, sp.Min(y, 1)) + sp.Abs(x)
    assert evaluator(clipped, "exact")({"x": -2, "y": 3}) == 3
    steps = sp.Piecewise((x, sp.And(x > 0, x < y)), (2 * y, True))
    for backend in BACKENDS:
        result = evaluator(steps, backend)({"x": [1, 3, -1], "y": 2})
        assert [float(one) for one in result] == [1, 4, 4]


def test_dimensions_are_exact_numbers_too():
    mean = sp.Trace(a * sp.OneMatrix(1, N)) / N
    assert evaluator(mean, "exact")({"a": [[1], [1], [0]]}) == Fraction(2, 3)


@pytest.mark.parametrize("backend", BACKENDS)
def test_inverse_powers_and_sums(backend):
    i = sp.Symbol("i", integer=True)
    inputs = {"A": np.array([[2, 1], [1, 1]]), "a": np.array([[1], [3]])}
    solved = evaluator(A.inverse() * a, backend)(inputs)
    assert np.allclose(np.asarray(solved).astype(float), [[-2], [5]])
    power = evaluator(A**2 + sp.HadamardProduct(A, A), backend)({"A": inputs["A"]})
    assert np.allclose(np.asarray(power).astype(float), [[9, 4], [4, 3]])
    total = sp.Sum(a[i, 0] ** (i + 1), (i, 0, N - 1))
    assert int(evaluator(total, backend)({"a": inputs["a"]})) == 10


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_tokens_at_all(backend):
    """No query-side tokens, T = 0, is a legal size."""
    ours = {"V_T": np.zeros((2, 0), int), "Phi_T": np.zeros((3, 0), int)}
    result = evaluator(V_T * Phi_T.T, backend)(ours)
    assert np.asarray(result).shape == (2, 3)
    assert not np.asarray(result).astype(float).any()


def test_torch_keeps_the_graph_and_numpy_inputs_are_welcome():
    weight = torch.tensor([[1.0], [2.0]], dtype=torch.float32, requires_grad=True)
    rate = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    value = evaluator(eta * (a.T * b)[0, 0], "torch")({
        "a": weight,
        "b": np.array([[1], [1]]),
        "eta": rate,
    })
    value.backward()
    assert value.dtype == torch.float32
    assert weight.grad.flatten().tolist() == [0.5, 0.5]
    assert rate.grad.item() == 3


def test_torch_refuses_mixed_types():
    mixed = {"a": torch.ones(2, 1), "b": torch.ones(2, 1, dtype=torch.float64)}
    with pytest.raises(SymbolicError, match=r"a is torch.float32.*b is torch.float64"):
        evaluator(a.T * b, "torch")(mixed)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("expr", "inputs", "message"),
    [
        (x * a, {"a": [[1]]}, "missing inputs: x"),
        (x * a, {"a": [[1]], "x": 1, "z": 1}, "unknown inputs: z"),
        (A * a, {"A": np.ones((2, 2), int), "a": np.ones((3, 1), int)},
         r"N is 2 in A of shape \(2, 2\) but 3 in a of shape \(3, 1\)"),
        (A, {"A": np.ones((2, 3), int)}, "N is 2 in A"),
        (a, {"a": [1, 2]}, "at least two axes"),
        (a / N, {"a": [[1]], "N": 2}, "N is 2 in the input N = 2 but 1 in a"),
        (sp.OneMatrix(N, 1), {}, "missing inputs: N"),
        (sp.OneMatrix(N, 1), {"N": 1.5}, "integer >= 0"),
    ],
)  # fmt: skip
def test_bad_inputs_are_named(expr, inputs, message, backend):
    with pytest.raises(SymbolicError, match=message):
        evaluator(expr, backend)(inputs)


@pytest.mark.parametrize(
    ("expr", "inputs"),
    [(x, {"x": 0.5}), (2**x, {"x": Fraction(1, 2)}), (a, {"a": np.ones((2, 1))})],
)
def test_no_float_creeps_into_exact_results(expr, inputs):
    with pytest.raises(SymbolicError):
        evaluator(expr, "exact")(inputs)


@pytest.mark.parametrize("expr", [sp.exp(x), sp.sqrt(x), sp.pi * x, 0.5 * x])
def test_exact_evaluation_of_irrational_operations_is_refused(expr):
    with pytest.raises(SymbolicError):
        evaluator(expr, "exact")


@pytest.mark.parametrize("expr", [sp.gamma(x), sp.Determinant(A), sp.oo * x, A**x])
def test_parts_without_a_transcription_are_refused(expr):
    with pytest.raises(SymbolicError, match="cannot evaluate"):
        evaluator(expr)


def test_two_symbols_of_one_name_are_refused():
    with pytest.raises(SymbolicError, match="called x"):
        evaluator(x + sp.Symbol("x", positive=True))
    with pytest.raises(SymbolicError, match="no back-end"):
        evaluator(x, "jax")


def test_names_need_not_be_identifiers():
    primed = sp.MatrixSymbol("W'", N, 1) * sp.Symbol("lambda")
    assert evaluator(primed, "exact")({"W'": [[2]], "lambda": 3}).tolist() == [[6]]


# --- witnesses ---------------------------------------------------------------------

OPERATIONS = {
    "add": lambda *parts: reduce(add, parts),
    "mul": lambda *parts: reduce(mul, parts),
    "div": lambda one, two: one / two,
    "pow": lambda one, n: one ** int(n),
    "max": max,
    "min": min,
    "abs": abs,
    "exp": lambda one: Fraction(math.exp(one)),
    "log": lambda one: Fraction(math.log(one)),
    "sqrt": lambda one: Fraction(math.sqrt(one)),
    "matmul": lambda *parts: reduce(np.matmul, parts),
    "transpose": np.transpose,
    "trace": np.trace,
    "ones": lambda r, c: np.full((int(r), int(c)), Fraction(1)),
    "zeros": lambda r, c: np.full((int(r), int(c)), Fraction(0)),
    "eye": lambda n: np.eye(int(n), dtype=int).astype(object),
    "entry": lambda one, i, j: one[int(i), int(j)],
}


def number(raw):
    hexadecimal = isinstance(raw, str) and "x" in raw
    return Fraction(float.fromhex(raw)) if hexadecimal else Fraction(raw)


def value(node, inputs):
    """A reference evaluator of trees, as plain as can be."""
    if not isinstance(node, list):
        return number(node)
    op, *parts = node
    if op == "in":
        raw = inputs[parts[0]]
        if not isinstance(raw, list):
            return number(raw)
        return np.array([[number(one) for one in row] for row in raw], object)
    if op == "sum":
        name, low, high, body = parts
        steps = range(int(value(low, inputs)), int(value(high, inputs)) + 1)
        return sum(value(body, {**inputs, name: step}) for step in steps)
    return OPERATIONS[op](*(value(part, inputs) for part in parts))


def holds(record):
    op, left, right = record["relation"]
    left, right = (value(side, record["inputs"]) for side in (left, right))
    relations = {
        "==": lambda: bool(np.all(left == right)),
        "!=": lambda: bool(np.any(left != right)),
        "<": lambda: bool(np.all(left < right)),
        "<=": lambda: bool(np.all(left <= right)),
        ">": lambda: bool(np.all(left > right)),
        ">=": lambda: bool(np.all(left >= right)),
    }
    return relations[op]()


i = sp.Symbol("i", integer=True)


@pytest.mark.parametrize(
    "expr",
    [
        sp.Max(x, 2) - sp.Min(y, sp.Rational(1, 3)) + sp.Abs(x - 5),
        x**-2 / (3 * y**3) + y**2 + 1 / x,
        2**x,
        (sp.OneMatrix(1, N) * A**2 * a)[0, 0] / N,
        sp.Trace(A * sp.OneMatrix(N, N) + sp.Identity(N) * x),
        (a.T * (A + sp.ZeroMatrix(N, N)) * a)[0, 0] * sp.Float("0.25"),
        sp.Sum(a[i, 0] ** 3 / (i + 1), (i, 0, N - 1)),
    ],
)
def test_trees_have_the_value_of_the_expression(expr, rng):
    inputs = {"A": rationals(rng, 2, 2), "a": rationals(rng, 2, 1)}
    inputs |= {"x": 3, "y": Fraction(5, 7)}
    node = tree(expr, {N: 2})
    assert json.loads(json.dumps(node)) == node
    exact = sp.nsimplify(expr, rational=True)
    expected = evaluator(exact, "exact")(known(exact, inputs))
    record = formula(expr, "==", sp.Symbol("claimed"), {**inputs, "claimed": expected},
                     "same value")  # fmt: skip
    assert holds(record)
    assert decide(record).valid is True


def test_trees_of_irrational_functions():
    expr = sp.exp(x) + sp.log(y) + sp.sqrt(x) + 1 / sp.sqrt(y)
    near = formula(expr, "<", sp.Integer(9), {"x": 1.5, "y": 2}, "below nine")
    assert near["inputs"] == {"x": (1.5).hex(), "y": 2}
    assert holds(near)
    assert decide(near).valid is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((x, "=", y, {"x": 1, "y": 1}), "no relation"),
        ((x, "<", y, {"x": 1}), "missing inputs: y"),
        ((x, "<", y, {"x": 1, "y": math.inf}), "finite"),
        ((x, "<", y, {"x": 1, "y": [[1]]}), "single number"),
        ((a, "==", b, {"a": [[1]], "b": [1]}), "must be a matrix"),
        ((a, "==", b, {"a": [[1]], "b": [[1], [2]]}), "dimension N"),
        ((x, "==", a, {"x": 1, "a": [[1]]}), "differ in shape"),
        ((sp.gamma(x), "==", y, {"x": 1, "y": 1}), "no node for gamma"),
        ((sp.Trace(A.inverse()), "==", y, {"A": [[1]], "y": 1}), "no node for Inverse"),
    ],
)
def test_formulas_that_cannot_be_written(arguments, message):
    with pytest.raises(SymbolicError, match=message):
        formula(*arguments, "words")


def test_a_tree_needs_sizes_only_for_its_dimensions():
    assert tree(sp.OneMatrix(N, T), {N: 2, T: 3}) == ["ones", 2, 3]
    assert tree(a / N, {N: 2}) == ["mul", ["div", 1, 2], ["in", "a"]]
    with pytest.raises(SymbolicError, match="dimension T"):
        tree(sp.OneMatrix(N, T), {N: 2})


# --- text --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expr", "text", "latex"),
    [
        (x / 2, "x/2", r"\frac{x}{2}"),
        (3, "3", "3"),
        (Fraction(-2, 5), "-2/5", r"- \frac{2}{5}"),
        ("50% of a_b", "50% of a_b", r"\text" + r"{50\% of a\_b}"),
        (
            A * B / (x + 1) - 2 * A * (B - A),
            "-2*A*(-A + B) + 1/(x + 1)*A*B",
            r"-2 A \left(-A + B\right) + \frac{1}{x + 1} A B",
        ),
        (p[0, 0] * W, "p[0, 0]*W", r"{p}_{0,0} W"),
        (sp.OneMatrix(1, N) * a, "ones(1, N)*a", r"\mathbf{1}_{1 \times N} a"),
    ],
)
def test_describe(expr, text, latex):
    assert describe(expr) == {"text": text, "latex": latex}


def test_everything_public_is_exported_and_documented():
    assert symbolic.__all__ == sorted(symbolic.__all__)
    assert all(getattr(symbolic, name).__doc__ for name in symbolic.__all__)
    assert all(one < two for one, two in pairwise(symbolic.__all__))
    assert replace(Proof(True, sp.S.Zero, ()), proved=False).proved is False


def test_family_is_rounded_outward_and_holds():
    n = sp.Symbol("n", positive=True)
    slow = n ** sp.Rational(1, 6) / sp.log(n)
    words = {"says": "the ratio grows", "limit": "a power beats a logarithm"}
    record = family(slow, n, (10**8, 10**10, 10**14), toward="infinity", **words)
    assert decide(record).valid is True
    values = [Fraction(x["value"]) for x in record["instances"]]
    for at, value in zip((8, 10, 14), values, strict=True):
        exact = slow.subs(n, 10**at).evalf(30)
        assert 0 < exact - sp.Rational(value) < exact / 50
    small = family(sp.E / n**3, n, (Fraction(1, 2), 7), toward="0", **words)
    assert decide(small).valid is True
    assert small["bound"] == ["div", ["exp", 1], ["pow", ["in", "n"], 3]]
    round_one = family(1 / n, n, (10, 100), toward="0", **words)
    assert [x["value"] for x in round_one["instances"]] == ["101/1000", "101/10000"]


def test_family_refuses_what_bounds_nothing():
    n, m = sp.symbols("n m", positive=True)
    for bound, toward, what in (
        (m / n, "0", "reads more than n"),
        (1 - n, "0", "no positive number"),
        (sp.log(-n), "0", "no positive number"),
        (n - n, "0", "no positive number"),
        (1 / n, "1", "toward is 0 or infinity"),
        (sp.pi / n, "0", "no node for Pi"),
    ):
        with pytest.raises(SymbolicError, match=what):
            family(bound, n, (2, 3), toward=toward, says="s", limit="l")
