"""Kept blocks as text and as Markdown."""
