"""Saved pages: files in which other programs left them, read one page at a time.

A reader cuts its file into raw records, in order and cheaply; each record is unpacked and decoded by itself, on any
processor. A damaged record costs only itself: it is reported with its place, and reading goes on behind it. A new
format is a module with `read`, and a row in `inputs.FORMATS`.
"""
