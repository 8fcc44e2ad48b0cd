from ipaddress import ip_address

import pytest

from crawler.urls.public_hosts import AllowList, is_public


def test_public_v4_is_public_also_inside_v6() -> None:
    for address in "1.1.1.1 8.8.8.8 93.184.216.34 172.15.255.255 172.32.0.0 100.63.255.255 100.128.0.0".split():
        assert is_public(ip_address(address))
        assert is_public(ip_address(f"::ffff:{address}"))
        assert is_public(ip_address(f"64:ff9b::{address}"))


def test_public_v6() -> None:
    for address in "2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450:4001::1 2400:3200::1".split():
        assert is_public(ip_address(address))


V4 = {
    "unspecified": "0.0.0.0 0.1.2.3",
    "private": "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255",
    "shared": "100.64.0.0 100.127.255.255",
    "loopback": "127.0.0.1 127.255.255.255",
    "link-local": "169.254.0.1 169.254.255.255",
    "protocols": "192.0.0.1 192.0.0.170 192.0.0.255 192.88.99.1",
    "documentation": "192.0.2.1 198.51.100.1 203.0.113.255",
    "benchmarks": "198.18.0.0 198.19.255.255",
    "multicast": "224.0.0.1 239.255.255.255",
    "reserved": "240.0.0.1 255.255.255.254",
    "broadcast": "255.255.255.255",
    "metadata": "169.254.169.254 100.100.100.200 168.63.129.16 192.0.0.192 169.254.170.2",
}


def test_v4_that_is_not_public_is_not_inside_v6_either() -> None:
    for address in " ".join(V4.values()).split():
        v4 = int(ip_address(address))
        assert not is_public(ip_address(address))
        assert not is_public(ip_address(f"::ffff:{address}"))
        assert not is_public(ip_address(f"64:ff9b::{address}"))
        assert not is_public(ip_address(f"::{address}"))
        assert not is_public(ip_address(0x2002 << 112 | v4 << 80 | 1))  # 6to4
        assert not is_public(ip_address(0x20010000 << 96 | 0x08080808 << 64 | v4 ^ 0xFFFFFFFF))  # Teredo, the client


def test_v6_that_is_not_public() -> None:
    rows = [
        "::",
        "::1",
        "fc00::1",
        "fdff::1",
        "fd00:ec2::254",
        "fe80::1",
        "febf::1",
        "fec0::1",
        "ff02::1",
        "ff0e::1",
        "100::1",
        "2001:db8::1",
        "3fff::1",
        "5f00::1",
        "2001:2::1",
        "64:ff9b:1::a00:1",
        "64:ff9b:1:ffff:ffff:ffff:808:808",
        "2001:0:a00:1::1",
    ]
    for address in rows:
        assert not is_public(ip_address(address))


def test_allow_list() -> None:
    rows = [
        ("intranet", "intranet", 80, "10.0.0.1", True),
        (" Intranet. ", "INTRANET.", 80, "10.0.0.1", True),
        ("intranet", "intranet2", 80, "10.0.0.1", False),
        ("intranet", "a.intranet", 80, "10.0.0.1", False),
        ("my_host.lan:8000", "my_host.lan", 8000, "10.0.0.1", True),
        ("my_host.lan:8000", "my_host.lan", 8001, "10.0.0.1", False),
        ("10.0.0.1", "any.example", 80, "10.0.0.1", True),
        ("10.0.0.1", "any.example", 80, "10.0.0.2", False),
        ("10.0.0.1:8000", "10.0.0.1", 8000, "10.0.0.1", True),
        ("10.0.0.1:8000", "10.0.0.1", 80, "10.0.0.1", False),
        ("10.0.0.0/8", "any.example", 80, "10.255.255.255", True),
        ("10.0.0.0/8", "any.example", 80, "11.0.0.0", False),
        ("10.1.2.3/8", "any.example", 80, "10.0.0.1", True),
        ("10.0.0.0/8", "any.example", 80, "::ffff:10.0.0.1", True),
        ("10.0.0.0/8", "any.example", 80, "64:ff9b::a00:1", False),
        ("::1", "any.example", 80, "::1", True),
        ("[::1]", "any.example", 80, "::1", True),
        ("[::1]:8000", "::1", 8000, "::1", True),
        ("[::1]:8000", "::1", 80, "::1", False),
        ("fd00::/8", "any.example", 80, "fd12::1", True),
        ("fd00::/8", "any.example", 80, "fe80::1", False),
        ("0.0.0.0/0", "any.example", 80, "::1", False),
        ("", "any.example", 80, "10.0.0.1", False),
    ]
    for entry, host, port, address, expected in rows:
        assert AllowList([entry]).opens(host, port, ip_address(address)) is expected
        assert AllowList(["other", entry, ""]).opens(host, port, ip_address(address)) is expected


def test_an_empty_allow_list_opens_nothing() -> None:
    assert not AllowList([]).opens("localhost", 80, ip_address("127.0.0.1"))


def test_a_wrong_entry_is_said() -> None:
    rows = """10.0.0.0/33|10.0.0.0/x|http://intranet/|intranet/|two*words|*.example.com|host:port|host:|:80|[::1]:x
    |host:123456|user@host|..|a..b|two words|a\nb|10.0.0.1 10.0.0.2""".split("|")
    for entry in rows:
        with pytest.raises(ValueError) as said:  # noqa: PT011 - its message is examined
            AllowList(["intranet", entry])
        assert repr(entry.strip()) in str(said.value)
        assert "\n" not in str(said.value)
