"""What a network reads: columns on one scale, without outliers, missing ones by an indicator."""

from dataclasses import dataclass

import numpy as np

from foldwise.arrays import FloatArray, IntArray

FARTHEST = 3.0


@dataclass(frozen=True)
class Inputs:
    """How a table becomes the columns of a network."""

    waved: IntArray  # columns of three or more values, which get cosines
    straight: IntArray  # the others
    missing: IntArray  # columns that get an indicator
    centre: FloatArray  # of each column
    spread: FloatArray

    @property
    def n_straight(self) -> int:
        """Columns without cosines, indicators among them."""
        return len(self.straight) + len(self.missing)

    def read(self, X: FloatArray) -> FloatArray:
        """Return the columns of the network; a missing value is in the centre."""
        scaled = (X - self.centre) / self.spread
        # Values far out, as far as float64 goes, come to rest at the farthest.
        with np.errstate(over="ignore"):
            scaled = scaled / np.sqrt(1.0 + (scaled / FARTHEST) ** 2)
        scaled = np.nan_to_num(scaled, nan=0.0)
        shown = np.isnan(X[:, self.missing]).astype(np.float64)
        return np.concatenate([scaled[:, self.waved], scaled[:, self.straight], shown], axis=1)


def inputs_of(X: FloatArray) -> Inputs:
    """Return how to read rows like these: medians, quartiles, and a smooth clip at three.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, np.nan], [100.0, 5.0]])
    >>> inputs_of(X).read(X).round(2)
    array([[-0.06,  0.  ,  0.  ],
           [-0.02,  0.  ,  0.  ],
           [ 0.02,  0.  ,  1.  ],
           [ 2.36,  0.  ,  0.  ]])
    """
    known = [column[~np.isnan(column)] for column in X.T]
    low, centre, high, least, most = np.array(
        [np.quantile(c, [0.25, 0.5, 0.75, 0.0, 1.0]) if len(c) else np.zeros(5) for c in known]
    ).T
    spread = np.where(high > low, high - low, (most - least) / 2)
    many = np.array([_three_values(c) for c in known])
    return Inputs(
        np.flatnonzero(many),
        np.flatnonzero(~many),
        np.flatnonzero(np.isnan(X).any(axis=0)),
        centre,
        np.where(spread > 0, spread, 1.0),
    )


def _three_values(column: FloatArray) -> bool:
    if not len(column):
        return False
    least, most = column.min(), column.max()
    return bool(((column != least) & (column != most)).any())
