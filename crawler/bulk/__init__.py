"""Whole archives: many files cleaned, each into a file of its own, by processes here or on many machines.

Each free worker takes the largest file left. Lines are written to a temporary file that is renamed when it is complete:
the file of a worker that dies is cleaned again, a finished file never is, and there is no half of a file.
"""
