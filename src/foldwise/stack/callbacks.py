"""scikit-learn's callbacks (``set_callbacks``, since 1.9), fed from our events."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from foldwise.engine import Event

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for what scikit-learn has since 1.9."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "callbacks_around", "with_tasks"]


@contextmanager
def callbacks_around(estimator: Any) -> Iterator[None]:
    """Tear an estimator's callbacks down at the end, whatever happened."""
    # Decorating fit itself would put a frame of scikit-learn's between warnings and the user.
    try:
        yield
    finally:
        with_callbacks(lambda _: None)(estimator)


def with_tasks(estimator: Any) -> Callable[[Event], None]:
    """Return what tells scikit-learn's callbacks, of each fit as a task, and the user's."""
    ours = estimator.callback
    context: Any = None

    def both(event: Event) -> None:
        nonlocal context
        if event.kind == "started":
            context = estimator._init_callback_context(max_subtasks=None)
            context.call_on_fit_task_begin(estimator=estimator)
        elif event.kind == "fitted":
            task = context.subcontext(task_name=event.what)
            task.call_on_fit_task_begin(estimator=estimator)
            task.call_on_fit_task_end(estimator=estimator)
        elif event.kind == "finished":
            context.call_on_fit_task_end(estimator=estimator)
        if ours is not None:
            ours(event)

    return both
