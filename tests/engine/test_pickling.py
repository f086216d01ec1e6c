import pickle

from foldwise.engine.pickling import dumps


def test_functions_without_a_home_can_be_pickled() -> None:
    three = 3
    assert pickle.loads(dumps(lambda x: x + three))(1) == 4
