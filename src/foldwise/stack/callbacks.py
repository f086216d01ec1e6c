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
    """Return what tells both scikit-learn's callbacks and the user's."""
    tasks, ours = FitTasks(estimator), estimator.callback

    def both(event: Event) -> None:
        tasks(event)
        if ours is not None:
            ours(event)

    return both


class FitTasks:
    """Tells callbacks of an estimator of each finished fit, as a task of its own."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.context: Any = None

    def __call__(self, event: Event) -> None:
        """Pass one event on."""
        if event.kind == "started":
            self.context = self.estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=self.estimator)
        elif event.kind == "fitted":
            task = self.context.subcontext(task_name=event.what)
            task.call_on_fit_task_begin(estimator=self.estimator)
            task.call_on_fit_task_end(estimator=self.estimator)
        elif event.kind == "finished":
            self.context.call_on_fit_task_end(estimator=self.estimator)
