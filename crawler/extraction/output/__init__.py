"""Writes the kept blocks of a page as plain text and as Markdown."""
