"""The extraction methods of papers, a module each, but for two of one paper."""
