"""Stacking for classes."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if

from foldwise.arrays import Array, BoolArray, FloatArray
from foldwise.engine import RunSummary
from foldwise.stack.bands import parts_of, set_of
from foldwise.stack.estimator import KEEP, BaseStacking
from foldwise.stack.fit import FittedStack
from foldwise.stack.judge.calibrate import check_kinds, checked_methods, checked_threshold
from foldwise.stack.judge.judge import Contest
from foldwise.stack.parameters import tops_of
from foldwise.stack.problem import StackProblem, checked_classes
from foldwise.stack.stackers.candidates import respond
from foldwise.stack.stackers.means import OneClass, Stacker
from foldwise.stack.table.read import Features


def _top_has(method: str) -> Any:
    """Tell whether the stacker, or what it will be, has a method."""

    def check(stack: Any) -> bool:
        if stack.calibrate is not None:
            return method == "predict_proba"
        if hasattr(stack, "deals_"):
            tops = [fitted.verdict.stacker for fitted in stack.deals_]
        else:
            tops = tops_of(stack.final_estimator)
        return all(_gives(top, method) for top in tops)

    return check


def _gives(top: Any, method: str) -> bool:
    if top is None or isinstance(top, Stacker | str):
        return True
    if isinstance(top, OneClass):
        return top.kind == "probability" or (method, top.kind) == ("decision_function", "decision")
    getattr(top, method)
    return True


def _decisions(stacker: Any, features: Features) -> FloatArray:
    """Return a stacker's decision values: its own, or log-odds and log-probabilities."""
    if hasattr(stacker, "decision_function"):
        return np.asarray(stacker.decision_function(features.matrix))
    response = respond(stacker, features)
    if response.kind == "decision":
        return response.values[:, 0] if response.values.shape[1] == 1 else response.values
    clipped = np.clip(response.values, np.finfo(np.float64).tiny, 1.0)
    logs = np.log(clipped)
    return np.asarray(logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs)


@dataclass(eq=False, repr=False)
class StackingClassifier(ClassifierMixin, BaseStacking):
    """Stack classifiers, with an honest score of the stack itself.

    Learners are asked for probabilities, decision values or labels, whichever they have first;
    probabilities enter an estimator on top as centred log-probabilities (two classes: one
    logit). Regressors may be learners too.

    Parameters
    ----------
    estimators : list of (name, learner) or (name, learner, columns), or list of such lists
        The learners; ``"drop"`` leaves one out. With columns, a learner sees only these. A list
        of lists is several layers: the learners of a layer read the predictions of the one below.
    final_estimator : None, str, estimator, (estimator, grid) or list of these, default=None
        What stands on top. A name is one of "mean" or "soft_vote", "majority_vote", "median",
        "trimmed_mean", "geometric_mean", "rank_mean", "best", "weighted_mean"; "nnls",
        "simplex", "greedy", "bagged_greedy"; "log_score", "pseudo_bma",
        "pseudo_bma_plus"; "pool" (one weight a learner on its logits), "pool_by_class",
        "logistic", "lasso". A grid is chosen over the folds; a list, simplest first, is a
        bake-off: the best by nested loss wins unless a simpler one is within one standard error.
        None is a bake-off of "simplex", "best" and "pool".
    cv : int, splitter, iterable of (train, test) or "prefit", default=None
        How rows are dealt; None is 5. An int shuffles and keeps groups together. Splits
        that go forward in time are recognised; one split only is blending.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What learners are asked for.
    passthrough : bool or list of columns, default=False
        Columns of X that go past the learners, to upper layers and the stacker.
    predict_with : {"auto", "folds", "refit", "pairs"}, default="auto"
        New rows get the mean of the models fitted without one fold ("folds"), the model of all
        rows ("refit"), or the mean of the models fitted without two ("pairs": 40 % cheaper).
        "auto" is "refit" forward in time, else "folds".
    hold_out : {"auto", "node", "mean"}, default="auto"
        How a judged fold is predicted: by the model without it, or by the mean of the models
        without it and one more. "auto" repeats what is deployed;
        anything else is taken at its word, and the score is not corrected.
    tune : dict or None, default=None
        Maps names of learners to grids, searched inside the folds. Of boosters that stop early
        (Newton boosting, XGBoost, CatBoost) "rounds" finds how many are enough: for each fold on
        the others, with no rows set apart.
    calibrate : None, "auto", str or list of str, default=None
        How the stack's probabilities are calibrated on its own out-of-fold predictions: by
        "temperature", "platt", "beta", "quadratic", "isotonic", "venn_abers", "vector",
        "matrix" or "network". Of a list, simplest first, the best by nested log-loss wins
        unless a simpler one is within one standard error; "none" may be one of them. "auto" is
        a list of good ones, none first. Decision values of a final estimator without
        probabilities become probabilities this way.
    threshold : None, float, str or callable, default=None
        The probability from which on the second of two classes is predicted. A scorer, or the
        name of one, is maximised over the folds. None predicts the most probable class.
    scoring : None, str or callable, default=None
        What the score is and what choices maximise; None is log-loss, or
        accuracy where a stacker has no probabilities.
    prune : float, default=0.0
        Learners are left out as long as the best convex combination of the others scores less
        than this many standard errors worse. It is told from the rows that train the stacker,
        so that the score judges it; 0 keeps all.
    predict_seconds : float or None, default=None
        Most seconds that predicting 1,000 new rows may take: learners that are not worth their
        time are left out, equally honestly. Times are measured after the fit, with the
        encoders that learners share counted once; the cheapest learner stays in any case.
    score_se : {"learners", "nested"}, default="learners"
        How it is found out what more rows are worth, by which ``score_`` is corrected, and that
        folds err together, which widens ``score_se_``: by the learners, which takes no fit; or by
        whole stacks without two folds, which takes 1.4 times the rows fitted, five folds and one
        layer.
    partners : "all" or int, default="all"
        With how many others each fold is paired to be judged, an even number. With ``partners=2``
        K folds lie in a ring, and 2 K models of a learner are fitted instead of K (K + 1) / 2: for
        many rows or many folds. What judges fold i was trained on the rows of its neighbours alone,
        which are those dealt farthest from it, and how much folds err together is not seen but
        taken from experience. Learners are deployed as with "all"; what is chosen by judged folds
        (the stacker of several, a calibration, ``tune``) is chosen by fewer of them.
    n_repeats : int or "auto", default=1
        Number of deals; predictions and scores are averaged. "auto" is as many as ``time_budget``
        suffices for, up to three; without a budget one.
    n_jobs : int or None, default=None
        Number of processes that fit, and of threads in which many new rows are predicted; results
        have the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Deals the folds and fills every ``random_state`` of a learner that is None.
    on_error : {"drop", "raise"}, default="drop"
        Whether a learner that fails is dropped with a warning, or stops the fit.
    run_dir : str, path or None, default=None
        A folder that keeps every finished fit. The same call again continues where it was,
        and refits nothing after a change of stacker or metric or for one learner more. Only
        for folders you trust: models are pickled. Without ``random_state`` the seed is drawn
        from the data.
    time_budget : float or None, default=None
        Seconds for the whole fit. Learners are finished one after the other, those with a
        shortcut first, then in the order given; what cannot be finished is left out. A fit at
        work can be ended in processes only; in this process and in threads the next one is
        not begun unless it should fit.
    executor : None, "processes", "threads", Dask client or address, or Executor, default=None
        Where learners are fitted; None is this process, or ``n_jobs`` processes. Any
        ``concurrent.futures.Executor`` will do. Results have the same bits everywhere.
    callback : callable or None, default=None
        Called with each :class:`foldwise.engine.Event` of the run.
    on_interrupt : {"raise", "keep"}, default="raise"
        Whether Ctrl-C ends the call, or the fits only: then the learners that are finished
        make a stack.
    verbose : int, default=0
        0 for silence; otherwise progress with the time left: a bar in a terminal or notebook,
        lines on the logger "foldwise" if anybody listens to it.

    Attributes
    ----------
    score_, score_se_ : float
        The honest score, greater is better, and its standard error: that of rows (of groups,
        if given), widened for folds erring together. No part of what predicted a row saw it.
        NaN if the folds cannot give one.
    score_interval_ : tuple of float
        The ends of the 95 % interval of the deployed model's score.
    score_uncorrected_ : float
        The score of the judged models as they are, which saw fewer rows than the deployed ones.
    score_correction_ : ScoreCorrection
        What was done about that: ``kind`` ("step", "limited" or "none"), ``reason``, ``size``.
    p_stack_better_ : float
        One-sided p-value of the stack being better than every learner: the largest of theirs.
    score_note_ : str
        Which rows carry more than half of the uncertainty, if few do; else empty.
    fold_scores_ : ndarray
        The score of each judged fold.
    leaderboard_ : DataFrame
        The stack, each learner, the best single one and the plain mean on the same rows, with
        the paired difference to the stack, times and weights; ``may_be_best``, the rows that
        cannot be told from the best one at 95 %, and ``p_stack_better``, the one-sided p-value
        of the stack being better than the row (for "best single": than every learner).
    oof_ : DataFrame
        Out-of-fold predictions of the training rows, ``model`` or ``model__class``.
    stacker_, final_estimator_ : object
        The fitted stacker.
    used_ : list of str
        The learners it reads: all, unless ``prune`` or ``predict_seconds`` left some out.
    calibrator_ : Calibration or None
        The deployed calibration: its ``method``, ``map`` and the nested ``losses`` it was chosen
        by. Of the first repeat; the others are in ``deals_``.
    threshold_ : float or None
        The deployed threshold, of the first repeat.
    estimators_, named_estimators_ : list, Bunch
        The fitted learners, as deployed.
    stack_method_ : list of str
        What each learner is asked for.
    n_fits_ : int
        Number of fits of learners.
    failures_ : dict
        Why learners were dropped: one that fails in a fold is left out of all.
    run_ : RunSummary
        What the fit did: fits done, found in ``run_dir`` and failed, seconds, whether and why
        it is partial.
    partial_ : bool
        Whether something is missing for want of time or by Ctrl-C.
    unjudged_folds_ : tuple of int
        Folds that could not be judged (the first, forward in time).
    deals_ : list of FittedStack
        The lattice, the table of all predictions and the hold-out stacks of each repeat.
    classes_ : ndarray
        The classes.
    n_features_in_, feature_names_in_ : int, ndarray
        What the stack was fitted on.

    Notes
    -----
    With K folds each learner is fitted K (K + 1) / 2 times: without each fold and without each
    pair of folds. Whatever is chosen is chosen twice: for deployment by the losses on all
    hold-out folds, and for judging a fold by a cross-validation that never sees it. So are the
    calibration and the threshold, and ``score_`` is that of the calibrated stack. What is left
    is a slight pessimism, since judged stacks saw fewer rows; it is taken out as in
    :class:`StackingRegressor`. With
    means of fold models the calibration of a judged fold adds to it, since it is learned from
    single models, which are surer than their means: little for boosting and forests, more for
    single deep trees.

    An integer ``cv`` does not stratify, unless a class has fewer than two rows a fold: a judged
    fold would inherit the class shares, and a model of nothing but the shares, on coin flips, be
    right too often (by .05 with 60 rows and .06 with 30, in accuracy; log-loss hardly notices).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> stack = StackingClassifier(
    ...     [("lda", LinearDiscriminantAnalysis()), ("bayes", GaussianNB())], random_state=0
    ... ).fit(X, y)
    >>> print(f"log-loss {-stack.score_:.2f} ± {stack.score_se_:.2f}")
    log-loss 0.07 ± 0.03
    >>> stack.predict_set(X[:1], 0.95)
    array([[ True, False, False]])
    """

    _classifies = True
    _: KW_ONLY
    calibrate: Any = None
    threshold: Any = None

    def _read_target(self, y: Any) -> tuple[Array, Array]:
        codes, self.classes_ = checked_classes(self._owner, y)
        return codes, self.classes_

    def _gives_probabilities(self) -> bool:
        return self.calibrate is not None or super()._gives_probabilities()

    def _contest(self, problem: StackProblem) -> Contest:
        contest, n_classes = super()._contest(problem), len(self.classes_)
        methods = checked_methods(self._owner, self.calibrate, n_classes)
        threshold = checked_threshold(self._owner, self.threshold, n_classes)
        check_kinds(self._owner, contest.candidates, self.calibrate, self.threshold)
        return replace(contest, methods=methods, threshold=threshold)

    def _settle(self, stacks: list[FittedStack], run: RunSummary, index: Any) -> Self:
        found = stacks[0].verdict.correction
        self.calibrator_ = None if found is None else found.calibration
        self.threshold_ = None if found is None else found.threshold
        return super()._settle(stacks, run, index)

    def restack(
        self,
        final_estimator: Any = KEEP,
        *,
        scoring: Any = KEEP,
        calibrate: Any = KEEP,
        threshold: Any = KEEP,
        X: Any = None,
    ) -> Self:
        """Return a new stack with another top; no learner is fitted again.

        Parameters
        ----------
        final_estimator, scoring, calibrate, threshold : object
            As in the constructor; left out, they stay.
        X : array or frame, optional
            The training rows, needed only for a stack that passes columns through and was
            pickled since it was fitted.

        Returns
        -------
        Self
            A fitted stack; this one is not changed.

        Notes
        -----
        Learners tuned by ``tune`` keep the parameters they were given by the old scoring.
        """
        return self._restacked(
            X,
            final_estimator=final_estimator,
            scoring=scoring,
            calibrate=calibrate,
            threshold=threshold,
        )

    def tune_threshold(self, scoring: Any = "balanced_accuracy", *, X: Any = None) -> Self:
        """Return a new stack whose threshold maximises a metric; no learner is fitted again.

        Parameters
        ----------
        scoring : str or callable, default="balanced_accuracy"
            A scorer of labels, or its name.
        X : array or frame, optional
            As in :meth:`restack`.

        Returns
        -------
        Self
            A fitted stack; its ``score_`` is by the same scorer, and honest: each judged fold
            is predicted with a threshold that was chosen without it.
        """
        return self.restack(scoring=scoring, threshold=scoring, X=X)

    def predict(self, X: Any, **predict_params: Any) -> Any:
        """Predict classes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.
        **predict_params : dict
            Handed to the final estimator's predict.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted classes.
        """
        if predict_params:
            codes = self._predict_by_stacker(X, **predict_params)
            return self.classes_[np.asarray(codes, dtype=np.intp)]
        response = self._respond(X)
        return self.classes_[response.labels]

    @available_if(_top_has("predict_proba"))
    def predict_proba(self, X: Any) -> FloatArray:
        """Predict probabilities of the classes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._respond(X).values

    @available_if(_top_has("decision_function"))
    def decision_function(self, X: Any) -> FloatArray:
        """Return the final estimator's decision values, the mean over repeats.

        A combiner without any has the log-odds of two classes, the log-probabilities of several.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Decision values.
        """
        X = self._new_rows(X)
        each = [
            _decisions(d.verdict.stacker, d.fresh(X, d.reading.deployed, d.verdict))
            for d in self.deals_
        ]
        return np.mean(each, axis=0)

    def predict_set(self, X: Any, coverage: float = 0.9, *, by: Any = None) -> BoolArray:
        """Return, for each row, the classes that are not ruled out, by CV+.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.
        coverage : float, default=0.9
            The share of new rows whose class should be in its set.
        by : column of X, or (labels of the training rows, labels of the new rows), default=None
            Each level of the column or labels is held by itself, not only all rows together. A
            stack that was pickled or saved knows its training rows no more and needs the labels.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            True for the classes in the set; never empty.

        Notes
        -----
        For exchangeable rows the sets hold the class of at least ``1 - 2 * (1 - coverage)`` of
        new rows, and ``coverage`` or a little more in practice; with ``by``, in every level. A
        class is in the set unless too many rows were given more of their own class, which makes
        the sets small. Groups and time are as in :meth:`StackingRegressor.predict_interval`.
        """
        X = self._check_coverage("predict_set", X, coverage)
        given = self._respond(X).probabilities(len(self.classes_))
        parts = parts_of(self._owner, self.deals_, by, self._X, X, coverage)
        pairs = zip(self.deals_, parts, strict=True)
        in_each = [set_of(stack, X, coverage, own, given) for stack, own in pairs]
        inside: BoolArray = np.mean(in_each, axis=0) >= 0.5
        inside[np.arange(len(inside)), given.argmax(axis=1)] = True
        return inside
