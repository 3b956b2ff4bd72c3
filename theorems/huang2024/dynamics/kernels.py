"""The recursion of stage 2, compiled; imported by :func:`engine.run` when it runs.

Importing numba and loading the machine code takes a second, compiling it (once per
machine, numba's cache) several. The loops are released from the interpreter lock.

Notation, per sentence: the share of a token is its part of the attention within its
side (carriers, others); phi_plus and phi_minus are the sides' totals; y the label. With
d_i = [T]_i - ([T]_y - 1) for a next token i != y, the negative gradient of -log [T]_y
in the score of token x is

    phi_x * sum_x' phi_x' (d_x' - d_x),     d = 0 on carriers,

(Lemma 4 in pairwise differences: nothing cancels as phi_minus -> 0). d_i is written as
(1 - [T]_y)(1 + rho_i), rho_i = [T]_i / (1 - [T]_y), and phi_minus, 1 - [T]_y and pi are
kept as logarithms, so that gradients of any smallness keep their direction.

The arguments are those of ``layout``. All compiled functions are in this file: numba's
cache notices a change of the file that a function is in, not of those that it calls.
"""

import math

import numba
import numpy as np

_jit = numba.njit(cache=True, nogil=True, error_model="numpy")
_inner = numba.njit(
    nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
)
"""For functions that only compiled ones call; from Python they end the process."""
_part = numba.njit(inline="always", error_model="numpy")
"""For functions with one caller: compiled with it, and not once more by themselves."""

NEGLIGIBLE = -80.0
"""An edge this far (in logarithm) below the largest moves no score: e^-80 = 2e-35."""


@_jit
def _softplus(x):
    """log(1 + e^x) for any x, infinities included."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@_inner
def _side(problem, low, high):
    """Softmax over one side of a sentence; returns the logarithm of its total."""
    entries, pairs = problem.entries, problem.pairs
    top, total = -np.inf, 0.0
    for e in range(low, high):
        entries[e].share = entries[e].log_count + pairs[entries[e].pair].w
        top = max(top, entries[e].share)
    if high - low == 1:
        entries[low].share = 1.0
        return top
    for e in range(low, high):
        entries[e].share = math.exp(entries[e].share - top)
        total += entries[e].share
    for e in range(low, high):
        entries[e].share /= total
    return top + math.log(total)


@_part
def _masses(problem, s):
    """Attention on each next token but the label, as parts of phi_minus."""
    sentence, entries, mass = problem.sentences[s], problem.entries, problem.mass
    for j in range(sentence.groups):
        mass[j] = 0.0
    for e in range(sentence.middle, sentence.end):
        mass[entries[e].group] += entries[e].share


@_part
def _outputs(problem, groups, phi_minus):
    """Turn masses into rho; returns log sum_{j != y} e^(logit of j)."""
    mass, law, top = problem.mass, problem.law, 0.0
    for j in range(groups):
        mass[j] *= law.delta * phi_minus
        top = max(top, mass[j])
    total = (law.size - 1 - groups) * math.exp(-top)
    for j in range(groups):
        mass[j] = math.exp(mass[j] - top)
        total += mass[j]
    for j in range(groups):
        mass[j] /= total
    return top + math.log(total)


@_part
def _weigh(problem, s, log_plus):
    """The gradient of a sentence, to its entries; its factor less Delta e^-Delta."""
    sentence, entries, mass = problem.sentences[s], problem.entries, problem.mass
    delta, middle, end = problem.law.delta, sentence.middle, sentence.end
    phi_minus, phi_plus = math.exp(sentence.log_minus), math.exp(log_plus)
    _masses(problem, s)
    others = _outputs(problem, sentence.groups, phi_minus)
    lead = delta * phi_plus - others
    if lead > 0:  # log(1 - [T]_y) + Delta, with Delta (1 - phi_plus) = Delta phi_minus
        wrong = delta * phi_minus + others - math.log1p(math.exp(-lead))
    else:
        wrong = delta - math.log1p(math.exp(lead))
    first, mean = mass[entries[middle].group], 0.0
    for e in range(middle, end):
        mean += entries[e].share * (mass[entries[e].group] - first)
    for e in range(sentence.first, middle):
        entries[e].force = phi_plus * entries[e].share * (1 + first + mean)
    for e in range(middle, end):
        rho = mass[entries[e].group]
        centred = phi_plus * (1 + rho) + phi_minus * (rho - first - mean)
        entries[e].force = -entries[e].share * centred
    sentence.factor = sentence.log_weight + wrong + sentence.log_minus


@_part
def _attend(problem, s, constant):
    """One sentence at the scores w: attention, gradient and factor."""
    sentence, entries, plus = problem.sentences[s], problem.entries, -np.inf
    if sentence.middle > sentence.first:
        plus = _side(problem, sentence.first, sentence.middle)
    minus = _side(problem, sentence.middle, sentence.end)
    sentence.log_minus = -_softplus(plus - minus)
    if sentence.still:
        sentence.factor = -np.inf
    elif constant:  # phi_plus = 1 and rho is the same for all
        sentence.factor = sentence.log_weight + sentence.log_minus
        for e in range(sentence.first, sentence.end):
            sign = 1.0 if e < sentence.middle else -1.0
            entries[e].force = sign * entries[e].share
    else:
        _weigh(problem, s, -_softplus(minus - plus))


@_inner
def _descent(problem, constant):
    """-grad at the scores w, to g.

    Args:
        problem: The problem.
        constant: Whether all output softmaxes are constants (F2 without the merging).

    Returns:
        log of the factor in front of g, less Delta e^-Delta; ||g||; whether the outputs
        have become constants.
    """
    sentences, entries, pairs = problem.sentences, problem.entries, problem.pairs
    largest, loosest = -np.inf, -np.inf
    for s in range(len(sentences)):
        _attend(problem, s, constant)
        largest = max(largest, sentences[s].factor)
        loosest = max(loosest, sentences[s].log_minus)
    for k in range(len(pairs)):
        pairs[k].g = 0.0
    if largest == -np.inf:
        return largest, 0.0, False
    for s in range(len(sentences)):
        scale = math.exp(sentences[s].factor - largest)
        if scale > 0:
            for e in range(sentences[s].first, sentences[s].end):
                pairs[entries[e].pair].g += scale * entries[e].force
    return largest, _length(pairs), loosest < problem.law.settled


@_inner
def _length(pairs):
    """||g||."""
    total = 0.0
    for k in range(len(pairs)):
        total += pairs[k].g * pairs[k].g
    return math.sqrt(total)


@_jit
def merged(problem, tau):
    """F2: the direction of descent from the merged edges, to g.

    Args:
        problem: The problem, its state in the moving frame.
        tau: t * eta; the frame has moved by tau * frame.

    Returns:
        The largest exponent, less -tau * base; ||g|| in units of its exponential.
    """
    edges, pairs, top = problem.edges, problem.pairs, -np.inf
    for e in range(len(edges)):
        edge = edges[e]
        difference = pairs[edge.upper].rho - pairs[edge.lower].rho
        edge.weight = edge.log_sum - difference - tau * edge.drift
        top = max(top, edge.weight)
    for k in range(len(pairs)):
        pairs[k].g = 0.0
    for e in range(len(edges)):
        edge = edges[e]
        exponent = edge.weight - top
        edge.weight = 0.0
        if exponent > NEGLIGIBLE:
            edge.weight = math.exp(exponent)
            pairs[edge.upper].g += edge.weight
            pairs[edge.lower].g -= edge.weight
    return top, _length(pairs)


@_inner
def _step(problem, scale):
    """Move by eta * scale * g, as the moving frame sees it."""
    pairs, eta = problem.pairs, problem.law.eta
    for k in range(len(pairs)):
        pairs[k].rho += eta * (scale * pairs[k].g - pairs[k].frame)


@_jit
def late(problem, t, end):
    """Step by merged edges until ``end`` or until they do not describe the gradient.

    Args:
        problem: A mergeable one; changed in place.
        t: Steps made.
        end: Steps to make in all.

    Returns:
        The number of steps made then.
    """
    law = problem.law
    while t < end:
        tau = t * law.eta
        top, length = merged(problem, tau)
        if not top - tau * law.base < law.limit or length == 0:
            return t
        _step(problem, 1 / length)
        t += 1
    return t


@_inner
def _place(problem, tau):
    """W = rho + tau * frame."""
    pairs = problem.pairs
    for k in range(len(pairs)):
        pairs[k].w = pairs[k].rho + tau * pairs[k].frame


@_part
def _early(problem, t, end):
    """Step by sentences until ``end``, or for a mergeable problem until it settles."""
    law = problem.law
    constant = law.size < 0
    while t < end:
        _place(problem, t * law.eta)
        size, length, settled = _descent(problem, constant)
        if length == 0:
            return -t - 1
        scale = 1 / length
        if law.plain:
            scale = law.delta * math.exp(size - law.delta)
        _step(problem, scale)
        t += 1
        constant = settled and not law.plain
        if constant and law.mergeable:
            return t
    return t


@_jit
def advance(problem, t, end):
    """Make the steps from ``t`` to ``end`` in whichever phase describes them.

    Args:
        problem: Changed in place.
        t: Steps made; -t - 1 where the gradient was zero then.
        end: Steps to make in all.

    Returns:
        The steps made, or -t - 1 where the gradient was zero.
    """
    while 0 <= t < end:
        if problem.law.mergeable:
            t = late(problem, t, end)
        if t < end:
            t = _early(problem, t, end)
    return t


@_jit
def _log_expm1(log_x):
    """log(e^x - 1) from log x, for any x > 0."""
    x = math.exp(log_x)
    if x < 1e-3:  # the next term of the series is x^4 / 2880
        return log_x + x / 2 + x * x / 24
    return x + math.log(-math.expm1(-x))


@_inner
def _log_excess(problem, s):
    """Logarithm of a sentence's loss less the least loss log(1 + (V-1) e^-Delta).

    e^Delta sum_{j != y} (e^(logit j - logit y) - e^-Delta)
        = sum_{j != y} (e^(Delta (Phi_j + phi_minus)) - 1).
    """
    groups, law, total = problem.sentences[s].groups, problem.law, -np.inf
    log_minus = problem.sentences[s].log_minus + math.log(law.delta)
    _masses(problem, s)
    if law.size - 1 > groups:
        total = math.log(law.size - 1 - groups) + _log_expm1(log_minus)
    for j in range(groups):
        term = _log_expm1(log_minus + math.log1p(problem.mass[j]))
        total = max(total, term) + math.log1p(math.exp(-abs(total - term)))
    total -= law.delta + math.log1p((law.size - 1) * math.exp(-law.delta))
    # log(log(1 + e^x)) = x to rounding where e^x < 2^-53
    return total if total < -37 else math.log(_softplus(total))


@_inner
def _geometry(problem):
    """||W|| and 1 - cos(W, W*), the latter from the part of W across W*."""
    pairs, inner, along, across = problem.pairs, 0.0, 0.0, 0.0
    for k in range(len(pairs)):
        moved = pairs[k].rho if problem.law.along else pairs[k].w
        inner += moved * pairs[k].direction
        along += pairs[k].w * pairs[k].direction
    for k in range(len(pairs)):
        moved = pairs[k].rho if problem.law.along else pairs[k].w
        across += (moved - inner * pairs[k].direction) ** 2
    norm = math.hypot(along, math.sqrt(across))
    if along > 0:
        return norm, across / (norm * (norm + along))
    return norm, (norm - along) / norm


@_jit
def observe(problem, t, k, out):
    """Record the state after ``t`` steps (a float holds more of them) in row ``k``."""
    sentences, pairs, law = problem.sentences, problem.pairs, problem.law
    _place(problem, t * law.eta)
    out.norm[k], out.gap[k] = _geometry(problem)
    size, length, _ = _descent(problem, law.size < 0)
    size += math.log(law.delta) - law.delta
    out.log_gradient[k] = size + math.log(length) if length > 0 else -np.inf
    for j in range(len(pairs)):
        out.weights[k, j] = pairs[j].w
        out.descent[k, j] = pairs[j].g / length if length > 0 else 0.0
    total = -np.inf
    for s in range(len(sentences)):
        sample, log_minus = sentences[s].sample, sentences[s].log_minus
        out.log_phi_minus[k, sample] = log_minus
        out.phi_plus[k, sample] = -math.expm1(log_minus)
        term = sentences[s].log_weight + _log_excess(problem, s)
        top = max(total, term)
        total = top + math.log(math.exp(total - top) + math.exp(term - top))
    out.log_excess[k] = total


def track(problem, t, at, row, out):
    """Run from ``t`` through the steps ``at``, recording them from ``row`` on.

    Args:
        problem: Changed in place.
        t: Steps made, as of :func:`advance`.
        at: Increasing steps.
        row: Where the first is recorded.
        out: The records.

    Returns:
        The steps made.
    """
    for k in range(len(at)):
        t = advance(problem, t, at[k])
        observe(problem, float(at[k]), row + k, out)
    return t


@_jit
def laplacian(problem, out):
    """sum_e weight_e (x_o - x_m)(x_o - x_m)^T of the merged edges."""
    out[:] = 0.0
    for e in range(len(problem.edges)):
        edge = problem.edges[e]
        out[edge.upper, edge.upper] += edge.weight
        out[edge.lower, edge.lower] += edge.weight
        out[edge.upper, edge.lower] -= edge.weight
        out[edge.lower, edge.upper] -= edge.weight
