"""Packages that people use with scikit-learn, around a stack and inside one.

One small check for each: it runs, nothing is dropped, and what comes out is what it should be.
A package that is not installed is skipped; all are named in ``requirements.txt``.

``ratio`` is the share of the checks, of those that could be run, that passed.
"""

import argparse
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

from foldwise import StackingClassifier, StackingRegressor

N_ROWS = 200
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "size": RNG.normal(size=N_ROWS),
        "age": RNG.normal(size=N_ROWS),
        "town": RNG.choice(["Bern", "Graz", "Lyon"], size=N_ROWS),
    }
)
NUMBERS = TABLE[["size", "age"]].to_numpy()
AMOUNT = (
    2 * TABLE["size"] + (TABLE["town"] == "Bern") + RNG.normal(scale=0.3, size=N_ROWS)
).to_numpy()
CLASSES = (AMOUNT + RNG.normal(scale=0.5, size=N_ROWS) > 0.8).astype(int)


def regression(**learners: object) -> StackingRegressor:
    return StackingRegressor(list(learners.items()), cv=4, random_state=0)


def classification(**learners: object) -> StackingClassifier:
    return StackingClassifier(list(learners.items()), cv=4, random_state=0)


def fitted(stack: object, X: object, y: object, **parameters: object) -> object:
    """Fit a stack that must drop nobody."""
    stack.fit(X, y, **parameters)
    assert stack.failures_ == {}, stack.failures_
    assert np.isfinite(stack.score_)
    return stack


def plain_regression() -> StackingRegressor:
    return regression(ridge=Ridge(), tree=DecisionTreeRegressor(max_depth=3))


def plain_classification() -> StackingClassifier:
    return classification(logistic=LogisticRegression(), forest=RandomForestClassifier(10))


def skrub() -> None:
    from skrub import TableVectorizer, tabular_pipeline

    learner = make_pipeline(TableVectorizer(), Ridge())
    fitted(regression(vectorizer=learner, pipeline=tabular_pipeline("regressor")), TABLE, AMOUNT)


def category_encoders() -> None:
    from category_encoders import OneHotEncoder, TargetEncoder

    targets = make_pipeline(TargetEncoder(cols=["town"]), Ridge())
    columns = make_pipeline(OneHotEncoder(cols=["town"]), Ridge())
    fitted(regression(targets=targets, columns=columns), TABLE, AMOUNT)


def feature_engine() -> None:
    from feature_engine.discretisation import EqualFrequencyDiscretiser
    from feature_engine.encoding import MeanEncoder

    means = make_pipeline(MeanEncoder(variables=["town"]), Ridge())
    bins = make_pipeline(
        EqualFrequencyDiscretiser(q=5, variables=["size"]), MeanEncoder(variables=["town"]), Ridge()
    )
    fitted(regression(means=means, bins=bins), TABLE, AMOUNT)


def optuna() -> None:
    import optuna as package
    from optuna.distributions import FloatDistribution

    package.logging.set_verbosity(package.logging.ERROR)

    def best(trial: package.Trial) -> float:
        ridge = Ridge(alpha=trial.suggest_float("alpha", 0.1, 10, log=True))
        return float(fitted(regression(ridge=ridge), NUMBERS, AMOUNT).score_)

    study = package.create_study(direction="maximize")
    study.optimize(best, n_trials=3)
    assert np.isfinite(study.best_value)
    from optuna_integration import OptunaSearchCV

    grid = {"alpha": FloatDistribution(0.1, 10)}
    search = OptunaSearchCV(Ridge(), grid, n_trials=3, cv=3)
    fitted(regression(search=search, ridge=Ridge()), NUMBERS, AMOUNT)


def shap() -> None:
    from shap import Explainer

    model = fitted(plain_regression(), NUMBERS, AMOUNT)
    found = Explainer(model.predict, NUMBERS[:20])(NUMBERS[:5])
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.predict(NUMBERS[:5]), rtol=1e-6)


def mlflow() -> None:
    from mlflow import sklearn as flavour

    model = fitted(plain_regression(), NUMBERS, AMOUNT)
    with tempfile.TemporaryDirectory() as folder:
        flavour.save_model(model, f"{folder}/model", serialization_format="cloudpickle")
        again = flavour.load_model(f"{folder}/model")
    np.testing.assert_array_equal(again.predict(NUMBERS), model.predict(NUMBERS))


def mapie() -> None:
    from mapie.regression import SplitConformalRegressor

    model = fitted(plain_regression(), NUMBERS[:100], AMOUNT[:100])
    wrapped = SplitConformalRegressor(model, confidence_level=0.9, prefit=True)
    wrapped.conformalize(NUMBERS[100:], AMOUNT[100:])
    _, ends = wrapped.predict_interval(NUMBERS[:10])
    assert (ends[:, 0] <= ends[:, 1]).all()


def skore() -> None:
    from skore import EstimatorReport

    model = fitted(plain_regression(), NUMBERS[:100], AMOUNT[:100])
    report = EstimatorReport(model, X_test=NUMBERS[100:], y_test=AMOUNT[100:])
    assert np.isfinite(report.metrics.r2())


def imbalanced_learn() -> None:
    from imblearn.ensemble import BalancedRandomForestClassifier
    from imblearn.over_sampling import SMOTE
    from imblearn.pipeline import make_pipeline as make_resampled

    resampled = make_resampled(SMOTE(k_neighbors=3), LogisticRegression())
    forest = BalancedRandomForestClassifier(10)
    rare = (np.quantile(AMOUNT, 0.85) < AMOUNT).astype(int)
    fitted(classification(smote=resampled, forest=forest), NUMBERS, rare)


def catboost() -> None:
    from catboost import CatBoostClassifier, CatBoostRegressor

    settings = {"iterations": 10, "cat_features": ["town"]}
    stopping = CatBoostClassifier(**settings, early_stopping_rounds=3)
    fitted(classification(plain=CatBoostClassifier(**settings), stops=stopping), TABLE, CLASSES)
    fitted(regression(cat=CatBoostRegressor(**settings)), TABLE, AMOUNT)
    piped = make_pipeline(_Same(), CatBoostRegressor(iterations=10, cat_features=[2]))
    weight = np.linspace(1, 2, N_ROWS)
    fitted(regression(piped=piped), TABLE, AMOUNT, sample_weight=weight)


class _Same:
    """A transformer with fit and transform and nothing else."""

    def fit(self, X: object, y: object = None) -> "_Same":
        return self

    def transform(self, X: object) -> object:
        return X

    def get_params(self, deep: bool = True) -> dict[str, object]:
        return {}

    def set_params(self) -> "_Same":
        return self


def lightgbm() -> None:
    from lightgbm import LGBMRegressor

    learners = {
        name: LGBMRegressor(n_estimators=20, **{name: 3})
        for name in ("early_stopping_rounds", "early_stopping_round", "n_iter_no_change")
    }
    fitted(regression(**learners), NUMBERS, AMOUNT)


def xgboost() -> None:
    from xgboost import XGBRegressor

    stops = XGBRegressor(n_estimators=20, early_stopping_rounds=3, n_jobs=1)
    fitted(regression(stops=stops, plain=XGBRegressor(n_estimators=5, n_jobs=1)), NUMBERS, AMOUNT)


def searches() -> None:
    grid = {"max_depth": [2, 3]}
    search = GridSearchCV(RandomForestClassifier(10), grid, cv=KFold(3, shuffle=True))
    stack = classification(search=search, logistic=LogisticRegression())
    weight = np.linspace(1, 2, N_ROWS)
    scores = [fitted(stack, NUMBERS, CLASSES, sample_weight=weight).score_ for _ in range(2)]
    assert scores[0] == scores[1], scores


def thresholds() -> None:
    inside = classification(
        tuned=TunedThresholdClassifierCV(LogisticRegression(), cv=3),
        fixed=FixedThresholdClassifier(LogisticRegression(), threshold=0.4),
    )
    fitted(inside, NUMBERS, CLASSES)
    around = TunedThresholdClassifierCV(plain_classification(), cv=2).fit(NUMBERS, CLASSES)
    assert set(around.predict(NUMBERS)) <= {0, 1}


def calibration() -> None:
    inside = classification(calibrated=CalibratedClassifierCV(RandomForestClassifier(10), cv=3))
    fitted(inside, NUMBERS, CLASSES)
    around = CalibratedClassifierCV(plain_classification(), cv=2).fit(NUMBERS, CLASSES)
    np.testing.assert_allclose(around.predict_proba(NUMBERS).sum(axis=1), 1)


CLIENTS: dict[str, Callable[[], None]] = {
    "skrub": skrub,
    "category_encoders": category_encoders,
    "feature-engine": feature_engine,
    "Optuna": optuna,
    "shap": shap,
    "mlflow": mlflow,
    "MAPIE": mapie,
    "skore": skore,
    "imbalanced-learn": imbalanced_learn,
    "CatBoost": catboost,
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
    "scikit-learn's searches": searches,
    "scikit-learn's thresholds": thresholds,
    "scikit-learn's calibration": calibration,
}


def outcome(check: Callable[[], None]) -> str:
    """Return how a check went."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check()
    except ImportError as error:
        return f"skipped (not installed: {error.name})"
    except Exception as error:
        traceback.print_exc()
        return f"FAILED ({type(error).__name__})"
    return "ok"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="check this client alone")
    only = parser.parse_args().only
    # This folder has a coverage.py, which is not the one that shap's numba wants.
    sys.path = [place for place in sys.path if Path(place).resolve() != Path(__file__).parent]
    said = {}
    for name, check in CLIENTS.items():
        if only in (None, name):
            said[name] = outcome(check)
            print(f"{name:28s}{said[name]}", flush=True)
    run = [word for word in said.values() if not word.startswith("skipped")]
    print(f"ratio: {run.count('ok') / max(len(run), 1):.3f}")
    return int(any(word != "ok" for word in run))


if __name__ == "__main__":
    sys.exit(main())
