"""Winnow: a focused web crawler that cleans while it crawls."""

__version__ = "0.1.0"
