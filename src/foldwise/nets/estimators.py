"""The estimators, and how many of them are fitted at once."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass
from importlib.util import find_spec
from threading import Event
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from foldwise.arrays import Array, FloatArray, IntArray
from foldwise.checks import (
    check_number,
    check_two_classes,
    check_whole,
    checked_groups,
    checked_weights,
    without_weightless,
)
from foldwise.engine import progress
from foldwise.errors import Plain, invalid_data, invalid_parameter
from foldwise.learners import (
    NodeFit,
    NodeTask,
    TrainingData,
    fit_together,
    register,
    rows_to_stop_on,
)
from foldwise.nets.device import device_named, imported_torch, working_on
from foldwise.nets.inputs import Inputs, inputs_of
from foldwise.nets.network import Shape
from foldwise.nets.train import NodeRows, Recipe, Trained, answers, train

BATCHES = 32  # about so many in an epoch
SMALLEST_BATCH, LARGEST_BATCH = 16, 1024
AT_ONCE = {"cpu": 8, "card": 16}  # networks of a tensor
STEPS = 1500  # at least so many in all, where rows are few
# On a processor members cost time, most of all where rows are many. Out of fold on ten tables of up
# to 1,500 rows, 4 and 8 members have .89 and .86 of the loss of one in 1.5 and 2.3 times the time,
# 8 with twice the steps .80; on six of 6,000 rows 4 and 8 with these steps .96 and .945 in 2.2 and
# 4.3 times. None of them is shown in benchmarks/nets.py.
FEW_ROWS = 3000
MEMBERS, MEMBERS_OF_MANY, MEMBERS_ON_CARD = 8, 4, 16
RATE, RATE_ON_CARD = 4e-3, 2e-3


@dataclass(frozen=True)
class _Plan:
    """What one network is trained on and by, and how its answers are read."""

    rows: NodeRows
    recipe: Recipe
    inputs: Inputs
    targets: Any  # NumberTargets or ClassTargets
    device: str

    @property
    def key(self) -> tuple[Any, ...]:
        """What networks of one tensor have in common."""
        return self.recipe, self.device


@dataclass(eq=False, repr=False)
class Net(BaseEstimator):
    """Parameters and the walk of ``fit``; a subclass says what its targets are."""

    _: KW_ONLY
    n_members: int | None = None
    width: int | None = None
    n_layers: int | None = None
    n_frequencies: int = 16
    residual: bool = False
    dropout: float = 0.25
    learning_rate: float | None = None
    weight_decay: float = 0.1
    batch_size: int | None = None
    epochs: int | None = None
    n_iter_no_change: int | None = 20
    nodes_at_once: int | None = None
    device: str = "auto"
    random_state: Any = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        eval_set: Any = None,
        eval_sample_weight: Any = None,
    ) -> Self:
        """Train the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN is missing.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; of a classifier, classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows. Those of weight zero are left out before anything else.
        groups : array-like of shape (n_samples,), optional
            Rows of one group stay together when rows to stop on are set apart.
        eval_set : list of one (X, y), optional
            Rows to stop on; a tenth of the rows, set apart, by default.
        eval_sample_weight : list of one array-like, optional
            Weights of the rows to stop on.

        Returns
        -------
        Self
            The fitted estimator.
        """
        given = {"X": X, "y": y, "sample_weight": sample_weight, "groups": groups}
        fit_all([self], [given | {"eval_set": eval_set, "eval_sample_weight": eval_sample_weight}])
        return self

    def load(self) -> None:
        """Load torch and its device now rather than in the first fit."""
        self._check_parameters(imported_torch(type(self).__name__))

    def _plan(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        eval_set: Any = None,
        eval_sample_weight: Any = None,
    ) -> _Plan:
        """Return what to train on and how."""
        owner = type(self).__name__
        torch = imported_torch(owner)
        self._check_parameters(torch)
        X, y, weight, groups, _ = without_weightless(owner, X, y, sample_weight, groups)
        X, y = self._checked(X, y, reset=True)
        weight = np.ones(len(X)) if weight is None else weight
        seed, split = check_random_state(self.random_state).randint(2**31 - 1, size=2)
        if eval_set is None:
            data = self._to_split(X, y, checked_groups(owner, groups, len(X)))
            kept, held = rows_to_stop_on(data, int(split))
            X_stop, y_stop, weight_stop = X[held], y[held], weight[held]
            X, y, weight = X[kept], y[kept], weight[kept]
        else:
            try:
                ((X_stop, y_stop),) = eval_set
            except (TypeError, ValueError) as error:
                must, fix = "be a list of one pair of rows and targets", "Use eval_set=[(X, y)]."
                got = Plain(type(eval_set).__name__)
                raise invalid_data(owner, "eval_set", must=must, got=got, fix=fix) from error
            X_stop, y_stop = self._checked(X_stop, y_stop, reset=False)
            given = None if eval_sample_weight is None else eval_sample_weight[0]
            given = checked_weights(owner, given, len(X_stop))
            weight_stop = np.ones(len(X_stop)) if given is None else given
        inputs, targets = inputs_of(X), self._targets(y, weight)
        rows = NodeRows(
            inputs.read(X), targets.read(y), weight,
            inputs.read(X_stop), targets.read(y_stop), weight_stop, int(seed),
        )  # fmt: skip
        device = device_named(torch, self.device)
        return _Plan(rows, self._recipe(rows, inputs, device), inputs, targets, device)

    def _check_parameters(self, torch: Any) -> None:
        owner = type(self).__name__
        for name in ("n_members", "width", "n_layers", "batch_size", "epochs", "n_iter_no_change"):
            check_whole(owner, name, getattr(self, name), 1, none=True)
        check_whole(owner, "n_frequencies", self.n_frequencies, 0, try_=16)
        check_whole(owner, "nodes_at_once", self.nodes_at_once, 1, none=True, try_=16)
        check_number(owner, "dropout", self.dropout, least=0, below=1, try_=0.25)
        if self.learning_rate is not None:
            check_number(owner, "learning_rate", self.learning_rate, above=0, try_=2e-3)
        check_number(owner, "weight_decay", self.weight_decay, least=0, try_=0.1)
        try:
            torch.zeros(1, device=device_named(torch, self.device))
        except (RuntimeError, AssertionError, TypeError) as error:
            raise invalid_parameter(
                owner,
                "device",
                must="name a device that torch can use here",
                got=self.device,
                fix="Use 'auto'.",
            ) from error

    def _recipe(self, rows: NodeRows, inputs: Inputs, device: str) -> Recipe:
        """Return sizes that suit the number of rows and the device, where none are given."""
        n_rows, large = len(rows.x), device != "cpu"
        # As many batches in most nodes, so that they can be one tensor.
        batch = self.batch_size or np.clip(n_rows // BATCHES, SMALLEST_BATCH, LARGEST_BATCH)
        steps = max(n_rows // int(batch), 1)
        steps = min(steps, BATCHES) if self.batch_size is None and batch < LARGEST_BATCH else steps
        members = MEMBERS if n_rows <= FEW_ROWS else MEMBERS_OF_MANY
        members = MEMBERS_ON_CARD if large else members
        return Recipe(
            Shape(
                len(inputs.waved),
                inputs.n_straight,
                rows.y.shape[1],
                self.n_members or members,
                self.width or (256 if large else 128),
                self.n_layers or (3 if large else 2),
                self.n_frequencies,
                self.residual,
            ),
            isinstance(self, ClassifierMixin),
            steps,
            self.epochs or int(np.clip(STEPS // steps, 100 if large else 60, 200)),
            self.n_iter_no_change,
            self.learning_rate or (RATE_ON_CARD if large else RATE),
            self.weight_decay,
            self.dropout,
        )

    def _settle(self, plan: _Plan, trained: Trained) -> None:
        self.shape_, self.inputs_, self.targets_ = plan.recipe.shape, plan.inputs, plan.targets
        self.weights_ = trained.weights
        self.best_epoch_ = trained.best_epoch
        self.validation_losses_ = trained.losses
        self.n_iter_ = len(trained.losses)

    def _response(self, X: Any) -> FloatArray:
        """Return numbers, or the probabilities of the classes."""
        check_is_fitted(self, "weights_")
        x = self.inputs_.read(self._rows(X, reset=False))
        torch = None if find_spec("torch") is None else imported_torch(type(self).__name__)
        device = "cpu" if torch is None else device_named(torch, self.device)
        return self.targets_.back(answers(torch, device, self.shape_, self.weights_, x))

    def predict_draws(self, X: Any, n_draws: int = 100, random_state: Any = None) -> FloatArray:
        """Return predictions with dropout left on, which is an ensemble of thinned networks.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        n_draws : int, default=100
            How many of them to ask.
        random_state : int, RandomState or None
            Draws the units that are left out.

        Returns
        -------
        ndarray of shape (n_draws, n_samples) or (n_draws, n_samples, n_outputs)
            Numbers, or probabilities of all classes.
        """
        check_is_fitted(self, "weights_")
        x = self.inputs_.read(self._rows(X, reset=False))
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))

        def drop(hidden: Array, _layer: int) -> Array:
            return hidden * (rng.random(hidden.shape) >= self.dropout) / (1.0 - self.dropout)

        said = [answers(None, "cpu", self.shape_, self.weights_, x, drop) for _ in range(n_draws)]
        return np.stack([self.targets_.back(values) for values in said])

    def _rows(self, X: Any, *, reset: bool) -> FloatArray:
        return validate_data(self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def at_all_nodes(
    learner: Any, data: TrainingData, tasks: Sequence[NodeTask], method: str
) -> list[NodeFit | None]:
    """Fit a network, or a Pipeline that ends in one, at all nodes."""
    return fit_together(learner, data, tasks, method, fit_all)


def fit_all(models: Sequence[Net], arguments: Sequence[dict[str, Any]]) -> None:
    """Fit models in place, each on its own rows, in as few tensors as their shapes allow."""
    plans = [model._plan(**given) for model, given in zip(models, arguments, strict=True)]
    together: dict[tuple[Any, ...], list[int]] = {}
    for number, plan in enumerate(plans):
        together.setdefault(plan.key, []).append(number)
    device = plans[0].device
    most = models[0].nodes_at_once or AT_ONCE["cpu" if device == "cpu" else "card"]
    parts = [
        numbers[start : start + most]
        for numbers in together.values()
        for start in range(0, len(numbers), most)
    ]
    torch = imported_torch(type(models[0]).__name__)
    # As many as torch may have here: in a worker it has one.
    threads = min(torch.get_num_threads(), len(parts)) if device == "cpu" else 1
    stop = Event()

    def trained_part(part: Sequence[int]) -> list[Trained]:
        return _train(torch, [models[n] for n in part], [plans[n] for n in part], stop)

    with working_on(torch, device):
        if threads == 1:
            each = [trained_part(part) for part in parts]
        else:
            each = _side_by_side(trained_part, parts, threads, stop)
    for part, trained in zip(parts, each, strict=True):
        for number, one in zip(part, trained, strict=True):
            models[number]._settle(plans[number], one)


def _side_by_side(
    work: Callable[[Any], list[Trained]], parts: Sequence[Any], threads: int, stop: Event
) -> list[list[Trained]]:
    with ThreadPoolExecutor(threads) as pool:
        try:
            return list(pool.map(work, parts))
        except BaseException:
            # After Ctrl-C, threads that went on would abort the process as it exits.
            stop.set()
            raise


def _train(torch: Any, models: Sequence[Net], plans: Sequence[_Plan], stop: Event) -> list[Trained]:
    owner, plan = type(models[0]).__name__, plans[0]
    with progress(owner, plan.recipe.epochs, models[0].verbose, "epochs") as told:

        def tell(epoch: int) -> None:
            if stop.is_set():
                raise InterruptedError
            told.reach(epoch)

        rows = [each.rows for each in plans]
        return train(torch, rows, plan.recipe, plan.device, tell)


@dataclass(frozen=True)
class NumberTargets:
    """How targets are put on one scale, and answers back."""

    centre: FloatArray
    spread: FloatArray
    low: FloatArray
    high: FloatArray
    flat: bool  # whether targets came as one column without a second dimension

    def read(self, y: FloatArray) -> FloatArray:
        """Return standardised targets."""
        return (y.reshape(len(y), -1) - self.centre) / self.spread

    def back(self, answers: FloatArray) -> FloatArray:
        """Return the mean of the members, never beyond what was seen."""
        values = answers.mean(axis=0) * self.spread + self.centre
        values = np.clip(values, self.low, self.high)
        return values[:, 0] if self.flat else values


@dataclass(frozen=True)
class ClassTargets:
    """How classes become indicators, and answers probabilities."""

    labels: Array

    def read(self, y: Array) -> FloatArray:
        """Return a column for each class."""
        return (np.asarray(y)[:, None] == self.labels).astype(np.float64)

    def back(self, answers: FloatArray) -> FloatArray:
        """Return the mean of the members' probabilities."""
        return softmax(answers, axis=2).mean(axis=0)


class NetRegressor(RegressorMixin, Net):
    """A network for tables that predicts numbers.

    Parameters
    ----------
    n_members : int, optional
        Implicit members after TabM-mini: each has its own scale of the inputs and its own head;
        the layers between are shared. By default 16 on a graphics card, on a processor 8 of up to
        3,000 rows and 4 of more.
    width, n_layers : int, optional
        Units of a hidden layer, and how many layers: by default 256 and 3, or 128 and 2.
    n_frequencies : int, default=16
        Cosines of every column of three or more values; 0 for none.
    residual : bool, default=False
        Whether what a layer says, from the second on, is added to what it read.
    dropout : float, default=0.25
        Share of units left out in each step.
    learning_rate : float, optional
        Of AdamW for the matrices; level for half of the epochs, then a cosine down to zero. By
        default 0.004, on a graphics card 0.002.
    weight_decay : float, default=0.1
        Of AdamW; on the same schedule.
    batch_size : int, optional
        Rows in a step; by default a 32nd of the rows, but 16 to 1024.
    epochs : int, optional
        Passes over the rows: by default 60 to 200, more where rows are few; the best is kept.
    n_iter_no_change : int or None, default=20
        Stop when this many epochs brought no better loss on the rows set apart.
    nodes_at_once : int, optional
        At most so many networks of a stack are trained as one tensor, by default 16 on a graphics
        card and 8 on a processor, which has a thread for each tensor. The last bits may depend on
        it.
    device : str, default="auto"
        Where torch works: "auto" is "cuda" where there is one, else "cpu". As training begins on a
        card, no other thread may synchronise the whole of it.
    random_state : int, RandomState or None
        Draws first weights, batches and the units left out.
    verbose : int, default=0
        1 tells how far it is now and then, 2 after every epoch.

    Attributes
    ----------
    weights_ : dict of str to ndarray
        Of the best epoch.
    shape_ : Shape
        Sizes of the network.
    inputs_, targets_ : object
        How rows become inputs, and answers become numbers.
    best_epoch_ : int
        Whose weights were kept, counted from 1.
    validation_losses_ : ndarray of shape (n_epochs,)
        Squared error of standardised targets on the rows set apart after each epoch. They chose
        the epoch: not an honest score.
    n_iter_ : int
        Epochs trained.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    Columns are centred at their median, divided by the distance of their quartiles and clipped
    smoothly at three; a missing value is put in the centre, with an indicator where training rows
    had one. Targets are standardised, and predictions never leave the range of those seen.
    Needs torch (``pip install 'foldwise[neural]'``); a fitted one predicts without. The same seed
    gives the same bits on the same device. In a stack the networks of all nodes are trained as one
    tensor; no weight is shared between nodes.

    References
    ----------
    Holzmüller, Grinsztajn & Steinwart (2024), Better by default (RealMLP).
    Gorishniy, Kotelnikov & Babenko (2025), TabM.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from foldwise import NetRegressor
    >>> X, y = make_friedman1(300, random_state=0)
    >>> net = NetRegressor(width=32, epochs=30, random_state=0).fit(X, y)
    >>> bool(net.score(X, y) > 0.8)
    True
    """

    def _checked(self, X: Any, y: Any, *, reset: bool) -> tuple[FloatArray, FloatArray]:
        return validate_data(
            self, X, y, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan",
            multi_output=True, y_numeric=True,
        )  # fmt: skip

    def _to_split(self, X: FloatArray, y: FloatArray, groups: IntArray | None) -> TrainingData:
        return TrainingData(X, y, groups=groups)

    def _targets(self, y: FloatArray, weight: FloatArray) -> NumberTargets:
        columns = y.reshape(len(y), -1).astype(np.float64)
        centre = np.average(columns, axis=0, weights=weight)
        spread = np.sqrt(np.average((columns - centre) ** 2, axis=0, weights=weight))
        low, high = columns.min(axis=0), columns.max(axis=0)
        return NumberTargets(centre, np.where(spread > 0, spread, 1.0), low, high, y.ndim == 1)

    def predict(self, X: Any) -> FloatArray:
        """Return the predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            The mean of the members, never beyond the targets seen in ``fit``.
        """
        return self._response(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class NetClassifier(ClassifierMixin, Net):
    """A network for tables that predicts classes.

    Parameters
    ----------
    n_members : int, optional
        Implicit members after TabM-mini: each has its own scale of the inputs and its own head;
        the layers between are shared. By default 16 on a graphics card, on a processor 8 of up to
        3,000 rows and 4 of more.
    width, n_layers : int, optional
        Units of a hidden layer, and how many layers: by default 256 and 3, or 128 and 2.
    n_frequencies : int, default=16
        Cosines of every column of three or more values; 0 for none.
    residual : bool, default=False
        Whether what a layer says, from the second on, is added to what it read.
    dropout : float, default=0.25
        Share of units left out in each step.
    learning_rate : float, optional
        Of AdamW for the matrices; level for half of the epochs, then a cosine down to zero. By
        default 0.004, on a graphics card 0.002.
    weight_decay : float, default=0.1
        Of AdamW; on the same schedule.
    batch_size : int, optional
        Rows in a step; by default a 32nd of the rows, but 16 to 1024.
    epochs : int, optional
        Passes over the rows: by default 60 to 200, more where rows are few; the best is kept.
    n_iter_no_change : int or None, default=20
        Stop when this many epochs brought no better loss on the rows set apart.
    nodes_at_once : int, optional
        At most so many networks of a stack are trained as one tensor, by default 16 on a graphics
        card and 8 on a processor, which has a thread for each tensor. The last bits may depend on
        it.
    device : str, default="auto"
        Where torch works: "auto" is "cuda" where there is one, else "cpu". As training begins on a
        card, no other thread may synchronise the whole of it.
    random_state : int, RandomState or None
        Draws first weights, batches and the units left out.
    verbose : int, default=0
        1 tells how far it is now and then, 2 after every epoch.

    Attributes
    ----------
    weights_ : dict of str to ndarray
        Of the best epoch.
    shape_ : Shape
        Sizes of the network.
    inputs_, targets_ : object
        How rows become inputs, and answers become probabilities.
    best_epoch_ : int
        Whose weights were kept, counted from 1.
    validation_losses_ : ndarray of shape (n_epochs,)
        Log-loss on the rows set apart after each epoch. They chose the epoch: not an honest
        score.
    n_iter_ : int
        Epochs trained.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of columns.

    Notes
    -----
    Columns are centred at their median, divided by the distance of their quartiles and clipped
    smoothly at three; a missing value is put in the centre, with an indicator where training rows
    had one. Needs torch (``pip install 'foldwise[neural]'``);
    a fitted one predicts without. The same seed gives the same bits on the same device. In a stack
    the networks of all nodes are trained as one tensor; no weight is shared between nodes.

    References
    ----------
    Holzmüller, Grinsztajn & Steinwart (2024), Better by default (RealMLP).
    Gorishniy, Kotelnikov & Babenko (2025), TabM.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from foldwise import NetClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> net = NetClassifier(width=32, epochs=30, random_state=0).fit(X, y)
    >>> bool(net.score(X, y) > 0.9)
    True
    """

    def _checked(self, X: Any, y: Any, *, reset: bool) -> tuple[FloatArray, Array]:
        X, y = validate_data(
            self, X, y, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        check_classification_targets(y)
        return X, y

    def _to_split(self, X: FloatArray, y: Array, groups: IntArray | None) -> TrainingData:
        labels, codes = np.unique(y, return_inverse=True)
        check_two_classes(type(self).__name__, labels)
        return TrainingData(X, codes, n_classes=len(labels), groups=groups)

    def _targets(self, y: Array, weight: FloatArray) -> ClassTargets:
        self.classes_ = np.unique(y)
        check_two_classes(type(self).__name__, self.classes_)
        return ClassTargets(self.classes_)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The mean of the members.
        """
        return self._response(X)

    def predict(self, X: Any) -> Array:
        """Return the likeliest classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes.
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


for _net in (NetRegressor, NetClassifier):
    register(_net, lambda *_: True, at_all_nodes, behind="anything")
