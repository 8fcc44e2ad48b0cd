"""The views of the dashboard that erase pages."""

from crawler.contrib.index.views import erase_page

VIEWS = (erase_page,)
