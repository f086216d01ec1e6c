"""Sparse ensembles: ISLE, rule ensembles and stagewise estimators."""
