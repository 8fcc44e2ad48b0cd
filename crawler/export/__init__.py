"""Stored pages in the formats that others read: each writer makes bytes of pages, and knows of no file."""
