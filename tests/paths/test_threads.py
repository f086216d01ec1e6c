from threadpoolctl import threadpool_info, threadpool_limits

from foldwise.paths.threads import one_blas_thread


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def test_inside_there_is_one_thread_and_outside_as_many_as_before():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert set(one_blas_thread(blas_threads)()) == {1}
        assert blas_threads() == before
