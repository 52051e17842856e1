"""Feature templates: from words to names of features, for models of sequences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_WINDOW = 2  # positions to either side
_AFFIX = 4  # letters of the longest prefix and suffix


def window_features(tokens: Sequence[Sequence[str]]) -> list[list[str]]:
    """Features of tagged words: words and parts of speech within two positions, and their runs.

    Words and tags of the five positions around each, pairs of words next to each other, pairs and
    triples of tags: the usual templates of shallow parsing (CoNLL-2000).

    Parameters
    ----------
    tokens
        A sentence of (word, tag) or longer tuples.

    Examples
    --------
    >>> window_features([("He", "PRP"), ("reckons", "VBZ")])[1][:4]
    ['w-2=<', 'w-1=He', 'w+0=reckons', 'w+1=>']
    """
    words = _padded(token[0] for token in tokens)
    tags = _padded(token[1] for token in tokens)
    return [
        [
            *(f"w{o:+d}={words[i + o]}" for o in range(-2, 3)),
            *(f"w{o:+d}{o + 1:+d}={words[i + o]}|{words[i + o + 1]}" for o in (-1, 0)),
            *(f"t{o:+d}={tags[i + o]}" for o in range(-2, 3)),
            *(f"t{o:+d}{o + 1:+d}={tags[i + o]}|{tags[i + o + 1]}" for o in range(-2, 2)),
            *(
                f"t{o:+d}{o + 2:+d}={tags[i + o]}|{tags[i + o + 1]}|{tags[i + o + 2]}"
                for o in range(-2, 1)
            ),
        ]
        for i in range(_WINDOW, len(tokens) + _WINDOW)
    ]


def word_features(words: Sequence[str]) -> list[list[str]]:
    """Features of plain words: the words within two positions, shape, prefixes and suffixes.

    Parameters
    ----------
    words
        A sentence.

    Examples
    --------
    >>> word_features(["U.N.", "official"])[0][5:8]
    ['shape=X.X.', 'short=X.X.', 'prefix=u']
    """
    around = _padded(word.lower() for word in words)
    features = []
    for i, word in enumerate(words):
        small, shape = word.lower(), "".join(map(_kind, word))
        short = "".join(c for k, c in enumerate(shape) if k == 0 or c != shape[k - 1])
        ends = range(1, min(_AFFIX, len(word)) + 1)
        features.append(
            [
                *(f"w{o:+d}={around[i + _WINDOW + o]}" for o in range(-2, 3)),
                f"shape={shape}",
                f"short={short}",
                *(f"prefix={small[:k]}" for k in ends),
                *(f"suffix={small[-k:]}" for k in ends),
            ]
        )
    return features


def _padded(values: Iterable[str]) -> list[str]:
    return ["<"] * _WINDOW + list(values) + [">"] * _WINDOW


def _kind(letter: str) -> str:
    """Return the class of a character: X, x, 0, or itself."""
    if letter.isdigit():
        return "0"
    if letter.isalpha():
        return "X" if letter.isupper() else "x"
    return letter
