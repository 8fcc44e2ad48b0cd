"""The views, a module each: what it may be given, its data, and its page.

`data` functions read the database and know no HTML: `/api/` gives what they return. Each module names its addresses in
VIEWS, CHANGES and API.
"""

from collections.abc import Callable
from typing import Any

from crawler.dashboard.desk import Desk
from crawler.dashboard.parameters import Given, Parameter
from crawler.dashboard.request import Answer, Request

View = Callable[[Desk, Request, Given], Answer]
Views = dict[str, tuple[View, tuple[Parameter, ...]]]
Changes = Views
Data = dict[str, tuple[Callable[[Desk, Given], Any], tuple[Parameter, ...], str]]
