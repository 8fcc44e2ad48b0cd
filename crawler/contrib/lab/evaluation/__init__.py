"""Evaluates extraction: methods and other programs on pages whose main text people have labelled."""
