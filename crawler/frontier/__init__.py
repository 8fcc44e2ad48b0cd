"""Which address comes next, of those that this worker has at hand; in memory."""
