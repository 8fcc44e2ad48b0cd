"""Processes that this one starts: functions that are called in a child, and crawls."""
