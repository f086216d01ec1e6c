"""The diagram a notebook shows: layers side by side, the stacker below."""

from typing import Any

from foldwise._sklearn import VisualBlock
from foldwise.stack.entries import as_layers


def diagram(estimators: Any, final_estimator: Any) -> Any:
    """Return the block that scikit-learn's HTML representation draws."""
    blocks = []
    for layer in as_layers(estimators):
        names = [str(entry[0]) for entry in layer]
        blocks.append(
            VisualBlock("parallel", [e[1] for e in layer], names=names, dash_wrapped=False)
        )
    tops = final_estimator if isinstance(final_estimator, list) else [final_estimator]
    models = [top[0] if isinstance(top, tuple) else top for top in tops]
    words = ["bake-off" if m is None else m for m in models]
    names = [m if isinstance(m, str) else "final_estimator" for m in words]
    blocks.append(VisualBlock("parallel", words, names=names, dash_wrapped=False))
    return VisualBlock("serial", tuple(blocks), dash_wrapped=False)
