"""A table and a target -> a good stack, unattended."""
