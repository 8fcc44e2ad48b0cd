"""Reads files that are text: plain text, mail, books and Markdown."""
