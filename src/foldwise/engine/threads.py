"""One thread: small products and few rows only wait on more, longest where others work too."""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller(_n_modules: int) -> ThreadpoolController:
    # Looking for the libraries takes milliseconds; more come only with modules.
    return ThreadpoolController()


def one_thread(api: str) -> AbstractContextManager[Any]:
    """Return a context in which libraries work in one thread.

    ``api``: "blas", for the whole process; or "openmp", for what the calling thread does.
    """
    limits: AbstractContextManager[Any] = _controller(len(sys.modules)).limit(
        limits=1, user_api=api
    )
    return limits
