"""Scheduled crawls: when they are due, how a schedule is written in words, and who starts and stops them."""
