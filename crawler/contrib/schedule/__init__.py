"""Scheduled crawls: jobs with cron lines, the scheduler that starts and stops their runs, and notices about runs."""
