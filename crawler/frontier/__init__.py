"""The in-memory frontier of one worker, which decides which of its leased addresses is requested next."""
