"""Canonical form of matrix products of symbolic size.

A matrix expression is a sum of *words* (products of atoms: symbols, transposed
symbols, vectors of ones, opaque matrices), each with a scalar coefficient. Whatever
is 1 x 1 inside a word commutes and becomes part of the coefficient, so that
``a * (b.T * c)`` and ``(b.T * c)[0, 0] * a`` are the same term. Matrices are real:
a transpose is never conjugated.

Scalars are written in three kinds of opaque quantity, all canonical: ``Trace`` of a
word (up to rotation and transposition), ``MatrixElement`` of a word (up to
transposition), and sums over indices that are no matrix product. sympy itself writes
the entry of a product as a ``Sum`` over fresh dummies, different on every call;
`scalar` turns such sums back into entries of words.
"""

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

import sympy as sp
from sympy.matrices.expressions.matexpr import MatrixElement

from verify.symbolic.scalars import is_matrix, tidy

Word: TypeAlias = tuple[Any, ...]
Terms: TypeAlias = dict[Word, Any]
Factor: TypeAlias = tuple[Any, Any, Any]  # a matrix with its row and column index


def terms(expr: sp.MatrixExpr) -> Terms:
    """Write a matrix expression as a sum of words.

    Args:
        expr: A matrix expression.

    Returns:
        Coefficient of each word; the empty word is the identity. Coefficients are
        canonical scalars, not yet simplified: a vanishing one may still be there.
    """
    match expr:
        case sp.ZeroMatrix():
            return {}
        case sp.Identity():
            return {(): sp.S.One}
        case sp.OneMatrix():
            return {_ones(expr): sp.S.One}
        case sp.MatAdd():
            return _sum([terms(part) for part in expr.args])
        case sp.MatMul():
            return reduce(_product, [_factor(part) for part in expr.args])
        case sp.Transpose():
            return _transposed(expr.arg)
        case sp.MatPow() if expr.exp.is_Integer:
            return _power(expr.base, int(expr.exp))
    return _sum([{(expr,): sp.S.One}])


def scalar(expr: sp.Expr) -> sp.Expr:
    """Rewrite every trace, matrix entry and index sum canonically.

    Args:
        expr: A scalar expression.

    Returns:
        An equal expression in canonical traces and entries, not yet simplified.
    """
    match expr:
        case sp.Trace():
            return _trace(expr.arg)
        case MatrixElement():
            return _entry(*expr.args)
        case sp.Sum():
            return _contract(expr)
    if is_matrix(expr) or not expr.has(sp.MatrixExpr, MatrixElement):
        return expr
    return expr.func(*[scalar(part) for part in expr.args])


def transpose_word(word: Word) -> Word:
    """Transpose a product of atoms.

    Args:
        word: Atoms, left to right.

    Returns:
        The transposed atoms in reverse order.
    """
    return tuple(_transpose_atom(atom) for atom in reversed(word))


def word_key(word: Word) -> tuple[Any, ...]:
    """Order words the same way on every machine.

    Args:
        word: Atoms, left to right.

    Returns:
        A sort key: length first, then names, a symbol before its transpose.
    """
    return (len(word), tuple(_atom_key(atom) for atom in word))


def as_matrix(word: Word, size: Any) -> sp.MatrixExpr:
    """Turn a word back into a matrix expression.

    Args:
        word: Atoms, left to right.
        size: Number of rows, needed by the empty word.

    Returns:
        The product; the identity for the empty word.
    """
    if not word:
        return sp.Identity(size)
    return word[0] if len(word) == 1 else sp.MatMul(*word)


def assemble(parts: Terms, shape: tuple[Any, Any]) -> sp.MatrixExpr:
    """Turn a sum of words back into a matrix expression.

    Args:
        parts: Coefficient of each word.
        shape: Rows and columns of the whole.

    Returns:
        The sum in a fixed order, coefficients in lowest terms, zero terms dropped.
    """
    matrices = []
    for word, coefficient in sorted(parts.items(), key=lambda one: word_key(one[0])):
        cancelled = tidy(coefficient)
        if cancelled == 0:
            continue
        matrix = as_matrix(word, shape[0])
        body = matrix.args if isinstance(matrix, sp.MatMul) else (matrix,)
        matrices.append(matrix if cancelled == 1 else sp.MatMul(cancelled, *body))
    if not matrices:
        return sp.ZeroMatrix(*shape)
    return matrices[0] if len(matrices) == 1 else sp.MatAdd(*matrices)


def factors_of(matrix: sp.MatrixExpr) -> Word:
    """List the factors of a product, powers written out.

    Args:
        matrix: A product of matrices, or one matrix.

    Returns:
        Factors, left to right.
    """
    match matrix:
        case sp.MatMul():
            return tuple(atom for part in matrix.args for atom in factors_of(part))
        case sp.MatPow() if matrix.exp.is_Integer and matrix.exp > 0:
            return factors_of(matrix.base) * int(matrix.exp)
    return (matrix,)


# --- words -----------------------------------------------------------------------


def _factor(part: Any) -> Terms:
    return terms(part) if is_matrix(part) else {(): scalar(part)}


def _sum(parts: Sequence[Terms]) -> Terms:
    total: Terms = {}
    for part in parts:
        for word, coefficient in part.items():
            _put(total, word, coefficient)
    return total


def _product(left: Terms, right: Terms) -> Terms:
    total: Terms = {}
    for first, a in left.items():
        for second, b in right.items():
            _put(total, first + second, a * b)
    return total


def _put(total: Terms, word: Word, coefficient: Any) -> None:
    rewritten = _cancel_inverse(word)
    if rewritten is None:
        factor, word = _pull_scalars(word)
        total[word] = total.get(word, sp.S.Zero) + coefficient * factor
        return
    for shorter, factor in rewritten.items():
        _put(total, shorter, coefficient * factor)


def _pull_scalars(word: Word) -> tuple[Any, Word]:
    """Move everything between the first and the last 1 x 1 cut to the coefficient."""
    cuts = [k for k, size in enumerate(_sizes(word)) if size == 1]
    if len(cuts) < 2:
        return sp.S.One, word
    factor = prod((_piece(word[a:b], 0, 0) for a, b in pairwise(cuts)), start=sp.S.One)
    return factor, word[: cuts[0]] + word[cuts[-1] :]


def _sizes(word: Word) -> list[Any]:
    return [word[0].shape[0], *(atom.shape[1] for atom in word)] if word else []


def _ones(matrix: sp.OneMatrix) -> Word:
    """Write a matrix of ones as column times row, so that products contract."""
    rows, columns = matrix.shape
    if rows == 1 and columns == 1:
        return ()
    if rows == 1 or columns == 1:
        return (matrix,)
    return (sp.OneMatrix(rows, 1), sp.OneMatrix(1, columns))


def _transposed(matrix: sp.MatrixExpr) -> Terms:
    total: Terms = {}
    for word, coefficient in terms(matrix).items():
        _put(total, transpose_word(word), coefficient)
    return total


def _transpose_atom(atom: Any) -> Any:
    match atom:
        case sp.Transpose():
            return atom.arg
        case sp.OneMatrix():
            return sp.OneMatrix(*reversed(atom.shape))
        case sp.Inverse():
            return _inverse_atom(sp.Transpose(atom.arg))
        case sp.MatrixBase():
            return atom.T
    return sp.Transpose(atom)


def _atom_key(atom: Any) -> tuple[Any, ...]:
    turned = isinstance(atom, sp.Transpose)
    return (str(atom.arg if turned else atom), turned, str(atom.shape))


# --- inverses --------------------------------------------------------------------


def _power(base: sp.MatrixExpr, exponent: int) -> Terms:
    if exponent >= 0:
        return reduce(_product, [terms(base)] * exponent, {(): sp.S.One})
    inside = terms(base)
    if base.shape == (1, 1) or set(inside) == {()}:
        inverse: Terms = {(): 1 / sum(inside.values(), sp.S.Zero)}
    else:
        inverse = {(_inverse_atom(base),): sp.S.One}
    return reduce(_product, [inverse] * -exponent)


def _inverse_atom(base: sp.MatrixExpr) -> Any:
    return sp.Inverse(assemble(terms(base), base.shape))


def _cancel_inverse(word: Word) -> Terms | None:
    """Replace ``S^-1 * leading word of S`` (either order) by what S^-1 S = 1 says."""
    for k, atom in enumerate(word):
        if not isinstance(atom, sp.Inverse):
            continue
        inside = terms(atom.arg)
        lead = max(inside, key=word_key)
        n = len(lead)
        if word[k + 1 : k + 1 + n] == lead:
            return _resolve(word[:k], (atom,), (), word[k + 1 + n :], inside)
        if k >= n and word[k - n : k] == lead:
            return _resolve(word[: k - n], (), (atom,), word[k + 1 :], inside)
    return None


def _resolve(head: Word, left: Word, right: Word, tail: Word, inside: Terms) -> Terms:
    lead = max(inside, key=word_key)
    total: Terms = {head + tail: 1 / inside[lead]}
    for word, coefficient in inside.items():
        if word != lead:
            longer = head + left + word + right + tail
            total[longer] = total.get(longer, 0) - coefficient / inside[lead]
    return total


# --- scalars made of words -------------------------------------------------------


def _trace(matrix: sp.MatrixExpr) -> Any:
    total = sp.S.Zero
    for word, coefficient in terms(matrix).items():
        total += coefficient * (_trace_word(word) if word else matrix.shape[0])
    return total


def _trace_word(word: Word) -> Any:
    cuts = [k for k, size in enumerate(_sizes(word)[:-1]) if size == 1]
    if cuts:
        turned = word[cuts[0] :] + word[: cuts[0]]
        stops = [k - cuts[0] for k in cuts] + [len(word)]
        return prod((_piece(turned[a:b], 0, 0) for a, b in pairwise(stops)), start=1)
    turns = [word[k:] + word[:k] for k in range(len(word))]
    best = min([*turns, *map(transpose_word, turns)], key=word_key)
    return sp.Trace(as_matrix(best, None))


def _entry(matrix: sp.MatrixExpr, i: Any, j: Any) -> Any:
    if isinstance(matrix, sp.MatrixBase):
        return MatrixElement(matrix, i, j)
    total = sp.S.Zero
    for word, coefficient in terms(matrix).items():
        total += coefficient * _entry_word(word, i, j)
    return total


def _entry_word(word: Word, i: Any, j: Any) -> Any:
    inner = [k for k, n in enumerate(_sizes(word)) if n == 1 and 0 < k < len(word)]
    stops = [0, *inner, len(word)]
    rows = [i] + [0] * len(inner)
    columns = [0] * len(inner) + [j]
    pieces = [word[a:b] for a, b in pairwise(stops)]
    return prod(map(_piece, pieces, rows, columns), start=sp.S.One)


def _piece(piece: Word, i: Any, j: Any) -> Any:
    """Entry of a word that has no 1 x 1 cut inside."""
    if not piece:
        return sp.KroneckerDelta(i, j)
    if all(isinstance(atom, sp.OneMatrix) for atom in piece):
        return prod(_sizes(piece)[1:-1], start=sp.S.One)
    here = (piece, sp.sympify(i), sp.sympify(j))
    there = (transpose_word(piece), here[2], here[1])
    word, i, j = min(
        here, there, key=lambda one: (word_key(one[0]), str(one[1]), str(one[2]))
    )
    return MatrixElement(as_matrix(word, None), i, j)


# --- index sums ------------------------------------------------------------------


def _contract(total: sp.Sum) -> Any:
    """Turn a sum over whole index ranges into entries and traces of words."""
    body = scalar(total.function)
    opaque = sp.Sum(body, *total.limits)
    if any(len(limit) != 3 for limit in total.limits):
        return opaque
    result = sp.S.Zero
    for term in sp.Add.make_args(sp.expand_mul(body)):
        contracted = _contract_term(term, total.limits)
        if contracted is None:
            return opaque
        result += contracted
    return result


def _contract_term(term: Any, limits: Sequence[Any]) -> Any:
    variables = [limit[0] for limit in limits]
    coefficient, factors = sp.S.One, list[Factor]()
    for part in sp.Mul.make_args(term):
        base, power = part.as_base_exp()
        if not part.has(*variables):
            coefficient *= part
        elif isinstance(base, MatrixElement) and power.is_Integer and power > 0:
            factors += [base.args] * int(power)
        else:
            return None
    for variable, low, high in limits:
        step = _eliminate(factors, variable, low, high - low + 1)
        if step is None or step[0].has(*variables):
            return None
        coefficient, factors = coefficient * step[0], step[1]
    return scalar(coefficient) * prod((_entry(*one) for one in factors), start=sp.S.One)


def _eliminate(
    factors: list[Factor], index: Any, low: Any, size: Any
) -> tuple[Any, list[Factor]] | None:
    """Sum one index out, or return None when it is no matrix product."""
    users = [one for one in factors if one[1].has(index) or one[2].has(index)]
    others = [one for one in factors if not (one[1].has(index) or one[2].has(index))]
    slots = [
        (k, matrix.shape[k])
        for matrix, *indices in users
        for k in (0, 1)
        if indices[k].has(index)
    ]
    plain = all(k in {index} or not k.has(index) for one in users for k in one[1:])
    if not slots:
        return size, factors
    if low != 0 or not plain or len(slots) > 2 or any(n != size for _, n in slots):
        return None
    if len(slots) == 1:
        users = [*users, (sp.OneMatrix(size, 1), index, sp.S.Zero)]
    if len(users) == 1:
        return _trace(users[0][0]), others
    (a, i, k), (b, m, j) = users
    a, i = (a, i) if k == index else (sp.Transpose(a), k)
    b, j = (b, j) if m == index else (sp.Transpose(b), m)
    return sp.S.One, [*others, (sp.MatMul(a, b), i, j)]
