"""Paths n = w^(a/b), written as w = t^b, n = t^a: where they enter a domain."""

import math


def in_range(dimension: int, a: int, b: int) -> int:
    """A power of ten from which t lies in the range of Corollary G.5, and stays.

    There n / log n >= 45 sqrt(d) (w/2)^(d/2): the power of t on the left exceeds that
    on the right, and t^excess / log t grows for excess log t > 1.
    """
    excess, start = a - b * dimension / 2, 10
    while True:
        size = math.log(start)
        room = excess * size - math.log(45 * math.sqrt(dimension) * a * size)
        room += dimension / 2 * math.log(2)
        wide = b * size >= math.log(2 * (dimension + math.sqrt(dimension)))
        if room > 0 and wide and excess * size > 1:
            return start
        start *= 10
