"""Reads documents that are not web pages: turns the bytes of a PDF, DOCX, ODT, EPUB or text file into a small page.

`read_document` reads one document, and `process` does so in a process of its own.
"""
