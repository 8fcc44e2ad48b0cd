"""The views, a module each: its pages in `router`, its data for programs in `api`.

The functions in `api` read the database and know no HTML; the pages show what they return.
"""
