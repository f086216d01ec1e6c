"""The losses of a class: logistic, multinomial, exponential."""

from typing import Any

import numpy as np
from scipy.special import entr, expit, logsumexp, softmax

from foldwise.arrays import FloatArray
from foldwise.errors import Plain, invalid_parameter
from foldwise.losses.loss import LEAST_CURVATURE, CustomLoss, Loss, check_known

RAREST = 1e-12  # share of a class of which no row has weight


def _log_odds(y: FloatArray, weight: FloatArray) -> float:
    share = np.clip(np.average(y, weights=weight), RAREST, 1 - RAREST)
    return float(np.log(share) - np.log1p(-share))


class Logistic(Loss):
    """Cross-entropy of P(y = 1) = 1 / (1 + exp(−F)), y in {0, 1}.

    Examples
    --------
    >>> import numpy as np
    >>> Logistic().gradient(np.array([0.0, 1.0]), np.zeros(2))
    array([ 0.5, -0.5])
    """

    name = "logistic"

    def value(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the loss of each row."""
        return np.logaddexp(0.0, raw) - y * raw

    def gradient(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return p − y."""
        return expit(raw) - y

    def hessian(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return p (1 − p)."""
        return expit(raw) * expit(-raw)

    def curvature(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return p (1 − p), not below glmnet's bound."""
        p = expit(raw)
        return np.maximum(p * (1.0 - p), LEAST_CURVATURE)

    def least(self, y: FloatArray) -> FloatArray:
        """Return the entropy of each target: zero for a class, more for a proportion."""
        return np.asarray(entr(y) + entr(1.0 - y))

    def inverse_link(self, raw: FloatArray) -> FloatArray:
        """Return P(y = 1)."""
        return expit(raw)

    def constant(self, y: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the log-odds of the weighted share of class 1."""
        return np.asarray(_log_odds(y, weight))


class Exponential(Loss):
    """AdaBoost's loss exp(−s F) with s = ±1, where F is half the log-odds; y in {0, 1}.

    Examples
    --------
    >>> import numpy as np
    >>> Exponential().value(np.array([0.0, 1.0]), np.zeros(2))
    array([1., 1.])
    """

    name = "exponential"

    def value(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the loss of each row."""
        return np.exp((1 - 2 * y) * raw)

    def gradient(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return −s exp(−s F)."""
        return (1 - 2 * y) * self.value(y, raw)

    def hessian(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the loss itself."""
        return self.value(y, raw)

    def inverse_link(self, raw: FloatArray) -> FloatArray:
        """Return P(y = 1)."""
        return expit(2 * raw)

    def constant(self, y: FloatArray, weight: FloatArray) -> FloatArray:
        """Return half the log-odds of the weighted share of class 1."""
        return np.asarray(0.5 * _log_odds(y, weight))


class Multinomial(Loss):
    """Cross-entropy of the softmax of K raw predictions; y holds codes 0..K−1.

    Parameters
    ----------
    n_classes : int
        K.

    Examples
    --------
    >>> import numpy as np
    >>> Multinomial(2).value(np.array([0, 1]), np.zeros((2, 2))).round(3)
    array([0.693, 0.693])
    """

    name = "multinomial"

    def __init__(self, n_classes: int) -> None:
        self.n_classes = self.n_outputs = n_classes

    def value(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the loss of each row."""
        codes = np.broadcast_to(y.astype(np.intp)[:, None], (*raw.shape[:-1], 1))
        own = np.take_along_axis(raw, codes, axis=-1)[..., 0]
        return np.asarray(logsumexp(raw, axis=-1) - own)

    def gradient(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return p − one-hot(y), shape (n_samples, K)."""
        return softmax(raw, axis=1) - (y[:, None] == np.arange(self.n_classes))

    def hessian(self, y: FloatArray, raw: FloatArray) -> FloatArray:
        """Return the diagonal p (1 − p), shape (n_samples, K)."""
        p = softmax(raw, axis=1)
        return p * (1 - p)

    def inverse_link(self, raw: FloatArray) -> FloatArray:
        """Return the probabilities of the K classes."""
        return softmax(raw, axis=1)

    def constant(self, y: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the centred logs of the weighted class shares, shape (K,)."""
        share = np.bincount(y.astype(np.intp), weights=weight, minlength=self.n_classes)
        logs = np.log(np.maximum(share / share.sum(), RAREST))
        return logs - logs.mean()


def class_loss(owner: str, loss: Any, n_classes: int) -> Loss:
    """Return the loss a classifier's parameter names."""
    if isinstance(loss, CustomLoss) and not loss.has_link:
        loss = CustomLoss(loss.value, loss.gradient, loss.hessian, expit)
    if loss == "auto":
        loss = "logistic" if n_classes == 2 else "multinomial"
    if loss == "multinomial":
        return Multinomial(n_classes)
    two_class: dict[str, type[Loss]] = {"logistic": Logistic, "exponential": Exponential}
    if not isinstance(loss, Loss) and loss not in two_class:
        check_known(owner, loss, ["auto", "multinomial", *two_class])
    if n_classes > 2 and not isinstance(loss, Multinomial):
        must = "be 'multinomial' for more than two classes"
        got = Plain(f"{getattr(loss, 'name', loss)!r} for {n_classes} classes")
        raise invalid_parameter(owner, "loss", must=must, got=got, fix="Use loss='auto'.")
    return loss if isinstance(loss, Loss) else two_class[loss]()
