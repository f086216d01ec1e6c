"""One set of examples for everybody: a red test is red on the next machine too."""

import os

from hypothesis import settings

settings.register_profile("same", derandomize=True)
settings.register_profile("search", max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
