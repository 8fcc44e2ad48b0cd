"""Crawls that come again and again: when they are due, how that is said, and who starts and ends them."""
