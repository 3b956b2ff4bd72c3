"""The formulas, one model and one number at a time.

Numbers are floats, or mpmath's with its ``exp`` and ``log``; matrices are lists of
rows, inputs ragged lists of tokens.
"""

import math


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def apply(matrix, vector):
    return [dot(row, vector) for row in matrix]


def attend(W, tokens, query, exp=math.exp):
    """Xᵀ softmax(X W z), and the weights."""
    key = apply(W, query)
    weights = [exp(dot(token, key)) for token in tokens]
    weights = [w / sum(weights) for w in weights]
    columns = zip(*tokens, strict=True)
    return [dot(weights, column) for column in columns], weights


def classifier_loss(W, inputs, queries, labels, head, exp=math.exp, log=math.log):
    losses = [
        log(1 + exp(-label * dot(head, attend(W, tokens, query, exp)[0])))
        for tokens, query, label in zip(inputs, queries, labels, strict=True)
    ]
    return sum(losses) / len(losses)


def next_token_loss(
    W_kq,
    W_ov,
    embedding,
    sentences,
    target,
    frequency,
    tied,
    exp=math.exp,
    log=math.log,
):
    total = 0
    for ids, following, pi in zip(sentences, target, frequency, strict=True):
        tokens = [embedding[i] for i in ids]
        logits = apply(W_ov, attend(W_kq, tokens, tokens[-1], exp)[0])
        if tied:
            logits = apply(embedding, logits)
        # The chosen logit is subtracted so that small losses are not lost in floats.
        rest = [z - logits[following] for z in logits]
        total += pi * log(sum(exp(z) for z in rest))
    return total


def slope(f, matrix, step):
    """Central differences in every entry; exact enough only in many digits."""

    def at(i, j, change):
        return f([
            [w + change * ((a, b) == (i, j)) for b, w in enumerate(row)]
            for a, row in enumerate(matrix)
        ])

    return [
        [(at(i, j, step) - at(i, j, -step)) / (2 * step) for j in range(len(row))]
        for i, row in enumerate(matrix)
    ]
