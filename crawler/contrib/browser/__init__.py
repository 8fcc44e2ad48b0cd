"""Renders pages whose text is made by their scripts, in a browser without network access."""
