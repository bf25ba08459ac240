"""Features of a prompt without a model of language: its shape, and the words that it has.

Everything is fitted on other prompts, and no reward is looked at. Needs scikit-learn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from purse.types import Floats

DIRECTIONS = 16  # of the words
FURTHEST = 3.0  # standard deviations at which a feature is cut off


def shape_of(text: str) -> list[float]:
    """Eight numbers: how long the text is, and what stands in it."""
    words, characters = len(text.split()), len(text)
    return [
        float(np.log1p(characters)),
        float(np.log1p(words)),
        10 * sum(character.isdigit() for character in text) / (1 + characters),
        text.count(",") / (1 + words),
        *(float(mark in text) for mark in ("\n", "(A)", "?")),
        float("def " in text or "function" in text),
    ]


def text_features(fitted_on: Sequence[str], prompts: Sequence[str]) -> Floats:
    """Return the features of prompts, shape (N, 24), standardised as the other prompts are."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    counts = TfidfVectorizer(sublinear_tf=True, min_df=3, ngram_range=(1, 2), max_features=20_000)
    directions = TruncatedSVD(DIRECTIONS, random_state=0).fit(counts.fit_transform(fitted_on))

    def summarise(texts: Sequence[str]) -> Floats:
        words = directions.transform(counts.transform(texts))
        return np.hstack([words, [shape_of(text) for text in texts]])

    known = summarise(fitted_on)
    centred = (summarise(prompts) - known.mean(axis=0)) / (known.std(axis=0) + 1e-9)
    return np.clip(centred, -FURTHEST, FURTHEST)
