"""The errors that are handled outside the folder that raises them. Nearly every message is one sentence for the user.

Commands end with exit status 2 on a WrongUseError, and with 1 on any other MessageError. A folder of contrib/ derives
its own errors from these. An error that only the caller of one function handles is defined beside that function.
"""

from crawler.translation.message import Message


class MessageError(Exception):
    """An error whose message is one sentence for the user, with separate values.

    >>> str(MessageError("{value} is wrong", value=3))
    '3 is wrong'
    """

    def __init__(self, sentence: str | Message, /, **values: object) -> None:
        if isinstance(sentence, str):
            sentence = Message(sentence, values)
        self.message = sentence
        super().__init__(str(self.message))


# Wrong use.


class WrongUseError(MessageError, ValueError):
    """What the user asked for is not possible."""


class ArgumentError(WrongUseError):
    """An argument of a crawl is wrong."""


class TopicError(WrongUseError):
    """A file contains no topic."""


class OwnFieldsError(WrongUseError):
    """A file defines no fields."""


class MissingPartError(WrongUseError):
    """A part of the crawler, or a library that it needs, is not installed."""


class OffsetError(WrongUseError):
    """An offset belongs to another crawl or database."""


class ModelFileError(ValueError):
    """A file has no weights or word vectors. The message is not a sentence but a clause that says why: the caller puts
    it into a sentence.
    """


# Files and the web.


class OutputError(MessageError):
    """The output cannot be written."""


class UnopenedOutputError(OutputError, WrongUseError):
    """The output cannot be created; the user must give another path."""


class FetchError(MessageError):
    """A page could not be fetched."""


class TooLargeError(MessageError, ValueError):
    """An unpacked response has too many bytes."""


class CrawlError(RuntimeError):
    """The crawl failed: every seed failed, or pages could not be stored."""


# The database.


class StateError(MessageError):
    """The database cannot be used."""


class DatabaseUnavailableError(StateError):
    """The database cannot be used now, but may be later."""


class NothingError(StateError):
    """There is no database yet, or it is empty."""


class SlowError(StateError):
    """A query took longer than its time limit."""


class BusyError(StateError):
    """The crawl cannot be deleted while a worker runs it."""
