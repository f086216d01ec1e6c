import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal

from foldwise.auto.tables.texts import HashedText

TEXTS = pd.Series(["the cat sat on a mat", "a dog ran in the park", "cats and dogs sat", None] * 5)


def test_the_same_text_gives_the_same_numbers():
    text = HashedText(4, 0)
    first = text.fit_transform(TEXTS)
    assert first.shape == (20, 5)
    assert_allclose(text.transform(TEXTS), first, atol=1e-10)
    assert_array_equal(HashedText(4, 0).fit_transform(TEXTS), first)


def test_an_unknown_or_missing_text_is_numbers_too():
    text = HashedText(4, 0)
    text.fit_transform(TEXTS)
    assert np.isfinite(text.transform(pd.Series(["zzz", None, ""]))).all()


def test_empty_texts_do_not_fail():
    assert np.isfinite(HashedText(4, 0).fit_transform(pd.Series(["", None, "!"]))).all()


def test_texts_about_one_thing_lie_together():
    rng = np.random.default_rng(0)
    sea, wood = ["ship", "wave", "salt", "sail"], ["tree", "leaf", "bark", "root"]
    texts = [" ".join(rng.choice(words, 5)) for words in [sea] * 30 + [wood] * 30]
    numbers = HashedText(2, 0).fit_transform(pd.Series(texts))[:, 1:]
    centres = numbers[:30].mean(axis=0), numbers[30:].mean(axis=0)
    nearer = np.linalg.norm(numbers - centres[0], axis=1) < np.linalg.norm(
        numbers - centres[1], axis=1
    )
    assert_array_equal(nearer, np.arange(60) < 30)
