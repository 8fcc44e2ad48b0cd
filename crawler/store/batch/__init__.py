"""What one batch of a worker reads and writes, in one transaction (.commit): a module for each group of tables."""
