"""Clients that keep a real server waiting, one or a crowd of them."""

import socket
import threading
import time

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from mlstream.challenge.server import connections
from mlstream.challenge.server.connections import ProxiedProtocol

HOST = b"Host: 127.0.0.1\r\n"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 90000\r\n\r\n"
SIGN_IN = b"POST /team/sign-in HTTP/1.1\r\n" + HOST + FORM
STALLED = {
    "form": SIGN_IN + b"tok",
    "form, no byte": SIGN_IN,
    "registration": b"POST /team/register HTTP/1.1\r\n" + HOST + FORM,
    "organiser": b"POST /organiser/sign-in HTTP/1.1\r\n" + HOST + FORM,
    "JSON": b"POST /api/teams HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nContent-Length: 90\r\n\r\n{",
    "chunks": b"PUT /api/selection HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
    "head": b"GET /board HTTP/1.1\r\nHos",
    "second head": b"GET /static/board.js HTTP/1.1\r\n" + HOST + b"\r\nGET /board HTTP/1.1\r\nHos",
    "second form": b"GET /static/board.js HTTP/1.1\r\n" + HOST + b"\r\n" + SIGN_IN,
}


@pytest.fixture
def impatient(monkeypatch):
    """A server that waits for fractions of a second."""
    monkeypatch.setattr(connections, "REQUEST_S", 0.4)
    monkeypatch.setattr(connections, "_LOOK_S", 0.05)


def connect(site, source="127.0.0.1"):
    address = ("127.0.0.1", int(site.url.rpartition(":")[2]))
    return socket.create_connection(address, timeout=20, source_address=(source, 0))


def read(line):
    """Return all that comes until the server hangs up."""
    reply = b""
    try:
        while piece := line.recv(2**16):
            reply += piece
    except ConnectionResetError:
        pass
    return reply


def dribble(line, stop):
    """Send a byte from time to time."""
    try:
        while not stop.wait(0.05):
            line.sendall(b"x")
    except OSError:
        pass


def begin_file(site, bearer, n_bytes):
    line = connect(site)
    head = f"POST /api/submissions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {bearer['authorization']}\r\n"
    line.sendall(f"{head}Connection: close\r\nContent-Type: text/csv\r\nContent-Length: {n_bytes}\r\n\r\n".encode())
    return line


@pytest.mark.parametrize("name", STALLED)
def test_a_request_that_stops_is_answered_and_ended(site, impatient, name):
    with connect(site) as line:
        line.sendall(STALLED[name])
        reply = read(line).split(b"HTTP/1.1 ")[-1]
    assert reply.startswith(b"408 ")
    assert b'{"error": {"code": "too_slow", ' in reply


@pytest.mark.parametrize(
    "begun",
    [
        STALLED["form"],
        STALLED["head"],
        STALLED["second head"],
        # Replied to before the body has come.
        b"POST /api/submissions HTTP/1.1\r\n" + HOST + b"Authorization: Bearer x\r\nContent-Length: 50000\r\n\r\n",
        b"GET /board HTTP/1.1\r\n" + HOST + b"Content-Length: 50000\r\n\r\n",
        b"",
    ],
)
def test_a_byte_from_time_to_time_does_not_keep_a_connection(site, impatient, begun):
    stop = threading.Event()
    with connect(site) as line:
        line.sendall(begun)
        thread = threading.Thread(target=dribble, args=(line, stop))
        thread.start()
        # It ends, or the time of the line is over.
        read(line)
        stop.set()
        thread.join()


def test_a_connection_without_a_request_is_dropped_without_a_reply(site, impatient):
    with connect(site) as line:
        assert read(line) == b""


def test_a_file_on_a_slow_line_is_taken_and_one_that_stops_is_not(site, impatient, monkeypatch):
    monkeypatch.setattr(connections, "_MIN_BYTES_PER_S", 1000)
    token, bearer = site.join("slow line")
    content = site.file(0.31)
    with begin_file(site, bearer, len(content)) as line:
        for start in range(0, len(content), 400):
            line.sendall(content[start : start + 400])
            time.sleep(0.1)
        assert read(line).startswith(b"HTTP/1.1 202 ")
    with begin_file(site, bearer, len(content)) as line:
        line.sendall(content[:-1])
        assert read(line).startswith(b"HTTP/1.1 408 ")
    assert len(site.challenge.status(token).submissions) == 1
    assert not list(site.challenge.folder.scratch.iterdir())


def test_a_crowd_of_strangers_keeps_no_team_from_submitting(site, monkeypatch):
    monkeypatch.setattr(connections, "_MAX_CONNECTIONS", 6)
    _, bearer = site.join("in a crowd")
    content = site.file(0.32)
    begun = begin_file(site, bearer, len(content))
    begun.sendall(content[:10])
    # The server knows the token before the crowd comes.
    while not list(site.challenge.folder.scratch.iterdir()):
        time.sleep(0.01)
    crowd = []
    for place, stalled in enumerate([*STALLED.values(), b""] * 4):
        crowd.append(connect(site))
        crowd[-1].sendall(stalled)
        if place % 10 == 0:
            data = site.file(0.4 + place / 1000)
            assert requests.post(f"{site.url}/api/submissions", data=data, headers=bearer).status_code in {202, 429}
    with begun:
        begun.sendall(content[10:])
        assert read(begun).startswith((b"HTTP/1.1 202 ", b"HTTP/1.1 429 "))
    for line in crowd:
        line.close()


def test_a_team_that_sends_many_files_at_once_keeps_no_other_team_from_submitting(site, monkeypatch):
    monkeypatch.setattr(connections, "_MAX_CONNECTIONS", 6)
    monkeypatch.setattr(connections, "_FILES_OF_TEAM", 3)
    (_, many), (_, one) = site.join("many"), site.join("one")
    crowd = []
    for _ in range(6):
        crowd.append(begin_file(site, many, 50_000))
        crowd[-1].sendall(b"row_id")
    while len(list(site.challenge.folder.scratch.iterdir())) < len(crowd):
        time.sleep(0.01)
    assert requests.post(f"{site.url}/api/submissions", data=site.file(0.33), headers=one).status_code == 202
    for line in crowd:
        line.close()


def test_clients_that_read_nothing_are_dropped(site, impatient, monkeypatch):
    monkeypatch.setattr(connections, "_READ_S", 0.4)
    with connect(site) as line:
        line.sendall((b"GET /data/train.csv HTTP/1.1\r\n" + HOST + b"\r\n") * 1000)
        end = time.monotonic() + 20
        while site.connections():
            assert time.monotonic() < end
            time.sleep(0.05)


def test_requests_in_one_piece_are_answered_in_order(site):
    one = b"GET /static/board.js HTTP/1.1\r\n" + HOST
    with connect(site) as line:
        line.sendall((one + b"\r\n") * 3 + one + b"Connection: close\r\n\r\n")
        assert read(line).count(b"HTTP/1.1 200 ") == 4


def test_an_address_has_a_part_of_all_connections(site, monkeypatch):
    monkeypatch.setattr(connections, "_MAX_OF_ADDRESS", 2)
    monkeypatch.setattr(connections, "_origin_of", str)
    alone = connect(site, "127.0.0.2")
    crowd = []
    for _ in range(5):
        crowd.append(connect(site, "127.0.0.3"))
        crowd[-1].sendall(SIGN_IN)
        time.sleep(0.05)
    assert [read(line) for line in crowd[:3]] == [b""] * 3
    assert len(site.connections()) == 3
    for line in (*crowd, alone):
        line.close()


def test_behind_a_proxy_all_clients_have_its_address():
    assert not ProxiedProtocol.limits_addresses


def test_this_machine_may_forward_those_of_others():
    assert {connections._origin_of(host) for host in ("127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1")} == {None}


@given(st.ip_addresses(v=6), st.integers(0, 2**64 - 1))
def test_a_network_of_ipv6_counts_as_one(address, low):
    network = (int(address) >> 64) << 64
    other = type(address)(network | low)
    if network:
        assert connections._origin_of(f"{address}%eth0") == connections._origin_of(str(other))
        assert connections._origin_of(str(other)) != connections._origin_of(str(type(address)(network ^ 1 << 64)))


@given(st.ip_addresses(v=4).filter(lambda address: not address.is_loopback))
def test_an_address_of_ipv4_counts_alone_however_it_is_written(address):
    assert connections._origin_of(str(address)) == connections._origin_of(f"::ffff:{address}") == address
