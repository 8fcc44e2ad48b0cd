"""Text of pages as HTML shows it, so that nothing in it acts."""

from html import escape

from crawler.wording import CONTROL


def shown(text: str) -> str:
    """The text as HTML shows it, whatever it is; control characters as a sign of their own.

    >>> shown('<b title="x">\\x1b')
    '&lt;b title=&quot;x&quot;&gt;\\ufffd'
    """
    return escape(CONTROL.sub("\ufffd", text.replace("\r\n", "\n")))
