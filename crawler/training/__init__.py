"""How the weights of `auto` are made: labels, copies, teacher, network."""
