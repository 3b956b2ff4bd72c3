import itertools
import math

import naive
import pytest
import torch
from scipy import stats

from verify.train.icl import COVARIATES, TASKS, Setting, draw, prompts, values
from verify.train.random import keys_of, normal, uniform

SEEDS = [3, 14, 15, 92, 65]
EPS = torch.finfo(torch.float64).eps
EVERY = pytest.mark.parametrize(
    ("task", "covariates"), list(itertools.product(TASKS, COVARIATES))
)


def numbers(*values):
    return torch.tensor(values, dtype=torch.float64)


def full(runs, value):
    return torch.full((runs,), value, dtype=torch.float64)


L = numbers(0.5, 1.0, 2.0, 3.0, 0.0)
SIGMA = numbers(0.1, 0.0, 1.0, 0.3, 2.0)


@EVERY
@pytest.mark.parametrize("held_out", [False, True])
def test_prompts_are_the_transcription(task, covariates, held_out):
    setting = Setting(task, covariates, 3, 6, 2)
    keys = keys_of(SEEDS, "test")
    ours = draw(setting, keys, L, SIGMA, 11, held_out=held_out)
    assert [tuple(part.shape) for part in ours] == [
        (5, 6, 3),
        (5, 6),
        (5, 2, 3),
        (5, 2),
    ]
    assert {part.dtype for part in ours} == {torch.float64}
    gaussian, scaling = (2, 3) if held_out else (0, 1)
    rows = normal(keys, gaussian, 11, (9, 4))
    scales = uniform(keys, scaling, 11, (max(1, TASKS[task]),), low=-1, high=1)
    for run in range(5):
        stated = naive.prompt(
            setting, rows[run], scales[run], float(L[run]), float(SIGMA[run])
        )
        for part, expected in zip(ours, stated, strict=True):
            # Sums of three, a root, a quotient; scales and noise are below 3 and 8.
            torch.testing.assert_close(
                part[run], numbers(*expected), rtol=0, atol=100 * EPS
            )


@pytest.mark.parametrize(
    ("task", "scales"),
    [("affine", (-1.5, 0.25)), ("relu", (-1.5, 2.0, 0.25)), ("cosine", (4.0,))],
)
def test_values_are_the_formula(task, scales):
    keys = keys_of([1, 2], "values")
    x, w = normal(keys, 0, 0, (50, 4)), normal(keys, 1, 0, (4,))
    ours = values(task, x, w, numbers(scales, scales))
    for run in range(2):
        f = naive.function(task, w[run], scales)
        expected = numbers(*(f(point) for point in x[run]))
        # Four products of numbers below 5, then a slope of at most 4.
        torch.testing.assert_close(ours[run], expected, rtol=0, atol=800 * EPS)


def test_an_unbalanced_kink_has_its_two_slopes():
    x = numbers([[[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0]]])[0]
    out = values("relu", x, numbers([1.0, 0.0]), numbers([3.0, 5.0, 0.5]))
    assert out.tolist() == [[6.5, 10.5, 0.5]]


@EVERY
def test_every_number_lies_where_it_should(task, covariates):
    runs = 300
    setting = Setting(task, covariates, 4, 9, 3)
    x, y, query, target = draw(
        setting, keys_of(range(runs)), full(runs, 2.0), full(runs, 0.0), 0
    )
    points = torch.cat([x, query], dim=1)
    f = torch.cat([y, target], dim=1)
    assert float((points.norm(dim=-1) - 1).abs().max()) <= 8 * EPS
    distance = (points[:, :, None] - points[:, None]).norm(dim=-1)
    difference = (f[:, :, None] - f[:, None]).abs()
    assert bool((difference <= 2.0 * distance + 100 * EPS).all())
    assert float(f.abs().max()) <= (1.0 if task == "cosine" else 4.0)
    # The bound is not idle: some pair comes near it, though few lie where a cosine
    # is steep, and along its direction.
    slopes = difference / distance.clamp_min(1e-9)
    assert float(slopes.max()) > (1.3 if task == "cosine" else 1.8)


def sample(task, covariates, d=4, runs=3000):
    setting = Setting(task, covariates, d, 12, 2)
    return draw(setting, keys_of(range(runs)), full(runs, 1.0), full(runs, 0.0), 7)


@pytest.mark.parametrize("covariates", COVARIATES)
def test_covariates_have_their_distribution(covariates):
    d = 4
    x = sample("affine", covariates, d).x.flatten(0, 1)
    if covariates == "non-isotropic":
        x = x / torch.arange(1.0, d + 1, dtype=torch.float64).sqrt()
        x = x / x.norm(dim=-1, keepdim=True)
    # A coordinate of a uniform point on the sphere; false alarm 1e-6 each.
    law = stats.beta((d - 1) / 2, (d - 1) / 2, loc=-1, scale=2)
    for k in range(d):
        assert stats.kstest(x[:, k].numpy(), law.cdf).pvalue > 1e-6
    count = len(x)
    second = x.T @ x / count
    # E x_j x_k = 1/d on the diagonal; no variance exceeds E x_j^4 = 3 / (d (d + 2)).
    bound = 6 * math.sqrt(3 / (d * (d + 2)) / count)
    expected = torch.eye(d, dtype=torch.float64) / d
    assert float((second - expected).abs().max()) <= bound


@pytest.mark.parametrize("covariates", COVARIATES)
def test_directions_and_scales_have_their_distribution(covariates):
    x, y, _, _ = sample("affine", covariates)
    design = torch.cat([x, torch.ones_like(x[..., :1])], dim=-1)
    found = torch.linalg.lstsq(design, y[..., None]).solution.squeeze(-1)
    slope = found[:, :-1].norm(dim=-1)
    law = stats.beta(1.5, 1.5, loc=-1, scale=2)
    along = (found[:, :-1] / slope[:, None]).T
    # False alarm 1e-6 each; the law of l w is that of |l| w, w being symmetric.
    assert all(stats.kstest(w.numpy(), law.cdf).pvalue > 1e-6 for w in along)
    assert stats.kstest(slope.numpy(), "uniform").pvalue > 1e-6
    assert stats.kstest((found[:, -1].numpy() + 1) / 2, "uniform").pvalue > 1e-6
    # Slope, sign and offset are independent of one another: 6 standard errors.
    for other in (slope - 0.5, along[0]):
        correlation = float((found[:, -1] * other).mean()) / float(other.std() / 3**0.5)
        assert abs(correlation) <= 6 / math.sqrt(len(y))


@EVERY
@pytest.mark.parametrize("runs", [1, 2, 7, 33])
def test_prompts_do_not_depend_on_the_split_of_the_runs(task, covariates, runs):
    setting = Setting(task, covariates, 5, 6, 3)
    total = 70
    L, sigma = numbers(*range(total)) / 7, numbers(*range(total)) / 50
    whole = draw(setting, keys_of(range(total)), L, sigma, 4)
    for start in (0, 1, 37):
        part = slice(start, start + runs)
        keys = keys_of(range(total)[part])
        alone = draw(setting, keys, L[part], sigma[part], 4)
        assert all(torch.equal(a, w[part]) for a, w in zip(alone, whole, strict=True))


@EVERY
def test_the_stream_serves_what_draw_draws_in_any_order(task, covariates):
    setting = Setting(task, covariates, 3, 4, 2)
    keys = keys_of(SEEDS)
    for held_out in (False, True):
        at = prompts(setting, keys, L, SIGMA, held_out=held_out)
        for step in (0, 1, 200, 63, 64, 5, 2**32 - 1):
            expected = draw(setting, keys, L, SIGMA, step, held_out=held_out)
            pairs = zip(at(step), expected, strict=True)
            assert all(torch.equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("task", TASKS)
def test_runs_of_one_key_are_paired(task):
    setting = Setting(task, "isotropic", 3, 8, 2)
    keys = keys_of([6] * 4)
    L, sigma = numbers(1.0, 1.0, 2.0, 0.0), numbers(0.0, 0.5, 0.0, 1.0)
    x, y, query, target = draw(setting, keys, L, sigma, 0)
    assert all(torch.equal(part[0], part[run]) for part in (x, query) for run in (1, 2))
    assert torch.equal(target[0], target[1])
    flat = 1.0 if task == "cosine" else 0.0
    noise = y[3] - flat
    torch.testing.assert_close(y[1] - y[0], 0.5 * noise, rtol=0, atol=16 * EPS)
    if task != "cosine":
        torch.testing.assert_close(target[2], 2 * target[0], rtol=4 * EPS, atol=0)


def test_runs_of_several_tasks_see_what_they_see_alone():
    """Bit for bit: a program of many tasks is the programs of each."""
    pairs = [(task, kind) for task in TASKS for kind in COVARIATES]
    keys = keys_of(range(len(pairs)))
    L, sigma = full(len(pairs), 1.5), full(len(pairs), 0.3)
    tasks, kinds = zip(*pairs, strict=True)
    mixed = Setting(tasks, kinds, 3, 6, 2)
    serve = prompts(mixed, keys, L, sigma)
    for at in (7, 8):
        together = draw(mixed, keys, L, sigma, at)
        assert all(map(torch.equal, serve(at), together))
        for run, pair in enumerate(pairs):
            one = slice(run, run + 1)
            alone = draw(Setting(*pair, 3, 6, 2), keys[one], L[one], sigma[one], at)
            assert all(
                torch.equal(a, b[one]) for a, b in zip(alone, together, strict=True)
            )


def test_tasks_of_other_runs_are_refused():
    setting = Setting(("relu", "cosine"), "isotropic", 3, 6, 2)
    with pytest.raises(ValueError, match="names 2 tasks or covariates for 5 runs"):
        draw(setting, keys_of(SEEDS), L, SIGMA, 0)


def test_a_longer_prompt_begins_with_a_shorter_one():
    keys = keys_of(SEEDS)
    short, long = (
        draw(Setting("relu", "isotropic", 3, n, 2), keys, L, SIGMA, 5) for n in (4, 9)
    )
    assert torch.equal(long.x[:, :4], short.x)
    assert torch.equal(long.y[:, :4], short.y)
    assert torch.equal(long.query, short.query)
    assert torch.equal(long.target, short.target)


def test_training_never_sees_what_is_held_out():
    setting = Setting("affine", "isotropic", 3, 8, 2)
    keys = keys_of(SEEDS)
    seen = [draw(setting, keys, L, SIGMA, t) for t in range(40)]
    held = [draw(setting, keys, L, SIGMA, t, held_out=True) for t in range(40)]
    both = torch.stack([p.x for p in (*seen, *held)])
    assert len(both.unique()) == both.numel()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"task": "linear"}, "`task`.*affine.*relu.*cosine"),
        ({"task": ("relu", "linear")}, "`task`.*got 'linear'"),
        ({"task": ()}, "`task`"),
        ({"covariates": "gaussian"}, "`covariates`.*'isotropic'.*'non-isotropic'"),
        ({"d": 1}, "`d`"),
        ({"n": 0}, "`n`"),
        ({"queries": 0}, "`queries`"),
    ],
)
def test_bad_settings_are_named(change, match):
    good = {"task": "relu", "covariates": "isotropic", "d": 2, "n": 1, "queries": 1}
    assert Setting(**good).n == 1
    with pytest.raises(ValueError, match=match):
        Setting(**{**good, **change})


@pytest.mark.parametrize("serve", [draw, lambda *a: prompts(*a[:-1])])
@pytest.mark.parametrize("name", ["lipschitz", "noise"])
@pytest.mark.parametrize(
    "bad",
    [
        numbers(1.0, -1e-9, 1.0),
        numbers(1.0, 1.0, math.nan),
        numbers(math.inf, 1.0, 1.0),
        numbers(1.0, 1.0),
        torch.ones(3),
    ],
    ids=["negative", "nan", "infinite", "short", "float32"],
)
def test_bad_scales_are_named(serve, name, bad):
    setting = Setting("relu", "isotropic", 2, 1, 1)
    given = {"lipschitz": full(3, 1.0), "noise": full(3, 0.0), name: bad}
    with pytest.raises(ValueError, match=f"`{name}`"):
        serve(setting, keys_of([1, 2, 3]), given["lipschitz"], given["noise"], 0)
