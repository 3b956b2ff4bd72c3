import math

import pytest
import torch

from verify.train.loop import Status, log_spaced, train
from verify.train.optimisers import SGD, Adam, Momentum, NormalisedGD


def start(runs=4):
    return {"p": torch.linspace(1.0, 2.0, runs, dtype=torch.float64)[:, None]}


def quadratic(params, centre):
    return (params["p"] - centre).square().sum(dim=1)


def nothing(step):
    return 0.0


def rates(*values):
    return torch.tensor(values, dtype=torch.float64)


def test_gradient_descent_on_a_quadratic_has_its_closed_form():
    lr = rates(0.1, 0.25, 0.4, 0.0)
    out = train(start(), quadratic, nothing, SGD(lr), 10, snapshots=range(11))
    factors = (1 - 2 * lr) ** torch.arange(11)[:, None]
    expected = (factors * start()["p"][:, 0]) ** 2
    # Ten products of two rounded factors, squared.
    torch.testing.assert_close(
        out.losses, expected, rtol=60 * torch.finfo(torch.float64).eps, atol=0
    )
    assert out.steps == tuple(range(11))
    assert out.status == (Status.FINISHED,) * 4
    assert out.diverged_at.tolist() == [-1] * 4


@pytest.mark.parametrize("make", [SGD, Momentum, Adam])
def test_a_diverging_run_is_recorded_and_leaves_its_neighbours_alone(make):
    def steep(params, _):
        return params["p"].pow(4).sum(dim=1)

    calm = rates(0.01, 0.01, 0.01, 0.01)
    wild = rates(0.01, 1e300, 0.01, 0.01)
    neighbours = [0, 2, 3]
    good, bad = (
        train(start(), steep, nothing, make(lr), 50, snapshots=range(51))
        for lr in (calm, wild)
    )
    assert torch.equal(good.params["p"][neighbours], bad.params["p"][neighbours])
    assert torch.equal(good.losses[:, neighbours], bad.losses[:, neighbours])
    assert bad.status[1] is Status.DIVERGED
    assert [s for i, s in enumerate(bad.status) if i != 1] == [Status.FINISHED] * 3
    end = int(bad.diverged_at[1])
    assert end == 1
    assert not bad.losses[end:, 1].isfinite().any()
    assert bad.losses[:end, 1].isfinite().all()


def test_divergence_is_dated_by_the_first_loss_not_below_the_limit():
    # p doubles its distance at every step: the loss is p0^2 * 4^t.
    lr = rates(1.5, 1.5, 0.1, 1.5)
    out = train(start(), quadratic, nothing, SGD(lr), 20, limit=1e4)
    for p0, ended, rate in zip(
        start()["p"][:, 0].tolist(), out.diverged_at.tolist(), lr.tolist(), strict=True
    ):
        losses = [p0**2 * (1 - 2 * rate) ** (2 * t) for t in range(21)]
        expected = next((t for t, v in enumerate(losses) if v >= 1e4), -1)
        assert ended == expected
    # Frozen where the loss failed.
    frozen = start()["p"][0] * (-2.0) ** int(out.diverged_at[0])
    assert torch.equal(out.params["p"][0], frozen)


def test_a_run_that_is_nan_from_the_start_is_kept():
    params = start()
    params["p"][2] = math.nan
    out = train(params, quadratic, nothing, NormalisedGD(0.1), 5)
    assert out.diverged_at.tolist() == [-1, -1, 0, -1]
    assert out.params["p"].shape == (4, 1)
    assert out.params["p"].isnan().sum() == 1


def test_a_diverged_run_stays_diverged_when_the_batch_becomes_easy():
    def batches(step):
        return math.nan if step == 3 else 0.0

    out = train(start(), quadratic, batches, SGD(0.1), 6)
    assert out.diverged_at.tolist() == [3] * 4
    assert out.losses[-1].isfinite().all()


def test_a_loss_that_fails_only_at_the_end_counts():
    out = train(start(), quadratic, lambda t: math.inf if t == 4 else 0.0, SGD(0.1), 4)
    assert out.diverged_at.tolist() == [4] * 4


def test_observables_are_stacked_by_snapshot_and_run():
    def observe(params):
        p = params["p"]
        assert not p.requires_grad
        return {"square": p[:, 0] ** 2, "pair": torch.cat([p, -p], dim=1)}

    seen = []
    out = train(
        start(),
        quadratic,
        nothing,
        SGD(0.1),
        7,
        observe=observe,
        snapshots=[5, 0, 5, 7],
        progress=lambda done, steps: seen.append((done, steps)),
    )
    assert out.steps == (0, 5, 7)
    assert out.observed["square"].shape == (3, 4)
    assert out.observed["pair"].shape == (3, 4, 2)
    assert torch.equal(out.observed["square"], out.losses)
    assert torch.equal(out.observed["pair"][-1, :, :1], out.params["p"])
    assert seen == [(t, 7) for t in range(1, 8)]


def test_batches_are_those_of_their_steps():
    def batches(step):
        asked.append(step)
        return float(step)

    asked = []
    out = train(start(1), quadratic, batches, SGD(0.5), 6)
    assert asked == list(range(7))
    # lr 1/2 jumps onto the centre of the batch: after step 5 the parameter is 5.
    assert out.params["p"].tolist() == [[5.0]]
    assert out.losses[-1].tolist() == [1.0]


def test_the_initial_parameters_are_left_alone():
    params = start()
    train(params, quadratic, nothing, SGD(0.1), 3)
    assert torch.equal(params["p"], start()["p"])


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"params": {}}, "`params`"),
        ({"params": {"a": torch.ones(2, 1), "p": torch.ones(3, 1)}}, "`params`"),
        ({"params": {"p": torch.tensor(1.0)}}, "`params`"),
        ({"loss": lambda params, _: params["p"].sum()}, "`loss`"),
        ({"loss": lambda params, _: params["p"]}, "`loss`"),
        ({"steps": -1}, "`steps`"),
        ({"snapshots": [4]}, "`snapshots`"),
        ({"snapshots": [-1]}, "`snapshots`"),
        ({"snapshots": []}, "`snapshots`"),
    ],
)
def test_bad_arguments_are_named(change, match):
    arguments = {
        "params": start(),
        "loss": quadratic,
        "batches": nothing,
        "optimiser": SGD(0.1),
        "steps": 3,
    }
    with pytest.raises(ValueError, match=match):
        train(**{**arguments, **change})


@pytest.mark.parametrize("steps", [0, 1, 2, 9, 10, 1000, 12345])
def test_log_spaced_holds_both_ends(steps):
    at = log_spaced(steps)
    assert at[0] == 0
    assert at[-1] == steps
    assert list(at) == sorted(set(at))
    assert len(at) <= 2 + 8 * math.log10(max(steps, 1)) + 1


def slope(params, centre):
    """The closed form of `quadratic`."""
    distance = params["p"] - centre
    return distance.square().sum(dim=1), {"p": 2 * distance}


@pytest.mark.parametrize("make", [SGD, Momentum, Adam, NormalisedGD])
def test_a_closed_form_stands_in_for_automatic_differentiation(make):
    def never(params, batch):
        raise AssertionError("the loss was differentiated")

    lr = rates(0.1, 0.25, 1e200, 0.0)
    automatic = train(start(), quadratic, float, make(lr), 8, snapshots=range(9))
    closed = train(
        start(), never, float, make(lr), 8, gradient=slope, snapshots=range(9)
    )
    assert torch.equal(closed.params["p"], automatic.params["p"])
    assert torch.equal(
        closed.losses.nan_to_num(nan=-1), automatic.losses.nan_to_num(nan=-1)
    )
    assert torch.equal(closed.diverged_at, automatic.diverged_at)


def test_a_gradient_that_is_nan_in_one_run_leaves_the_others_alone():
    def broken(params, centre):
        losses, grads = slope(params, centre)
        losses[1] = grads["p"][1] = math.nan
        return losses, grads

    good, bad = (
        train(start(), quadratic, nothing, Adam(0.1), 5, gradient=g)
        for g in (slope, broken)
    )
    assert bad.diverged_at.tolist() == [-1, 0, -1, -1]
    keep = [0, 2, 3]
    assert torch.equal(bad.params["p"][keep], good.params["p"][keep])
    assert torch.equal(bad.params["p"][1], start()["p"][1])


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (lambda p: (p["p"].sum(), {"p": p["p"]}), r"`gradient`.*\(4,\).*\(\)"),
        (lambda p: (p["p"], {"p": p["p"]}), r"`gradient`.*\(4,\).*\(4, 1\)"),
        (lambda p: (p["p"][:, 0], {"q": p["p"]}), r"`gradient`.*\['p'\].*\['q'\]"),
        (lambda p: (p["p"][:, 0], {}), r"`gradient`.*\['p'\].*\[\]"),
        (lambda p: (p["p"][:, 0], {"p": p["p"][:, 0]}), r"`gradient`.*'p'.*\(4,\)"),
        (lambda p: (p["p"][:, 0], {"p": p["p"].T}), r"`gradient`.*'p'.*\(1, 4\)"),
    ],
)
def test_a_wrong_gradient_is_named(wrong, match):
    with pytest.raises(ValueError, match=match):
        train(start(), quadratic, nothing, SGD(0.1), 3, gradient=lambda p, _: wrong(p))
