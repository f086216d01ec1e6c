"""Stacking for numbers."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from foldwise.arrays import FloatArray
from foldwise.errors import unsupported
from foldwise.stack.bands import interval_of, parts_of
from foldwise.stack.estimator import BaseStacking


class StackingRegressor(RegressorMixin, BaseStacking):
    """Stack regressors, with an honest score of the stack itself.

    Parameters
    ----------
    estimators : list of (name, learner) or (name, learner, columns), or list of such lists
        The learners; ``"drop"`` leaves one out. With columns, a learner sees only these. A list
        of lists is several layers: the learners of a layer read the predictions of the one below.
    final_estimator : None, str, estimator, (estimator, grid) or list of these, default=None
        What stands on top. A name is one of "mean", "median", "trimmed_mean", "rank_mean",
        "best", "weighted_mean"; "nnls", "simplex", "greedy", "bagged_greedy"; "log_score",
        "pseudo_bma", "pseudo_bma_plus"; "least_squares", "ridge", "lasso". A grid is chosen
        over the folds; a list, simplest first, is a bake-off: the best by nested loss wins
        unless a simpler one is within one standard error. None is a bake-off of "simplex",
        "best" and "ridge".
    cv : int, splitter, iterable of (train, test) or "prefit", default=None
        How rows are dealt; None is 5. An int shuffles and keeps groups together. Splits
        that go forward in time are recognised; one split only is blending.
    stack_method : str, default="auto"
        There for scikit-learn; regressors are always asked to predict.
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
    scoring : None, str or callable, default=None
        What the score is and what choices maximise; None is the root mean squared error.
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
    n_features_in_, feature_names_in_ : int, ndarray
        What the stack was fitted on.

    Notes
    -----
    With K folds each learner is fitted K (K + 1) / 2 times: without each fold and without each
    pair of folds. Whatever is chosen is chosen twice: for deployment by the losses on all
    hold-out folds, and for judging a fold by a cross-validation that never sees it. What is
    left is a slight pessimism, since judged stacks saw fewer rows. It is taken out of ``score_``
    and ``leaderboard_``: with the stacker judged for a fold, B the loss by single models without
    the fold and one more, C the loss by models without the fold, the next step of the learning
    curve is ``(K - 2) / K * (B - C)`` with ``"refit"``, and ``(K - 1) / K * (B - C)`` with
    ``"folds"``, where a mean keeps the bias of its members; it is kept between zero and a quarter
    of the loss (scores of classes that grow with quality may become worse by as much). The
    stacker learns from better learners too, which only ``score_se="nested"`` can see: with it B is
    the loss of whole stacks without two folds, C the judged loss itself.
    With ``"pairs"``, where models of one size are averaged, squared errors are taken a step of
    ``(B - A) / K``, A the loss by the mean of the fold's pairs: the least that more models are
    worth. ``score_interval_`` reaches to the most, ``K - 2`` times that. ``fold_scores_`` and all
    choices stay uncorrected, and so does the score with an explicit ``hold_out``, fewer than four
    folds, forward in time and in blending.

    Folds err together: what fold j teaches about fold i, fold i teaches about fold j. Of the
    losses on fold i by models without i and j, take off what is due to i and what is due to j; the
    covariance of what is left with what is left of the losses on fold j by the same models says how
    much more variance the score has than rows alone give. The ratio, the mean of the learners'
    ratios by their weights (of pairs of models for differences), is kept between 1 and K; its
    square root multiplies standard errors. (The nested cross-validation of [1]_ estimates the same,
    with several times the noise.)

    The interval is made for the logarithm of the loss, with the t quantile of as many degrees of
    freedom as rows carry the error: ``r = sum(d**2)**2 / sum(d**4)`` of n deviations d of the row
    losses from their mean, times ``r / sqrt(n)`` if that is less than one, and at least three.

    References
    ----------
    .. [1] Bates, Hastie, Tibshirani (2024). Cross-validation: what does it estimate and how well
       does it do it? Journal of the American Statistical Association 119.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> stack = StackingRegressor(
    ...     [("ridge", Ridge(0.1)), ("knn", KNeighborsRegressor(20))], random_state=0
    ... ).fit(X, y)
    >>> print(f"{-stack.score_:.1f} ± {stack.score_se_:.1f}, from {stack.n_fits_} fits")
    55.2 ± 1.8, from 30 fits
    >>> list(stack.leaderboard_["model"])
    ['ridge', 'best single', 'stack', 'plain mean', 'knn']
    >>> lower, upper = stack.predict_interval(X[:1], 0.9)
    """

    _classifies = False

    def predict(self, X: Any, **predict_params: Any) -> Any:
        """Predict targets.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.
        **predict_params : dict
            Handed to the final estimator's predict, e.g. ``return_std=True``.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            Predictions.
        """
        if predict_params:
            return self._predict_by_stacker(X, **predict_params)
        values = self._respond(X).values
        return values[:, 0] if values.shape[1] == 1 else values

    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, by: Any = None, adaptive: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Return prediction intervals by CV+ from the hold-out stacks.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            New rows.
        coverage : float, default=0.9
            The share of new targets the intervals should hold.
        by : column of X, or (labels of the training rows, labels of the new rows), default=None
            Each level of the column or labels is held by itself, not only all rows together. A
            stack that was pickled or saved knows its training rows no more and needs the labels.
        adaptive : bool, default=True
            Whether intervals are as wide as the errors of such rows; False gives them nearly one
            width.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples,)
            The ends; infinite where there are too few rows for the coverage.

        Notes
        -----
        For exchangeable rows the intervals hold at least ``1 - 2 * (1 - coverage)`` of new
        targets [1]_, and ``coverage`` or a little more in practice; with ``by``, in every level.
        Errors are divided by their expected size before they are compared: by a gamma regression
        on the prediction and on how far the learners are apart, fitted for each fold on
        out-of-fold errors that never saw it.

        With groups each group counts once, and the same holds for a row of a new group [2]_; a
        coverage of 0.9 needs nine groups, and with fewer a warning says that rows are counted.
        Forward in time rows are not exchangeable: a warning says so, and the ends are the
        prediction plus and minus its expected error times a quantile of the hold-out ratios.

        References
        ----------
        .. [1] Barber, Candès, Ramdas, Tibshirani (2021). Predictive inference with the
           jackknife+. Annals of Statistics 49.
        .. [2] Lee, Barber, Willett (2023). Distribution-free inference with hierarchical data.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.linear_model import LinearRegression
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(1, 9, size=(400, 1))
        >>> y = X[:, 0] + X[:, 0] * rng.normal(size=400)
        >>> stack = StackingRegressor([("line", LinearRegression())], random_state=0).fit(X, y)
        >>> lower, upper = stack.predict_interval([[2.0], [8.0]])
        >>> (upper - lower).round()
        array([ 7., 27.])
        """
        X = self._check_coverage("predict_interval", X, coverage)
        if self.deals_[0].problem.data.y.ndim > 1:
            must, got = "be one target for predict_interval", self.deals_[0].problem.data.y.shape
            raise unsupported(self._owner, "y", must=must, got=got, fix="Fit one stack a target.")
        parts = parts_of(self._owner, self.deals_, by, self._X, X, coverage)
        pairs = zip(self.deals_, parts, strict=True)
        ends = [interval_of(stack, X, coverage, p, adaptive=adaptive) for stack, p in pairs]
        lower, upper = np.mean(ends, axis=0)
        return lower, upper
