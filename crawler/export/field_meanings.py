"""The meanings of fields, from the docstrings below them, so that they are written once."""

import ast
import inspect
from itertools import pairwise
from types import ModuleType


def docstrings(thing: ModuleType | type) -> dict[str, str]:
    """The docstring below each assignment of a module or class, by the name that is assigned."""
    [*body] = ast.parse(inspect.getsource(thing)).body
    if isinstance(thing, type) and isinstance(body[0], ast.ClassDef):
        body = body[0].body
    text_of_name = {}
    for statement, following in pairwise(body):
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(following, ast.Expr):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            if isinstance(target, ast.Name) and isinstance(following.value, ast.Constant):
                text_of_name[target.id] = " ".join(str(following.value.value).split())
    return text_of_name
