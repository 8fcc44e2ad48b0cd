"""The views of the dashboard. Each module has its pages in `router` and its data for programs in `api`.

The functions in `api` read the database and return data without HTML; the pages show these data.
"""
