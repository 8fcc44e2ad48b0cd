"""The meanings of fields, read from the docstrings below their definitions, so that each is written only once."""

import ast
import inspect
from itertools import pairwise
from types import ModuleType


def docstrings(thing: ModuleType | type) -> dict[str, str]:
    """The docstring below each assignment of a module or class, by the name that is assigned."""
    statements = ast.parse(inspect.getsource(thing)).body
    if isinstance(thing, type) and isinstance(statements[0], ast.ClassDef):  # the source of a class is its definition
        statements = statements[0].body
    text_of_name = {}
    for assignment, following in pairwise(statements):
        if isinstance(assignment, ast.Assign):
            target = assignment.targets[0]
        elif isinstance(assignment, ast.AnnAssign):
            target = assignment.target
        else:
            continue
        if isinstance(target, ast.Name) and isinstance(following, ast.Expr):
            text = following.value
            if isinstance(text, ast.Constant):
                text_of_name[target.id] = " ".join(str(text.value).split())
    return text_of_name
