"""Trains the weights of the learned methods, from pages and images that people labelled."""
