import pytest
import torch

from verify.train import layout
from verify.train.layout import attend, contract, multiply, outer, runs_first, runs_last
from verify.train.optimisers import NormalisedGD

EPS = torch.finfo(torch.float64).eps


def draw(*shape, seed=0):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=g, dtype=torch.float64)


@pytest.fixture(params=["whole", "term by term"])
def either_way(request, monkeypatch):
    size = 10**9 if request.param == "whole" else 0
    monkeypatch.setitem(layout._WHOLE, "cpu", size)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    ("left", "right", "dim", "formula"),
    [
        ((3, 4, 7), (3, 4, 7), 1, "nkr,nkr->nr"),
        ((1, 5, 4, 7), (3, 1, 4, 7), 2, "zmkr,nzkr->nmr"),
        ((3, 4, 1, 7), (3, 4, 5, 7), 1, "nkzr,nkmr->nmr"),
        ((3, 5, 1, 7), (3, 1, 4, 7), 0, "nmzr,nykr->mkr"),
    ],
)
def test_contractions_are_those_of_einsum(left, right, dim, formula):
    a, b = draw(*left), draw(*right, seed=1)
    kept = (a.clone(), b.clone())
    got = contract(a, b, dim)
    expected = torch.einsum(formula, a, b)
    assert got.shape == expected.shape
    # At most 5 products of numbers below 4.
    assert float((got - expected).abs().max()) <= 5 * 16 * 5 * EPS
    assert torch.equal(a, kept[0])
    assert torch.equal(b, kept[1])


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("shape", [(5, 4), (5, 4, 7)], ids=["for all", "per run"])
def test_matrices_multiply_vectors(shape):
    matrix, vectors, others = draw(*shape), draw(3, 4, 7, seed=1), draw(3, 5, 7, seed=2)
    letters = "mkr"[: len(shape)]
    for got, expected in (
        (
            multiply(matrix, vectors),
            torch.einsum(f"{letters},nkr->nmr", matrix, vectors),
        ),
        (
            multiply(matrix.transpose(0, 1), others),
            torch.einsum(f"{letters},nmr->nkr", matrix, others),
        ),
    ):
        assert got.shape == expected.shape
        assert float((got - expected).abs().max()) <= 5 * 16 * 5 * EPS


def test_runs_come_last_and_first_again():
    x = draw(7, 3, 4)
    assert runs_last(x).shape == (3, 4, 7)
    assert runs_last(x).is_contiguous()
    assert torch.equal(runs_first(runs_last(x)), x)
    again = runs_last(runs_first(runs_last(x)))
    assert again.data_ptr() != x.data_ptr()
    y = runs_last(x)
    assert runs_last(runs_first(y)).data_ptr() == y.data_ptr()


def test_attention_and_outer_products_run_by_run():
    W, x, z = draw(7, 4, 4), draw(7, 3, 5, 4, seed=1), draw(7, 3, 4, seed=2)
    bias = draw(7, 3, 5, seed=3)
    weights = attend(W, runs_last(x), runs_last(z), runs_last(bias))
    sums = outer(runs_last(z), runs_last(x[:, :, 0]))
    assert weights.shape == (3, 5, 7)
    for r in range(7):
        for i in range(3):
            expected = torch.softmax(x[r, i] @ W[r] @ z[r, i] + bias[r, i], dim=0)
            # Scores below 4 * 4 * 64, each of 8 products.
            assert float((weights[i, :, r] - expected).abs().max()) <= 8 * 1024 * EPS
        expected = z[r].mT @ x[r, :, 0]
        assert float((sums[r] - expected).abs().max()) <= 3 * 16 * 3 * EPS


def test_normalised_steps_do_not_depend_on_the_layout():
    grads = draw(7, 3, 4)
    params = {"W": draw(7, 3, 4, seed=1)}
    moved, _ = NormalisedGD(0.1).step(params, {"W": grads}, {}, 0)
    other, _ = NormalisedGD(0.1).step(
        params, {"W": runs_first(runs_last(grads))}, {}, 0
    )
    # 12 squares summed in another order, on parameters below 4.
    assert float((moved["W"] - other["W"]).abs().max()) <= 16 * EPS
