import hashlib
import itertools

import numpy as np
import pytest

from verify.train.seeds import seed_of


def test_seed_is_the_documented_hash():
    digest = hashlib.sha256(b'[7,"study",3]').digest()
    assert seed_of(7, "study", 3) == int.from_bytes(digest[:8], "big") // 2


def test_seeds_fit_in_63_bits_and_differ():
    seeds = [seed_of(r, "x", i) for r, i in itertools.product(range(20), range(500))]
    assert len(set(seeds)) == len(seeds)
    assert 0 <= min(seeds) < max(seeds) < 2**63
    assert max(seeds) > 2**62  # every bit is used


@pytest.mark.parametrize(
    ("left", "right"),
    [((1,), ("1",)), (("a", "b"), ("ab",)), (("a,b",), ("a", "b")), ((), ("",))],
)
def test_different_names_give_different_seeds(left, right):
    assert seed_of(0, *left) != seed_of(0, *right)


@pytest.mark.parametrize("name", [1.0, True, None, np.int64(1)])
def test_names_of_other_types_are_rejected(name):
    with pytest.raises(TypeError, match="`names`"):
        seed_of(0, name)
    with pytest.raises(TypeError, match="`root`"):
        seed_of(name)
