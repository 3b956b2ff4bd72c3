"""Bipartite isotonic regression by integer flows: the arithmetic of `order_margin`.

Tokens are bits of integers. With k tokens above and m below in a block, each lower one
sends k units up and each upper one receives m. If the edges carry that flow, the block
is settled, and flow / (k + m) are its multipliers; otherwise the minimal cut splits it
(maximal closure), and the two halves are settled apart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Masks = Sequence[int] | Mapping[int, int]


@dataclass(frozen=True)
class Leaf:
    """A set of tokens with one score above and one below, and the flow that shows it.

    Attributes:
        upper: Bits of the tokens above.
        lower: Bits of the tokens below.
        flow: Units by lower token and upper token; an edge without flow is absent.
    """

    upper: int
    lower: int
    flow: Mapping[int, Mapping[int, int]]

    @property
    def sizes(self) -> tuple[int, int]:
        """How many tokens are above, and how many below."""
        return self.upper.bit_count(), self.lower.bit_count()


def bits(mask: int) -> Iterator[int]:
    """The positions of the bits of a mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def settle(above: Mapping[int, int], upper: int) -> list[Leaf]:
    """Split a bipartite order into leaves.

    Args:
        above: For every lower token the bits of the tokens above it, at least one.
        upper: Bits of all upper tokens; each is above some lower one.

    Returns:
        The leaves. Two of them may have the same scores.
    """
    lower = sum(1 << j for j in above)
    leaves, todo = [], [(upper, lower)] if lower else []
    while todo:
        upper, lower = todo.pop()
        flow, cut = _transport(above, upper, lower)
        if not cut:
            leaves.append(Leaf(upper, lower, flow))
            continue
        over = upper & _union(above, cut)
        todo += [(upper ^ over, lower ^ cut), (over, cut)]
    return leaves


def _union(masks: Masks, of: int) -> int:
    union = 0
    for j in bits(of):
        union |= masks[j]
    return union


def _transport(
    above: Mapping[int, int], upper: int, lower: int
) -> tuple[dict[int, dict[int, int]], int]:
    """The flow of a block and 0, or any flow and the lower side of its minimal cut."""
    k, m = upper.bit_count(), lower.bit_count()
    lowers, uppers = [*bits(lower)], [*bits(upper)]
    if all(above[j] & upper == upper for j in lowers):
        return {j: dict.fromkeys(uppers, 1) for j in lowers}, 0
    net = _Network(above, upper, k, m, lowers, uppers)
    net.fill(lowers)
    while net.excess:
        end = net.search()
        if end < 0:
            return net.flow, net.seen
        net.push(end)
    return {j: {i: f for i, f in row.items() if f} for j, row in net.flow.items()}, 0


class _Network:
    """A flow that grows: units left at lower tokens, room left at upper ones."""

    def __init__(
        self,
        above: Mapping[int, int],
        upper: int,
        k: int,
        m: int,
        lowers: list[int],
        uppers: list[int],
    ) -> None:
        self.above = {j: above[j] & upper for j in lowers}
        self.left, self.room = dict.fromkeys(lowers, k), dict.fromkeys(uppers, m)
        self.open, self.excess, self.seen = upper, 0, 0
        self.flow: dict[int, dict[int, int]] = {j: {} for j in lowers}
        self.users = dict.fromkeys(uppers, 0)  # lower tokens that send something
        self.upper_from: dict[int, int] = {}
        self.lower_from: dict[int, int] = {}

    def fill(self, lowers: list[int]) -> None:
        """Send what fits at once, tokens with the fewest choices first."""
        room, users = self.room, self.users
        for j in sorted(lowers, key=lambda j: self.above[j].bit_count()):
            left, row, choice = self.left[j], self.flow[j], self.above[j] & self.open
            while left and choice:
                low = choice & -choice
                i = low.bit_length() - 1
                choice ^= low
                units = min(left, room[i])
                row[i] = units
                users[i] |= 1 << j
                left -= units
                room[i] -= units
                if not room[i]:
                    self.open ^= low
            self.left[j] = left
            if left:
                self.excess |= 1 << j

    def search(self) -> int:
        """An upper token with room that units left over can reach, or -1."""
        self.seen, seen, queue = self.excess, 0, deque(bits(self.excess))
        self.lower_from.clear()
        while queue:
            j = queue.popleft()
            new = self.above[j] & ~seen
            if new & self.open:
                end = (new & self.open).bit_length() - 1
                self.upper_from[end] = j
                return end
            seen |= new
            for i in bits(new):
                self.upper_from[i] = j
                back = self.users[i] & ~self.seen
                self.seen |= back
                for other in bits(back):
                    self.lower_from[other] = i
                    queue.append(other)
        return -1

    def push(self, end: int) -> None:
        """Send as much as fits along the path that was found."""
        path, i = [], end
        units = self.room[end]
        while True:
            j = self.upper_from[i]
            path.append((j, i))
            if j not in self.lower_from:
                break
            i = self.lower_from[j]
            units = min(units, self.flow[j][i])
        units = min(units, self.left[j])
        for lower, i in path:
            row = self.flow[lower]
            row[i] = row.get(i, 0) + units
            self.users[i] |= 1 << lower
            if lower in self.lower_from:
                back = self.lower_from[lower]
                row[back] -= units
                if not row[back]:
                    self.users[back] ^= 1 << lower
        self.left[j] -= units
        self.room[end] -= units
        self.excess ^= 0 if self.left[j] else 1 << j
        self.open ^= 0 if self.room[end] else 1 << end


def stands(leaves: Sequence[Leaf], above: Mapping[int, int], upper: int) -> bool:
    """Check leaves against their order, in integers and from scratch.

    Args:
        leaves: What `settle` returned.
        above: What it was given.
        upper: What it was given.

    Returns:
        Whether the scores m / (k + m) and -k / (k + m) of each leaf and the multipliers
        flow / (k + m) satisfy the conditions of Karush, Kuhn and Tucker.
    """
    sizes = [leaf.sizes for leaf in leaves]
    lower = sum(1 << j for j in above)
    sums = sum(leaf.upper for leaf in leaves), sum(leaf.lower for leaf in leaves)
    count = sum(k + m for k, m in sizes)
    if sums != (upper, lower) or count != (upper | lower).bit_count():
        return False  # tokens are missing, or in two leaves
    for leaf, (k, m) in zip(leaves, sizes, strict=True):
        allowed = 0  # upper tokens that exceed the lower ones of this leaf by 1 or more
        for other, (k2, m2) in zip(leaves, sizes, strict=True):
            if k * m2 >= k2 * m:
                allowed |= other.upper
        received = dict.fromkeys(bits(leaf.upper), 0)
        for j in bits(leaf.lower):
            row = leaf.flow.get(j, {})
            if above[j] & ~allowed or sum(row.values()) != k:
                return False
            for i, units in row.items():
                if units < 0 or not above[j] >> i & 1 or i not in received:
                    return False
                received[i] += units
        if any(units != m for units in received.values()):
            return False
    return True


def components(neighbours: Masks, nodes: int) -> list[int]:
    """The connected components of a graph.

    Args:
        neighbours: For each node the bits of its neighbours, both ways.
        nodes: Bits of the nodes.

    Returns:
        Bits of the nodes of each component, ordered by the least node.
    """
    found = []
    while nodes:
        part = reachable(neighbours, nodes & -nodes)
        found.append(part)
        nodes &= ~part
    return found


def reachable(arcs: Masks, start: int) -> int:
    """The nodes that can be reached.

    Args:
        arcs: For each node the bits of its heads.
        start: Bits of the first nodes.

    Returns:
        Bits of all nodes reached, the first ones included.
    """
    seen = todo = start
    while todo:
        low = todo & -todo
        new = arcs[low.bit_length() - 1] & ~seen
        seen |= new
        todo = (todo ^ low) | new
    return seen


def idle(tight: Sequence[tuple[int, int]], used: Sequence[bool]) -> list[bool]:
    """Tell the tight edges whose multiplier is zero in every valid set of multipliers.

    Two sets differ by a circulation on tight edges. An edge without flow can get some
    if and only if it closes a cycle in the residual graph, whose arcs are the tight
    edges upwards and the used ones downwards: its ends are strongly connected.

    Args:
        tight: Edges (upper, lower) that hold with equality.
        used: Whether the multiplier of each is positive, in some valid set.

    Returns:
        For each edge whether its multiplier is always zero.
    """
    n = 1 + max((max(edge) for edge in tight), default=-1)
    arcs, back = [0] * n, [0] * n
    for (o, m), is_used in zip(tight, used, strict=True):
        arcs[m] |= 1 << o
        back[o] |= 1 << m
        if is_used:
            arcs[o] |= 1 << m
            back[m] |= 1 << o
    strong: dict[int, int] = {}
    for node in {x for edge in tight for x in edge}:
        if node not in strong:
            group = reachable(arcs, 1 << node) & reachable(back, 1 << node)
            strong |= dict.fromkeys(bits(group), group)
    return [not strong[o] >> m & 1 for o, m in tight]
