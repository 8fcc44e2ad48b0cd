"""The in-memory frontier of one worker: which of its leased addresses is requested next."""
