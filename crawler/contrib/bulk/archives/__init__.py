"""Readers of saved pages: files of other programs, read one page at a time.

A reader splits its file into raw records, in order and cheaply; each record is unpacked and decoded separately, on any
processor. A damaged record affects no other record: it is reported with its position, and reading continues after it. A
new format is a module with `read` and a row in `inputs.FORMATS`.
"""
