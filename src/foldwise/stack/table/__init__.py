"""The table learner × node: fitting it, and reading features out of it."""
