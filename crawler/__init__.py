"""Winnow: a focused web crawler that cleans while it crawls."""

import os

__version__ = "0.1.0"

# Before anything imports numpy, which reads it once: the matrices of a page are small, so threads would take more time
# from a crawl than they save, and crawls and their workers are processes of their own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
