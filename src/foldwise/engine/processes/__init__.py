"""Tasks in other processes and threads: our own pool, anybody's futures, and what travels."""
