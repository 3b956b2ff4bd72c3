"""One-layer softmax transformers with a leading run axis: losses and closed forms.

Two models share the attention ``softmax_t(x_tᵀ W z)`` of tokens ``x_t`` to a query
``z``: a binary classifier with a fixed head (the max-margin protocol of Tarzanagh et
al., 2023) and next-token prediction (huang2024, §4.1). A data set is validated once;
its ``loss`` is the formula, its ``gradient`` the closed form that training uses.

Closed forms keep what autograd loses once training is nearly done: ``1 − p`` is
summed from the other probabilities, and the values of tokens are compared before they
are averaged, so that exponentially small gradients keep their direction in float64.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, one_hot

from verify.train.layout import attend, contract, multiply, outer, runs_last
from verify.train.optimisers import Params


@dataclass(frozen=True, eq=False)
class Classification:
    """Labelled inputs with their queries and a fixed head.

    Attributes:
        inputs: Tokens, ``(runs, inputs, tokens, d)``, floating point.
        queries: ``(runs, inputs, d)``, usually the first token.
        labels: ±1, ``(runs, inputs)``, any number type.
        head: ``v``, ``(runs, d)``.
        mask: Bool ``(runs, inputs, tokens)``, False where a token is padding, whose
            content is ignored; ``None`` without padding.

    Raises:
        ValueError: If shapes do not fit, a label is not ±1, or a mask is empty.
    """

    inputs: Tensor
    queries: Tensor
    labels: Tensor
    head: Tensor
    mask: Tensor | None = None

    def __post_init__(self) -> None:
        if self.inputs.ndim != 4 or not self.inputs.is_floating_point():
            raise ValueError(
                "`inputs` must be floating point (runs, inputs, tokens, d), got "
                f"{self.inputs.dtype} {tuple(self.inputs.shape)}"
            )
        runs, inputs, tokens, d = self.inputs.shape
        _shape("queries", self.queries, (runs, inputs, d))
        _shape("labels", self.labels, (runs, inputs))
        _shape("head", self.head, (runs, d))
        _masked(self.mask, (runs, inputs, tokens))
        wrong = self.labels.abs() != 1
        if bool(wrong.any()):
            at = tuple(wrong.nonzero()[0].tolist())
            raise ValueError(
                f"`labels` must be +1 or -1, got {self.labels[at].item()} at (run, "
                f"input) {at}; map classes 0 and 1 by 2 * labels - 1"
            )
        object.__setattr__(self, "inputs", _clean(self.inputs, self.mask))

    @cached_property
    def _constants(self) -> "_Constants":
        values = torch.einsum("rita,ra->rit", self.inputs, self.head)
        values = runs_last(values * self.labels[..., None])
        return _Constants(
            runs_last(self.inputs),
            runs_last(self.queries),
            _bias(self.mask, values.dtype),
            values,
            (values[:, :, None] - values[:, None]).contiguous(),
        )


@dataclass(frozen=True, eq=False)
class _Constants:
    """What does not change in training, runs last; ``gaps[i, t, s]`` is v_t − v_s."""

    inputs: Tensor
    queries: Tensor
    bias: Tensor | None
    values: Tensor
    gaps: Tensor


def classifier_loss(params: Params, data: Classification) -> Tensor:
    """Compute ``mean_i log(1 + exp(−y_i vᵀ X_iᵀ softmax(X_i W z_i)))``.

    Args:
        params: ``W``, ``(runs, d, d)``.
        data: Inputs, queries, labels and head.

    Returns:
        Shape ``(runs,)``.
    """
    weights = attention_weights(_square(params, data), data)
    logits = torch.einsum("rit,rita,ra->ri", weights, data.inputs, data.head)
    return -logsigmoid(data.labels * logits).mean(dim=1)


def classifier_gradient(params: Params, data: Classification) -> tuple[Tensor, Params]:
    """Compute :func:`classifier_loss` and its gradient in closed form.

    With ``a = softmax(X W z)`` and ``g = y X v`` per input,
    ``∂W = −mean_i σ(−aᵀg) Σ_t a_t Σ_s a_s (g_t − g_s) x_t zᵀ``.

    Args:
        params: ``W``, ``(runs, d, d)``.
        data: Inputs, queries, labels and head.

    Returns:
        Losses ``(runs,)`` and the gradient in ``W``.
    """
    fixed = data._constants
    weights = attend(_square(params, data), fixed.inputs, fixed.queries, fixed.bias)
    margins = contract(weights, fixed.values, 1)
    slopes = torch.sigmoid(-margins) / -len(margins)
    scores = weights * contract(weights[:, None], fixed.gaps, 2) * slopes[:, None]
    losses = -logsigmoid(margins).mean(dim=0)
    pulled = contract(scores[:, :, None], fixed.inputs, 1)
    return losses, {"W": outer(pulled, fixed.queries)}


@dataclass(frozen=True, eq=False)
class NextToken:
    """Sentences with their next tokens and frequencies.

    The logits are ``E W_ov Xᵀ softmax(X W_kq x_{-1})`` with the vocabulary's
    embeddings ``E`` as rows, ``W_ov`` being ``(runs, d, d)``; or, if not ``tied``,
    ``W_ov Xᵀ softmax(X W_kq x_{-1})`` with ``W_ov`` ``(runs, vocabulary, d)``, as in
    huang2024. Sentences of one token with uniform frequencies make its first stage.

    Attributes:
        embedding: ``E``, ``(vocabulary, d)`` or per run ``(runs, vocabulary, d)``.
        tokens: Ids, int64 ``(runs, sentences, tokens)``.
        target: Ids of the next tokens, int64 ``(runs, sentences)``.
        frequency: ``(runs, sentences)``, >= 0 with sum 1; 0 pads a shorter list.
        mask: Bool ``(runs, sentences, tokens)``, False where a token is padding,
            whose id is ignored; the last other token is the query. ``None``: none.
        fixed: ``W_kq`` or ``W_ov`` where it is not among the parameters.
        tied: Whether logits are products with the embeddings.

    Raises:
        ValueError: If shapes do not fit, an id lies outside the vocabulary, a mask is
            empty, or frequencies are negative or do not sum to 1.
    """

    embedding: Tensor
    tokens: Tensor
    target: Tensor
    frequency: Tensor
    mask: Tensor | None = None
    fixed: Mapping[str, Tensor] = field(default_factory=dict)
    tied: bool = True

    def __post_init__(self) -> None:
        E = self.embedding
        if self.tokens.ndim != 3 or E.ndim not in {2, 3} or E.shape[-2] < 2:
            raise ValueError(
                "`tokens` must be (runs, sentences, tokens) and `embedding` "
                "(vocabulary >= 2, d) or (runs, vocabulary, d), got "
                f"{tuple(self.tokens.shape)} and {tuple(E.shape)}"
            )
        runs, sentences, tokens = self.tokens.shape
        if E.ndim == 3:
            _shape("embedding", E, (runs, *E.shape[1:]))
        _shape("target", self.target, (runs, sentences))
        _shape("frequency", self.frequency, (runs, sentences))
        _masked(self.mask, (runs, sentences, tokens))
        object.__setattr__(self, "tokens", _clean(self.tokens, self.mask))
        _ids("tokens", self.tokens, E.shape[-2])
        _ids("target", self.target, E.shape[-2])
        _frequencies(self.frequency)

    @cached_property
    def inputs(self) -> Tensor:
        """Embedded tokens, ``(runs, sentences, tokens, d)``, 0 where padded."""
        if self.embedding.ndim == 2:
            embedded = self.embedding[self.tokens]
        else:
            run = torch.arange(len(self.tokens), device=self.tokens.device)
            embedded = self.embedding[run[:, None, None], self.tokens]
        return _clean(embedded, self.mask)

    @cached_property
    def queries(self) -> Tensor:
        """Embedded last tokens, ``(runs, sentences, d)``."""
        if self.mask is None:
            return self.inputs[:, :, -1]
        at = self.mask * torch.arange(self.mask.shape[-1], device=self.mask.device)
        return torch.take_along_dim(
            self.inputs, at.amax(dim=-1)[..., None, None], dim=2
        ).squeeze(2)

    @cached_property
    def _words(self) -> "_Words":
        E = self.embedding
        chosen = runs_last(one_hot(self.target, E.shape[-2])).to(E.dtype)
        return _Words(
            runs_last(self.inputs),
            runs_last(self.queries),
            _bias(self.mask, E.dtype),
            chosen,
            torch.zeros_like(chosen).masked_fill(chosen == 1, -math.inf),
            runs_last(self.frequency),
            runs_last(E) if E.ndim == 3 else E,
        )


@dataclass(frozen=True, eq=False)
class _Words:
    """What does not change in training, runs last; ``exclude`` is −∞ at targets."""

    inputs: Tensor
    queries: Tensor
    bias: Tensor | None
    one_hot: Tensor
    exclude: Tensor
    frequency: Tensor
    embedding: Tensor


def next_token_loss(params: Params, data: NextToken) -> Tensor:
    """Compute the cross-entropy of the next tokens, weighted by frequency.

    Args:
        params: ``W_kq``, ``(runs, d, d)``, and ``W_ov``, or those not ``data.fixed``.
        data: Sentences; :class:`NextToken` has the formula.

    Returns:
        Shape ``(runs,)``, in natural logarithms.
    """
    W_kq, W_ov = _weights(params, data)
    context = torch.einsum("rnt,rnta->rna", attention_weights(W_kq, data), data.inputs)
    logits = torch.einsum("roa,rna->rno", W_ov, context)
    if data.tied:
        logits = torch.matmul(logits, data.embedding.mT)
    chosen = torch.log_softmax(logits, -1).gather(-1, data.target[..., None])
    return -(data.frequency * chosen.squeeze(-1)).sum(dim=1)


def next_token_gradient(params: Params, data: NextToken) -> tuple[Tensor, Params]:
    """Compute :func:`next_token_loss` and its gradients in closed form.

    With ``T`` the predicted probabilities and ``c = Xᵀa`` (huang2024, (5) and (6)),
    ``∂W_ov = Σ_n π_n Eᵀ(T − e_y) cᵀ`` and
    ``∂W_kq = Σ_n π_n Xᵀ(diag a − aaᵀ) X W_ovᵀ Eᵀ(T − e_y) x_{-1}ᵀ``.

    Args:
        params: ``W_kq``, ``(runs, d, d)``, and ``W_ov``, or those not ``data.fixed``.
        data: Sentences; :class:`NextToken` has the formula.

    Returns:
        Losses ``(runs,)`` and the gradients in ``params``.
    """
    words = data._words
    W_kq, W_ov = _weights(params, data)
    W_ov = runs_last(W_ov)
    weights = attend(W_kq, words.inputs, words.queries, words.bias)
    context = contract(weights[:, :, None], words.inputs, 1)
    logits = multiply(W_ov, context)
    if data.tied:
        logits = multiply(words.embedding, logits)
    losses, slopes = _cross_entropy(logits, words)
    if data.tied:
        slopes = multiply(words.embedding.transpose(0, 1), slopes)
    grads = {}
    if "W_ov" in params:
        grads["W_ov"] = outer(slopes, context)
    if "W_kq" in params:
        towards = multiply(W_ov.transpose(0, 1), slopes)
        values = contract(words.inputs, towards[:, None], 2)
        # Of the token attended most; `argmax` and `gather` cost as much as the rest.
        top = weights == weights.amax(dim=1, keepdim=True)
        values = values - values.masked_fill(~top, -math.inf).amax(dim=1, keepdim=True)
        centred = values - contract(weights, values, 1)[:, None]
        pulled = contract((weights * centred)[:, :, None], words.inputs, 1)
        grads["W_kq"] = outer(pulled, words.queries)
    return losses, {name: grads[name] for name in params}


def _cross_entropy(logits: Tensor, words: _Words) -> tuple[Tensor, Tensor]:
    """Give losses ``(runs,)`` and their slopes in ``(sentences, vocabulary, runs)``."""
    chosen = contract(words.one_hot, logits, 1)[:, None]
    others = logits - chosen + words.exclude
    excess = torch.logsumexp(others, dim=1)
    losses = -(words.frequency * logsigmoid(-excess)).sum(dim=0)
    missing = words.frequency * torch.sigmoid(excess)
    return losses, missing[:, None] * (torch.softmax(others, dim=1) - words.one_hot)


def attention_weights(W: Tensor, data: Classification | NextToken) -> Tensor:
    """Compute ``softmax_t(x_tᵀ W z)`` for every input or sentence.

    Args:
        W: ``(runs, d, d)``.
        data: Inputs with queries, or sentences.

    Returns:
        Shape ``(runs, inputs, tokens)``, 0 where padded.
    """
    scores = torch.einsum("rita,rab,rib->rit", data.inputs, W, data.queries)
    if data.mask is not None:
        scores = scores.masked_fill(~data.mask, -math.inf)
    return torch.softmax(scores, dim=-1)


def _clean(tensor: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return tensor
    padded = ~mask.view(*mask.shape, *(1,) * (tensor.ndim - mask.ndim))
    return tensor.masked_fill(padded, 0)


def _bias(mask: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    if mask is None or bool(mask.all()):
        return None
    zero = torch.zeros(mask.shape, dtype=dtype, device=mask.device)
    return runs_last(zero.masked_fill(~mask, -math.inf))


def _square(params: Params, data: Classification) -> Tensor:
    runs, d = data.head.shape
    _shape("W", params["W"], (runs, d, d))
    return params["W"]


def _weights(params: Params, data: NextToken) -> tuple[Tensor, Tensor]:
    both = {**data.fixed, **params}
    runs, d = len(data.tokens), data.embedding.shape[-1]
    rows = d if data.tied else data.embedding.shape[-2]
    if set(both) != {"W_kq", "W_ov"}:
        raise ValueError(
            "`params` and the data's `fixed` must be W_kq and W_ov together, got "
            f"{sorted(both)}"
        )
    _shape("W_kq", both["W_kq"], (runs, d, d))
    _shape("W_ov", both["W_ov"], (runs, rows, d))
    return both["W_kq"], both["W_ov"]


def _shape(name: str, tensor: Tensor, expected: tuple[int, ...]) -> None:
    if tensor.shape != expected:
        raise ValueError(
            f"`{name}` must have shape {expected} to fit the rest, got "
            f"{tuple(tensor.shape)}"
        )


def _masked(mask: Tensor | None, shape: tuple[int, ...]) -> None:
    if mask is None:
        return
    _shape("mask", mask, shape)
    if mask.dtype != torch.bool:
        raise ValueError(f"`mask` must be bool, True for tokens, got {mask.dtype}")
    empty = ~mask.any(dim=-1)
    if bool(empty.any()):
        raise ValueError(
            f"`mask` is all False at (run, sentence) {empty.nonzero()[0].tolist()}: "
            "every one needs a token; pad a list of sentences with frequency 0"
        )


def _ids(name: str, ids: Tensor, vocabulary: int) -> None:
    wrong = (ids < 0) | (ids >= vocabulary)
    if ids.dtype != torch.int64 or bool(wrong.any()):
        got = ids[wrong][0].item() if bool(wrong.any()) else ids.dtype
        raise ValueError(
            f"`{name}` must be int64 ids in 0..{vocabulary - 1}, got {got}; "
            "mask padding"
        )


def _frequencies(frequency: Tensor) -> None:
    sums = frequency.sum(dim=1)
    # Every frequency and every partial sum is rounded once.
    slack = 2 * frequency.shape[1] * torch.finfo(frequency.dtype).eps
    wrong = ~((sums - 1).abs() <= slack) | (frequency < 0).any(dim=1)
    if bool(wrong.any()):
        run = int(wrong.nonzero()[0])
        raise ValueError(
            f"`frequency` must be >= 0 with sum 1, got {frequency[run].tolist()} in "
            f"run {run}; divide counts by their sum"
        )
