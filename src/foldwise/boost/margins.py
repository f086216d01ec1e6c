"""Margins of a weighted vote, and the path a boosted committee takes towards large ones."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from foldwise.arrays import FloatArray, IntArray


def centred(votes: FloatArray) -> FloatArray:
    """Return the votes less their row mean: the additive model f, whose softmax is P(class).

    Examples
    --------
    >>> import numpy as np
    >>> centred(np.array([[3.0, 1.0]]))
    array([[ 1., -1.]])
    """
    return votes - votes.mean(axis=1, keepdims=True)


def class_margins(votes: FloatArray, codes: IntArray) -> FloatArray:
    """Return each row's margin, between −1 and 1; positive if the vote is right.

    Shapes: ``votes`` (n_samples, n_classes).

    References
    ----------
    .. [1] Schapire, Freund, Bartlett, Lee (1998). Boosting the margin.

    Examples
    --------
    >>> import numpy as np
    >>> class_margins(np.array([[3.0, 1.0], [3.0, 1.0]]), np.array([0, 1]))
    array([ 0.5, -0.5])
    """
    rows = np.arange(len(votes))
    own = votes[rows, codes]
    if votes.shape[1] == 2:
        return (own - votes[rows, 1 - codes]) / votes.sum(axis=1)
    others = votes.copy()
    others[rows, codes] = -np.inf
    return (own - others.max(axis=1)) / votes.sum(axis=1)


@dataclass(frozen=True)
class BoostingPath:
    """A boosted committee after each round, seen from its training rows.

    With a small learning rate the rounds trace an L1-regularised path: the norm Σ|β| grows, the
    loss falls, and the smallest margin climbs to the largest that any committee has.

    Attributes
    ----------
    l1_norm : ndarray of shape (n_rounds,)
        Σ β so far.
    exponential_loss : ndarray of shape (n_rounds,)
        Weighted mean of exp(−f_y): with two classes exp(−y F).
    error : ndarray of shape (n_rounds,)
        Weighted share of rows that the committee gets wrong.
    smallest_margin : ndarray of shape (n_rounds,)
        Over rows of positive weight.

    References
    ----------
    .. [1] Rosset, Zhu, Hastie (2004). Boosting as a regularized path to a maximum margin
       classifier.
    """

    l1_norm: FloatArray
    exponential_loss: FloatArray
    error: FloatArray
    smallest_margin: FloatArray

    @classmethod
    def start(cls) -> Self:
        """Return the path before the first round."""
        return cls(*(np.empty(0) for _ in range(4)))

    def extended(self, votes: FloatArray, codes: IntArray, weight: FloatArray, say: float) -> Self:
        """Return the path with one round more, from the votes after it."""
        own = votes[np.arange(len(votes)), codes] - votes.mean(axis=1)
        margin = class_margins(votes, codes)
        norm = say + (self.l1_norm[-1] if len(self.l1_norm) else 0.0)
        share = weight / weight.sum()
        new = (
            norm,
            share @ np.exp(-own),
            share @ (votes.argmax(axis=1) != codes),
            margin[weight > 0].min(),
        )
        old = (self.l1_norm, self.exponential_loss, self.error, self.smallest_margin)
        return type(self)(*(np.append(a, b) for a, b in zip(old, new, strict=True)))

    def first(self, rounds: int) -> Self:
        """Return the path of the first rounds."""
        old = (self.l1_norm, self.exponential_loss, self.error, self.smallest_margin)
        return type(self)(*(a[:rounds] for a in old))


def coefficient_path(answers: IntArray, says: FloatArray) -> FloatArray:
    """Return how the coefficient of each distinct learner grows with the rounds.

    Shapes: ``answers`` (n_rounds, n_samples), returns (n_rounds, n_distinct).

    Examples
    --------
    >>> import numpy as np
    >>> coefficient_path(np.array([[0, 1], [1, 1], [0, 1]]), np.array([1.0, 2.0, 4.0]))
    array([[1., 0.],
           [1., 2.],
           [5., 2.]])
    """
    known: dict[bytes, int] = {}
    owner = [known.setdefault(row.tobytes(), len(known)) for row in np.ascontiguousarray(answers)]
    steps = np.zeros((len(says), len(known)))
    steps[np.arange(len(says)), owner] = says
    return np.cumsum(steps, axis=0)
