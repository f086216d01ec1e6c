"""Smooth learners: linear models, kernels, neighbours, nets."""

from typing import Any, Self

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import Matern, WhiteKernel
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from foldwise.auto.portfolio.features import KernelFeatures
from foldwise.auto.portfolio.member import TableProfile
from foldwise.learners import NodeTask, TrainingData
from foldwise.learners.encoded import EncodedRows
from foldwise.learners.linear import fit_ridge_grid
from foldwise.learners.prepare import BLOCK_BYTES

PENALTIES = tuple(np.logspace(-2, 4, 13).tolist())
# Of what is a sum of columns but for rounding, the least penalty is the error.
SMALL_PENALTIES = (*np.logspace(-8, -3, 6).tolist(), *PENALTIES)
# Of the time, what networks on a graphics card may take, and what those of a lattice of five folds
# took on one (an H200): seconds a row, and the size. Measured on california_housing, satimage,
# higgs_sample and adult.
CARD_SHARE = 0.4
CARD_SIZES: list[tuple[float, dict[str, Any]]] = [
    (1.8e-3, {}),
    (0.9e-3, {"n_members": 8}),
    (0.3e-3, {"n_members": 8, "width": 128, "n_layers": 2, "epochs": 60}),
]


class RidgeInBlocks(RidgeCV):
    """RidgeCV that reads many rows a block at a time, where scikit-learn's makes three copies."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit, penalties compared by leave-one-out."""
        fits, encoded = None, isinstance(X, EncodedRows)
        if encoded or getattr(X, "nbytes", 0) > BLOCK_BYTES:
            everything = NodeTask(np.arange(len(y)), np.arange(0))
            fits = fit_ridge_grid(self, TrainingData(X, y, sample_weight), [everything], "predict")
        if fits is None or fits[0] is None:
            return super().fit(X.whole() if encoded else X, y, sample_weight)
        self.__dict__ |= vars(fits[0].model)
        return self

    def _reads_parts(self, rows: EncodedRows, *, watched: bool) -> EncodedRows:
        """Return rows as ``fit`` reads them without a copy."""
        return rows


def ridge(_profile: TableProfile) -> Any:
    """Return ridge regression with its penalty chosen by leave-one-out."""
    return RidgeInBlocks(PENALTIES)


def linear(_profile: TableProfile) -> Any:
    """Return the same with penalties down to almost none, for targets without noise."""
    return RidgeInBlocks(SMALL_PENALTIES)


def logistic(_profile: TableProfile) -> Any:
    """Return logistic regression with scikit-learn's penalty."""
    return LogisticRegression(max_iter=1000)


def cautious_logistic(_profile: TableProfile) -> Any:
    """Return logistic regression with a strong penalty."""
    return LogisticRegression(C=0.1, max_iter=1000)


def discriminant(_profile: TableProfile) -> Any:
    """Return linear discriminant analysis with Ledoit and Wolf's shrinkage."""
    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")


def quadratic(_profile: TableProfile) -> Any:
    """Return quadratic discriminant analysis, a little regularised."""
    return QuadraticDiscriminantAnalysis(reg_param=0.01)


def scaled(regressor: Any) -> Any:
    """Return a regressor that sees a standardised target."""
    return TransformedTargetRegressor(regressor, transformer=StandardScaler())


def soft_kernel(profile: TableProfile) -> Any:
    """Return a kernel machine of the usual width, well regularised."""
    if profile.regression:
        last: Any = RidgeCV(tuple(np.logspace(-4, 1, 11).tolist()))
    else:
        last = LogisticRegression(C=10.0, max_iter=1000)
    return Pipeline([("kernel", KernelFeatures(1.0)), ("linear", last)])


def wide_kernel(_profile: TableProfile) -> Any:
    """Return a classifier with a wide kernel and little regularisation, for clean classes."""
    last = LogisticRegression(C=100.0, max_iter=1000)
    return Pipeline([("kernel", KernelFeatures(3.0)), ("linear", last)])


def support_vectors(_profile: TableProfile) -> Any:
    """Return support vector regression."""
    return scaled(SVR(C=5.0, epsilon=0.05))


def gaussian_process(_profile: TableProfile) -> Any:
    """Return a Gaussian process whose length scale and noise have the largest likelihood."""
    kernel = 1.0 * Matern(3.0, nu=1.5) + WhiteKernel(0.1)
    return scaled(GaussianProcessRegressor(kernel))


def neighbours(profile: TableProfile) -> Any:
    """Return the mean of near rows, nearer ones with more weight."""
    kind = KNeighborsRegressor if profile.regression else KNeighborsClassifier
    # A node holds at least a third of the rows.
    return kind(min(15, max(profile.n_rows // 8, 1)), weights="distance")


def net(profile: TableProfile) -> Any:
    """Return a net of two hidden layers that stops early."""
    return _net(
        profile,
        hidden_layer_sizes=(128, 64),
        learning_rate_init=2e-3,
        alpha=1e-3,
        max_iter=profile.trees(150),
        early_stopping=True,
        n_iter_no_change=15,
    )


def wide_net(profile: TableProfile) -> Any:
    """Return a net of one hidden layer trained to the end, for clean targets."""
    return _net(
        profile,
        hidden_layer_sizes=(128,),
        learning_rate_init=3e-3,
        alpha=0.03,
        max_iter=profile.trees(40),
        # It is meant to end there: the steps left would overfit.
        n_iter_no_change=profile.trees(40),
    )


def neural(profile: TableProfile) -> Any:
    """Return a network that trains at all nodes at once, as large as there is time for."""
    from foldwise.nets import NetClassifier, NetRegressor
    from foldwise.nets.device import has_card

    kind = NetRegressor if profile.regression else NetClassifier
    if has_card():
        # Loading takes seconds; where others are fitted meanwhile they are not lost.
        affordable = CARD_SHARE * profile.seconds / profile.n_rows
        sizes = [size for seconds_a_row, size in CARD_SIZES if seconds_a_row <= affordable]
        return kind(**(sizes or [CARD_SIZES[-1][1]])[0])
    net = kind()
    # They are not to be counted as those of a fit.
    net.load()
    return net


def _net(profile: TableProfile, **parameters: Any) -> Any:
    n_rows = profile.n_rows
    batch = int(np.clip(n_rows // 50, 16, 128))
    if profile.regression:
        return scaled(MLPRegressor(batch_size=batch, **parameters))
    return MLPClassifier(batch_size=batch, **parameters)
