"""BERT's uncased WordPiece tokens (Devlin et al., 2019), on the standard library."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

CLS, SEP, PAD, UNKNOWN = "[CLS]", "[SEP]", "[PAD]", "[UNK]"
LONGEST = 100  # characters of a word; longer ones are unknown, as in BERT


def basic_words(text: str) -> list[str]:
    """Lower-case a text, strip accents, and split at spaces and punctuation.

    Args:
        text: Any text; control characters are dropped.

    Returns:
        Words and single punctuation marks.

    >>> basic_words("Héllo, World!")
    ['hello', ',', 'world', '!']
    """
    out: list[str] = []
    for character in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(character)
        if kind == "Mn" or (kind.startswith("C") and not character.isspace()):
            continue
        alone = _is_punctuation(character, kind) or _is_ideograph(character)
        out.append(f" {character} " if alone else character)
    return "".join(out).split()


def _is_punctuation(character: str, kind: str) -> bool:
    symbol = character.isascii() and character.isprintable()
    return kind.startswith("P") or (
        symbol and not (character.isalnum() or character.isspace())
    )


def _is_ideograph(character: str) -> bool:
    code = ord(character)
    ranges = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F))
    return any(low <= code <= high for low, high in ranges)


@dataclass(frozen=True)
class Encoded:
    """One input of the network.

    Attributes:
        ids: Of its tokens, with [CLS] and [SEP].
        types: 0 for the first text, 1 for the second.
    """

    ids: tuple[int, ...]
    types: tuple[int, ...]


@dataclass(frozen=True)
class WordPiece:
    """Greedy longest-match-first pieces of a vocabulary.

    Attributes:
        words: The vocabulary, in the order of the embeddings.
        index: Made from it.
    """

    words: Sequence[str]
    index: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "index", {w: i for i, w in enumerate(self.words)})

    def pieces(self, text: str) -> list[str]:
        """Split a text into words of the vocabulary."""
        return [piece for word in basic_words(text) for piece in self._split(word)]

    def _split(self, word: str) -> list[str]:
        pieces: list[str] = []
        start = 0
        while start < len(word) <= LONGEST:
            prefix = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((e for e in ends if prefix + word[start:e] in self.index), 0)
            if not end:
                return [UNKNOWN]
            pieces.append(prefix + word[start:end])
            start = end
        return pieces or [UNKNOWN]

    def encode(self, first: str, second: str = "", limit: int = 128) -> Encoded:
        """Make one input; the longer text of a pair is cut first.

        Args:
            first: A text.
            second: The other text of a pair; empty for a single one.
            limit: Most tokens.

        Returns:
            Ids and types.
        """
        parts = [self.pieces(first)] + ([self.pieces(second)] if second else [])
        room = limit - 1 - len(parts)
        while sum(map(len, parts)) > room:
            max(parts, key=len).pop()
        tokens, types = [CLS], [0]
        for kind, part in enumerate(parts):
            tokens += [*part, SEP]
            types += [kind] * (len(part) + 1)
        return Encoded(tuple(self.index[t] for t in tokens), tuple(types))
