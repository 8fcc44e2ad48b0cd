"""The SQL of a worker's batch, which is one transaction (see commit.py): a module for each group of tables."""
