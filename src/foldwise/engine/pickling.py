"""cloudpickle, which also takes what is defined in a script or a notebook.

joblib carried its own copy until 1.5 and depends on the package since; loky's wrapper is the
one place that has it in every version.
"""

from joblib.externals.loky.cloudpickle_wrapper import dumps

__all__ = ["dumps"]
