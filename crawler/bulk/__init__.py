"""Whole archives: many files cleaned, each into a file of its own, by processes here or on many machines.

A file is the piece of work: whoever is free takes the largest one that nobody has. Its lines are written under a name
of their own and get theirs when they are all there, so that a file is done again when whoever had it dies, what is done
is never done again, and nobody sees half a file.
"""
