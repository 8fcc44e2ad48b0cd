"""The corpus of a crawl: what its pages may be used for, how good they are, which are copies, and how to export them.

A corpus is what an export writes by default: all pages that are not gone. Numbers that need every row are computed in
the background (DashboardContext.reports); numbers about texts are those of a sample.
"""
