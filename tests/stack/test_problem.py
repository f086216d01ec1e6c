import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from foldwise.errors import InvalidParameterError, UnsupportedError
from foldwise.stack.problem import Entry, as_layers, checked_layers


def read(estimators: object, **options: object) -> list[list[Entry]]:
    defaults = {"classify": False, "stack_method": "auto", "weighted": False, "reserved": ["cv"]}
    return checked_layers("S", estimators, **{**defaults, **options})


@pytest.mark.parametrize("estimators", [(("a", 1), ("b", 2)), [["a", 1], ["b", 2]]])
def test_tuples_and_lists_of_pairs_are_one_layer(estimators: object) -> None:
    assert as_layers(estimators) == [[("a", 1), ("b", 2)]]


def test_lists_of_lists_are_layers() -> None:
    layers = read([[("a", Ridge())], [("b", Ridge()), ("c", Ridge())]])
    assert [[entry.name for entry in layer] for layer in layers] == [["a"], ["b", "c"]]


def test_each_learner_is_asked_for_the_most_it_can_say() -> None:
    learners = [("p", GaussianNB()), ("d", RidgeClassifier()), ("v", LinearRegression())]
    (layer,) = read(learners, classify=True)
    assert [(entry.method, entry.kind) for entry in layer] == [
        ("predict_proba", "probability"),
        ("decision_function", "decision"),
        ("predict", "value"),
    ]
    (layer,) = read(learners[:2], classify=True, stack_method="predict")
    assert [entry.kind for entry in layer] == ["label", "label"]


def test_dropped_entries_are_left_out() -> None:
    assert [e.name for e in read([("a", "drop"), ("b", Ridge())])[0]] == ["b"]


@pytest.mark.parametrize(
    ("estimators", "options", "text"),
    [
        ([("a", Ridge()), ("a", Ridge())], {}, "have unique names; got 'a' twice."),
        ([("a", Ridge())] * 3, {}, "have unique names; got 'a' repeatedly."),
        ([("a__b", Ridge())], {}, "hold no double underscore; got 'a__b'."),
        ([("", Ridge())], {}, "names that are not empty and hold no double underscore; got ''."),
        ([("cv", Ridge())], {}, "have names that are no parameters of the stack"),
        ([Ridge()], {}, "hold (name, learner) or (name, learner, columns) tuples; got "),
        ([("a", Ridge)], {}, "be learners with fit and predict; got "),
        ([("a", LogisticRegression())], {}, "each estimator should be a regressor; got "),
        ([("a", "drop")], {}, "keep at least one learner in every layer"),
        ([], {}, "be a non-empty list of (name, learner) tuples"),
        ([[("a", Ridge())], [("b", Ridge(), [0])]], {}, "name columns in the first layer only"),
    ],
)
def test_what_cannot_be_stacked(estimators: object, options: dict, text: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        read(estimators, **options)
    assert str(caught.value).startswith("S: estimators must ")
    assert text in str(caught.value)


def test_an_unknown_or_missing_method_is_an_error() -> None:
    with pytest.raises(InvalidParameterError, match="Did you mean 'predict_proba'"):
        read([("a", GaussianNB())], classify=True, stack_method="predict_prob")
    with pytest.raises(InvalidParameterError, match="a does not implement the method predict_prob"):
        read([("a", RidgeClassifier())], classify=True, stack_method="predict_proba")


def test_a_learner_that_cannot_take_weights_is_a_type_error() -> None:
    with pytest.raises(UnsupportedError) as caught:
        read([("knn", KNeighborsRegressor())], weighted=True)
    assert str(caught.value) == (
        "S: sample_weight must reach every learner; got 'knn': underlying estimator "
        "KNeighborsRegressor does not support sample weights. Replace that learner, or fit "
        "without sample_weight."
    )
