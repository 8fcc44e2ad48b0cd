"""Saved pages: files in which others left them, read one page at a time.

A reader cuts its file into raw records, in order and cheaply; a record is unpacked and decoded by itself, on whatever
processor is free. What is damaged costs only itself: it is reported with its place, and reading goes on behind it.
"""
