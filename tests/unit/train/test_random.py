"""Counter-based numbers: bits, distribution, independence and the counter's ends.

The statistical tests have fixed seeds and thus one outcome; had they fresh ones, a
correct generator would fail each bound of six standard errors with probability 2e-9
and each Kolmogorov-Smirnov bound with 1e-6, together below 1e-5.
"""

import math

import pytest
import torch
from scipy import stats

from verify.train.random import NUMBERS, STEPS, STREAMS, keys_of, normal, uniform
from verify.train.seeds import seed_of

SEEDS = [31, 4, 1592, 65, 35, 8979, 3238]
WORD = 2**32
DRAWS = pytest.mark.parametrize("draw", [uniform, normal])


def pcg4d(x, y, z, w):
    """Listing "pcg4d" of Jarzynski and Olano (2020), in Python's integers."""
    x, y, z, w = ((v * 1664525 + 1013904223) % WORD for v in (x, y, z, w))
    for half in (0, 1):
        x = (x + y * w) % WORD
        y = (y + z * x) % WORD
        z = (z + x * y) % WORD
        w = (w + y * z) % WORD
        if half == 0:
            x, y, z, w = (v ^ (v >> 16) for v in (x, y, z, w))
    return x, y, z, w


def words_as_stated(seed, stream, step, index):
    """The four words of the block that holds a number."""
    key = seed_of(seed, "data")
    return pcg4d(key % WORD, key // WORD, stream * 2**24 + index // 4, step)


def centred(word):
    """A word as a signed integer."""
    return word - WORD if word >= WORD // 2 else word


PLACES = pytest.mark.parametrize(
    ("stream", "step"), [(0, 0), (1, 0), (0, 1), (7, 2**31), (STREAMS - 1, STEPS - 1)]
)


@PLACES
def test_uniform_numbers_are_those_of_the_hash_to_the_last_bit(stream, step):
    ours = uniform(keys_of(SEEDS, "data"), stream, step, (3, 5))
    assert ours.shape == (7, 3, 5)
    expected = [
        (centred(words_as_stated(seed, stream, step, index)[index % 4]) + 2**31 + 0.5)
        / WORD
        for seed in SEEDS
        for index in range(15)
    ]
    assert ours.flatten().tolist() == expected


@PLACES
def test_normal_numbers_are_box_and_muller_of_the_hash(stream, step):
    ours = normal(keys_of(SEEDS, "data"), stream, step, (3, 5))
    for run, seed in enumerate(SEEDS):
        for index in range(15):
            words = words_as_stated(seed, stream, step, index)
            first, second = words[:2] if index % 4 < 2 else words[2:]
            radius = math.sqrt(-2 * math.log((centred(first) + 2**31 + 0.5) / WORD))
            turn = math.sin if index % 2 else math.cos
            expected = radius * turn(2 * math.pi / WORD * centred(second))
            # A unit in the last place from each of log, root, turn and product.
            assert float(ours[run, index // 5, index % 5]) == pytest.approx(
                expected, rel=8 * 2**-52, abs=0
            )


@DRAWS
@pytest.mark.parametrize("runs", [1, 2, 3, 17, 130])
def test_numbers_do_not_depend_on_the_split_of_the_runs(draw, runs):
    keys = keys_of(range(400), "data")
    whole = draw(keys, 3, 5, (4, 9))
    for start in (0, 1, 270):
        part = draw(keys[start : start + runs], 3, 5, (4, 9))
        assert torch.equal(part, whole[start : start + runs])
        alone = draw(keys_of(range(start, start + runs), "data"), 3, 5, (4, 9))
        assert torch.equal(alone, part)


@DRAWS
@pytest.mark.parametrize("steps", [range(6, 11), range(4), range(9, 2, -3)])
def test_a_range_of_steps_is_its_steps(draw, steps):
    keys = keys_of(SEEDS, "data")
    together = draw(keys, 2, steps, (3, 3))
    assert together.shape == (7, len(steps), 3, 3)
    for place, step in enumerate(steps):
        assert torch.equal(together[:, place], draw(keys, 2, step, (3, 3)))


@DRAWS
def test_a_shape_continues_a_smaller_one(draw):
    keys = keys_of(SEEDS, "data")
    flat = draw(keys, 2, 3, (30,))
    assert torch.equal(draw(keys, 2, 3, (2, 3)).flatten(1), flat[:, :6])
    assert torch.equal(draw(keys, 2, 3, ()), flat[:, 0])


@DRAWS
def test_runs_lie_last_in_memory(draw):
    assert draw(keys_of(SEEDS, "data"), 2, 3, (4, 5)).movedim(0, -1).is_contiguous()


@DRAWS
def test_keys_streams_and_steps_share_no_number(draw):
    families = [
        draw(keys_of(SEEDS, name), stream, range(40), (11,))
        for name in ("data", "more", 1, "1")
        for stream in (0, 1, 255)
    ]
    numbers = torch.stack(families).flatten()
    # 36 960 numbers of 32 bits or more: 0.16 pairs coincide by chance.
    assert len(numbers) - len(numbers.unique()) <= 3


@pytest.fixture(scope="module")
def sample():
    """(streams, runs, steps, numbers), 2^20 normal numbers in all."""
    keys = keys_of(range(32), "sample")
    return torch.stack([normal(keys, s, range(256), (32,)) for s in range(4)])


def test_normal_numbers_are_normal(sample):
    z = sample.flatten()
    count = len(z)
    # Moments of N(0, 1) and their variances.
    for power, expected, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)):
        error = float(z.pow(power).mean()) - expected
        assert abs(error) <= 6 * math.sqrt(variance / count)
    assert stats.kstest(z.numpy(), "norm").pvalue > 1e-6
    for tail in (3.0, 4.0):
        expected = 2 * stats.norm.sf(tail)
        found = float((z.abs() > tail).double().mean())
        assert abs(found - expected) <= 6 * math.sqrt(expected / count)


def test_every_lane_is_normal(sample):
    for lane in range(4):
        z = sample[..., lane::4].flatten().numpy()
        assert stats.kstest(z, "norm").pvalue > 1e-6


def test_uniform_numbers_are_uniform():
    keys = keys_of(range(64), "sample")
    u = uniform(keys, 9, range(128), (64,), low=-3.0, high=5.0).flatten()
    assert -3 < float(u.min()) < float(u.max()) < 5
    unit = ((u + 3) / 8).numpy()
    assert stats.kstest(unit, "uniform").pvalue > 1e-6
    # The leading bits of two successive numbers, 256 equally likely cells.
    cells = (unit[::2] * 16).astype(int) * 16 + (unit[1::2] * 16).astype(int)
    counts = [(cells == cell).sum() for cell in range(256)]
    assert stats.chisquare(counts).pvalue > 1e-6


@pytest.mark.parametrize("axis", range(4), ids=["streams", "runs", "steps", "numbers"])
@pytest.mark.parametrize("of", [torch.clone, torch.square, torch.abs, torch.sign])
def test_neighbours_are_uncorrelated(sample, axis, of):
    v = of(sample)
    v = (v - v.mean()) / v.std()
    for lag in (1, 2, 3) if axis == 0 else (1, 2, 3, 4, 8, 16):
        size = v.shape[axis] - lag
        first, second = v.narrow(axis, 0, size), v.narrow(axis, lag, size)
        correlation = float((first * second).mean())
        assert abs(correlation) <= 6 / math.sqrt(first.numel())


def test_the_two_numbers_of_a_pair_are_uncorrelated_in_size(sample):
    squares = sample.square() - 1
    for shift in (1, 2, 3):
        products = squares[..., ::4] * squares[..., shift::4]
        # Var z^2 = 2, so the product has variance 4.
        assert abs(float(products.mean())) <= 6 * 2 / math.sqrt(products.numel())


def test_keys_in_a_row_serve_as_well_as_hashed_ones():
    count = torch.arange(32 * 32, dtype=torch.int32)
    keys = torch.stack([count % 32, count // 32], dim=1)
    z = normal(keys, 0, range(16), (16,)).reshape(32, 32, -1)
    for axis in (0, 1):
        products = z.narrow(axis, 0, 31) * z.narrow(axis, 1, 31)
        assert abs(float(products.mean())) <= 6 / math.sqrt(products.numel())


def test_keys_are_the_halves_of_the_seed():
    keys = keys_of([5], "a", 3)
    assert keys.dtype == torch.int32
    low, high = (int(k) % WORD for k in keys[0])
    assert low + WORD * high == seed_of(5, "a", 3)


@DRAWS
@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"stream": -1}, "`stream`"),
        ({"stream": STREAMS}, "`stream`"),
        ({"step": -1}, "`step`"),
        ({"step": STEPS}, "`step`"),
        ({"step": range(STEPS - 1, STEPS + 1)}, "`step`"),
        ({"step": range(3, -2, -1)}, "`step`"),
        ({"step": range(3, 3)}, "`step`"),
        ({"shape": (0,)}, "`shape`"),
        ({"shape": (NUMBERS, 2)}, "`shape`"),
        ({"shape": (NUMBERS + 1,)}, "`shape`"),
        ({"keys": torch.zeros(4, 2, dtype=torch.int64)}, "`keys`"),
        ({"keys": torch.zeros(4, 3, dtype=torch.int32)}, "`keys`"),
    ],
)
def test_what_the_counter_cannot_hold_is_an_error(draw, change, match):
    arguments = {"keys": keys_of(SEEDS), "stream": 0, "step": 0, "shape": (3,)}
    with pytest.raises(ValueError, match=match):
        draw(**{**arguments, **change})


@pytest.mark.parametrize(
    ("low", "high"), [(1, 1), (2, 1), (0, math.inf), (math.nan, 1)]
)
def test_bad_ends_are_named(low, high):
    with pytest.raises(ValueError, match="`low`"):
        uniform(keys_of(SEEDS), 0, 0, (3,), low=low, high=high)


def test_no_seeds_is_an_error():
    with pytest.raises(ValueError, match="`seeds`"):
        keys_of([], "data")
