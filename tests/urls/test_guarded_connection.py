"""A connection is opened to an allowed address only, and ends after its time limit."""

import time
from http.client import HTTPException
from ipaddress import ip_address
from urllib.parse import urlsplit

import pytest
from receivers import receiving

from crawler.urls.guarded_connection import GuardedConnection, NotAllowedError
from crawler.urls.public_hosts import Address

LOOPBACK = ip_address("127.0.0.1")


def is_loopback(host: str, port: int, address: Address) -> bool:
    return address == LOOPBACK


@pytest.mark.parametrize("address", ["http://127.0.0.2:1/", "http://10.0.0.1/", "https://[::1]:1/"])
def test_other_addresses_are_not_connected_to(address: str) -> None:
    with pytest.raises(NotAllowedError), GuardedConnection(urlsplit(address), is_loopback, 1) as connection:
        connection.connect()


@pytest.mark.parametrize("path", ["/drip", "/endless"])
def test_it_ends_however_slowly_or_much_a_server_sends(path: str) -> None:
    begun = time.monotonic()
    with receiving() as receiver, GuardedConnection(urlsplit(receiver.url), is_loopback, 0.2) as connection:
        try:
            connection.request("POST", path, b"{}", {"Content-Type": "application/json"})
            response = connection.getresponse()
            while response.read(1_000):
                time.sleep(0.01)
        except (HTTPException, OSError):
            pass
    assert time.monotonic() - begun < 9  # a drip takes ten seconds, and what is endless without end
