"""A fetched page: its bytes as text, its tree, and the blocks, links and images in it."""
