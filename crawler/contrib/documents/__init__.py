"""Documents that are no web pages: the bytes of a PDF, DOCX, ODT or EPUB file become a small HTML page of its text.

`document_type` tells which files these are, `read_document` reads one, and `process` does so in a process of its own.
"""
