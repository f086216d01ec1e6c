import importlib.metadata
import sys

from foldwise.engine.versions import (
    LIBRARIES,
    differences,
    library_versions,
    version_of_module,
)


def test_versions_are_those_installed() -> None:
    found = library_versions()
    assert found["python"] == f"{sys.version_info.major}.{sys.version_info.minor}"
    assert {name: found[name] for name in LIBRARIES} == {
        name: importlib.metadata.version(name) for name in LIBRARIES
    }


def test_differences_name_what_came_went_and_changed() -> None:
    assert differences({"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "2", "d": "1"}) == [
        "b 1 is now 2",
        "d none is now 1",
        "c 1 is now none",
    ]


def test_only_what_is_installed_has_a_version() -> None:
    assert version_of_module("sklearn.linear_model._ridge") == library_versions()["scikit-learn"]
    assert version_of_module("collections.abc") is not None
    assert version_of_module("__main__") is None
    assert version_of_module("my_module") is None
    assert version_of_module(None) is None
