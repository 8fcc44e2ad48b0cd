"""The views of the dashboard about the corpus of a crawl: rights, quality, copies, and how to export it.

A corpus is the pages that an export writes by default: all that are not gone. Numbers that need every row are computed
in the background (DashboardContext.reports); numbers about texts are computed from a sample.
"""

from crawler.contrib.corpus.views import view

VIEWS = (view,)
