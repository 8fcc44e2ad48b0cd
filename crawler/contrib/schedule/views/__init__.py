"""The views of the dashboard about jobs."""

from crawler.contrib.schedule.views import job_changes, schedule

VIEWS = (job_changes, schedule)
