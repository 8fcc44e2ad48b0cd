"""Renders pages whose text only their scripts make, in a browser that has no network of its own."""
