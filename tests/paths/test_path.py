import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse

from foldwise.paths import Path


def test_the_predictor_is_written_out_for_one_and_several_classes():
    rng = np.random.default_rng(0)
    D, W, b = rng.normal(size=(7, 4)), rng.normal(size=(3, 2, 4)), rng.normal(size=(3, 2))
    W[..., 1] = 0
    several = Path(np.ones(3), W, b).predictor(D)
    one = Path(np.ones(3), W[:, 0], b[:, 0]).predictor(sparse.csr_array(D), offset=np.arange(7))
    assert_allclose(several, np.einsum("lcp,np->lcn", W, D) + b[..., None])
    assert_allclose(one, several[:, 0] + np.arange(7))
