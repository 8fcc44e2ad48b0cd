"""The judge of extraction: methods and peers on pages whose main text people have labelled."""
