"""Metrics, what they are compared on, and their standard errors."""
