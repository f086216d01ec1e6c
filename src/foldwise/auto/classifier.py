"""The unattended stack for classes."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from foldwise.arrays import Array, BoolArray, FloatArray
from foldwise.auto.base import BaseAutoStack
from foldwise.auto.presets import Preset
from foldwise.stack import StackingClassifier
from foldwise.stack.problem import checked_classes


class AutoStackClassifier(ClassifierMixin, BaseAutoStack):
    """Fit a good stack of classifiers to any table, with an honest score of it.

    Parameters
    ----------
    preset : {"fast", "balanced", "best"}, default="balanced"
        How much work: a few quick learners, most of the portfolio, or all of it with more
        folds, dealt twice.
    time_budget : float or None, default=None
        Seconds the fit may take. Each learner is tried on some rows first; learners, and if
        need be folds and then rows, that do not fit are left out (``skipped_``, ``drawn_``).
        What is quick is fitted in this process, what may be slow in worker processes, which are
        ended when time is up; if time suffices for nothing else, the model is the classes' shares.
        None: no limit, and one seed gives one model.
    metric : None, str or callable, default=None
        "log_loss" (None), "auc", "accuracy", "brier", ..., a name of one of scikit-learn's
        scorers, or a scorer: what the score is and what choices maximise.
    interpretable : bool, default=False
        Whether only rules and linear terms are tried; the best of them, fitted on all rows, is
        ``model_``.
    time_column : str, int or None, default=None
        The column that orders rows in time: every row is then predicted, judged and chosen for
        by earlier rows only.
    predict_seconds : float or None, default=None
        Most seconds that predicting 1,000 new rows may take, as measured after the fit:
        learners that are not worth their time are left out, chosen inside the folds. None: all
        that were fitted may be used; see :meth:`compact`.
    kinds : mapping of str to str, or None, default=None
        Kinds of columns that are known, as in :func:`foldwise.column_kinds`; others are told
        from their cells.
    n_jobs : int or None, default=None
        Fits at a time, as in scikit-learn; each fit uses one core. Many new rows are predicted in
        as many threads.
    random_state : int, RandomState instance or None, default=None
        Deals the folds and seeds the learners.
    run_dir : str, path or None, default=None
        A folder that keeps finished fits: a run that was killed continues there.
    executor : None, "processes", "threads", Dask client or address, or Executor, default=None
        Where fits take place; None is this process if n_jobs is one, else processes.
    callback : callable or None, default=None
        Called with each event of the run.
    on_interrupt : {"raise", "keep"}, default="raise"
        Whether Ctrl-C is raised, or ends the fit with the stack so far.
    verbose : int, default=0
        0 for silence; otherwise progress with the time left, on the logger "foldwise".

    Attributes
    ----------
    classes_ : ndarray
        The classes.
    score_, score_se_ : float
        The honest score, greater is better, and its standard error.
    score_interval_, score_note_, p_stack_better_ : tuple of float, str, float
        Its 95 % interval, which rows it rests on if few, and the p-value of the stack being
        better than every learner.
    score_uncorrected_, score_correction_ : float, ScoreCorrection
        The score of the judged models, which saw fewer rows, and what was done about it.
    leaderboard_ : DataFrame
        The stack, each learner, the best single one and the plain mean, on the same rows.
    kinds_ : Kinds
        What each column was taken for, and why.
    read_as_ : dict
        Encoding, delimiter and decimal mark of the file, if the table came from ``read_table``.
    members_ : list of str
        The learners that were fitted.
    skipped_ : dict
        Learners left out, for the time budget or a broken package, with the reason.
    drawn_ : ndarray of int or None
        Which rows were fitted, if the time did not suffice for all; ``oof_`` and the score are
        of these.
    failures_ : dict
        Learners that failed or were not finished in time, with the reason.
    stack_ : StackingClassifier
        The fitted stack itself.
    model_ : Pipeline
        With ``interpretable=True``, the readable model.
    oof_ : DataFrame
        Out-of-fold probabilities of the training rows, ``model`` or ``model__class``.
    partial_, run_ : bool, RunSummary
        Whether the fit was cut short, and what was done.
    fold_scores_, n_fits_, stacker_, used_, unjudged_folds_
        As in the stack.
    n_features_in_, feature_names_in_ : int, ndarray
        What it was fitted on.

    See Also
    --------
    StackingClassifier : The same stack of learners of your own.

    Notes
    -----
    Which learners are tried depends on the size of the table and on time; which of them are
    used, with what weight, is chosen inside the folds, so that the score judges what is
    deployed.

    From 500 to 100,000 rows, unless the preset is "fast", boosting goes on from the stacker's
    answer: 20 to 120 small trees that read the learners' answers and the columns. They are fitted
    for each judged fold without it, as all else is.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = AutoStackClassifier("fast", random_state=0).fit(X, y)
    >>> model.score_ > -0.3
    True
    >>> model.predict_proba(X[:1]).shape
    (1, 3)
    """

    stack_: StackingClassifier
    _stack_class = StackingClassifier
    classes_: Array
    # A weight a learner, on probabilities or their logs; weights a class must be clearly better.
    _stackers = ("log_score", "pool", "logistic")

    def _read_target(self, y: Any) -> tuple[Array, Array, int]:
        codes, self.classes_ = checked_classes(self._owner, y)
        return codes, np.asarray(y).reshape(len(codes)), len(self.classes_)

    def _on_top(self, preset: Preset) -> dict[str, Any]:
        calibrate = "auto" if preset.thorough and not self.interpretable else None
        return {"calibrate": calibrate, **super()._on_top(preset)}

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict probabilities of the classes.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        rows = self._new_rows(X)
        return np.asarray(self.stack_.predict_proba(rows))

    def predict_set(self, X: Any, coverage: float = 0.9, *, by: Any = None) -> BoolArray:
        """Return, for each row, the classes that are not ruled out, by CV+.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
            New rows.
        coverage : float, default=0.9
            The share of new rows whose class should be in its set.
        by : column of X, or (labels of the training rows, labels of the new rows), default=None
            Each level of the column or labels is held by itself, not only all rows together.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            True for the classes in the set; never empty.
        """
        rows = self._new_rows(X)
        return self.stack_.predict_set(rows, coverage, by=self._levels(by))
