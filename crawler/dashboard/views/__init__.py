"""The views, a module each: what it may be given, its data, and its page.

`data` functions read the database and know no HTML: `/api/` gives what they return. Each module names its addresses in
VIEWS, CHANGES and API.
"""

from collections.abc import Callable
from typing import Any

from crawler.dashboard.context import DashboardContext
from crawler.dashboard.parameters import Given, Parameter
from crawler.dashboard.request import Answer, Request

View = Callable[[DashboardContext, Request, Given], Answer]
Views = dict[str, tuple[View, tuple[Parameter, ...]]]
Changes = Views
Data = dict[str, tuple[Callable[[DashboardContext, Given], Any], tuple[Parameter, ...], str]]
