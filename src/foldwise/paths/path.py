"""A path: coefficients along falling penalties."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from foldwise.arrays import FloatArray


@dataclass(frozen=True)
class Path:
    """Coefficients along falling penalties.

    Parameters
    ----------
    lambdas : ndarray of shape (L,)
        The penalties, largest first.
    coefs : ndarray of shape (L, p) or (L, C, p)
        Coefficients at each penalty; with several classes, of each class.
    intercepts : ndarray of shape (L,) or (L, C)
        Intercepts at each penalty.
    """

    lambdas: FloatArray
    coefs: FloatArray
    intercepts: FloatArray

    def predictor(self, D: Any, offset: FloatArray | float = 0.0) -> FloatArray:
        """Return the linear predictor of the rows of ``D`` at every penalty.

        Parameters
        ----------
        D : ndarray or scipy sparse of shape (n, p)
            A dictionary.
        offset : float or ndarray broadcastable to the result, default=0.0
            Added to every predictor.

        Returns
        -------
        ndarray of shape (L, n) or (L, C, n)
            The predictors.
        """
        flat = self.coefs.reshape(int(np.prod(self.coefs.shape[:-1])), self.coefs.shape[-1])
        used = np.flatnonzero(flat.any(axis=0))
        columns = D.tocsc()[:, used] if sparse.issparse(D) else np.asarray(D)[:, used]
        eta = np.asarray((columns @ flat[:, used].T).T)
        return eta.reshape(*self.coefs.shape[:-1], D.shape[0]) + self.intercepts[..., None] + offset
