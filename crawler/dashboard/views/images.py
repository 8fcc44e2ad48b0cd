"""The view "images"."""

from crawler.dashboard.views import Changes, Data, Views

VIEWS: Views = {}
CHANGES: Changes = {}
API: Data = {}
