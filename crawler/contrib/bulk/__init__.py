"""Cleans whole archives: each input file into its own output file, by processes here or on many machines.

A free worker takes the largest remaining file. Output goes to a temporary file that is renamed when it is complete. If
a worker dies, its file is cleaned again; finished files are not. An output file is never incomplete.
"""
