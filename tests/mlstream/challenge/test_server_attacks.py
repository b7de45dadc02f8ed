"""Attacks over HTTP, on a real server on loopback."""

import errno
import os
import re
import socket
import time
from contextlib import suppress

import pytest
import requests

from tests.loops import check_all


def sign_in(site, token):
    session = requests.Session()
    text = session.post(f"{site.url}/team/sign-in", data={"token": token}).text
    return session, re.search(r'name="form_token" value="([0-9a-f]+)"', text)[1]


@pytest.mark.parametrize(
    "address",
    ["/team/sign-in", "/team/register", "/team/select", "/organiser/sign-in", "/api/teams", "/api/selection", "/board"],
)
def test_only_submissions_may_be_large(site, address):
    method = "PUT" if address.endswith("selection") else "POST"
    body = b"a&" * 28_000
    headers = {"content-type": "application/x-www-form-urlencoded"}
    for content, allowed in ((body * 2, {413}), (iter([body, body]), {400, 405, 413, 422})):
        assert requests.request(method, site.url + address, data=content, headers=headers).status_code in allowed


def test_a_submission_by_a_page_is_a_form_of_parts(site):
    token, _ = site.join("fields")
    session, _ = sign_in(site, token)
    headers = {"content-type": "application/x-www-form-urlencoded"}
    response = session.post(f"{site.url}/team/submit", data=b"a&" * 28_000, headers=headers)
    assert response.status_code == 422
    assert "multipart/form-data" in response.text


@pytest.mark.parametrize("number", ["9" * 40, "9" * 5000])
def test_numbers_that_no_state_can_hold_are_refused(site, number):
    token, bearer = site.join(f"numbers {len(number)}")
    headers = {**bearer, "content-type": "application/json"}
    response = requests.put(f"{site.url}/api/selection", data=f'{{"submissions": [{number}]}}', headers=headers)
    assert 400 <= response.status_code < 500
    session, form = sign_in(site, token)
    response = session.post(f"{site.url}/team/select", data={"form_token": form, "submission": number})
    assert 400 <= response.status_code < 500


def test_only_the_files_that_were_made_are_downloaded(site):
    (site.bundle / "notes.txt").write_text("private")
    (site.bundle / "folder").mkdir()
    plain, rules = site.bundle / "RULES.md", (site.bundle / "RULES.md").read_bytes()
    plain.unlink()
    plain.symlink_to(site.folder / "salt.key")
    try:
        for name in ("notes.txt", "folder", "RULES.md", "%2e%2e%2forganiser%2fsalt.key"):
            assert requests.get(f"{site.url}/data/{name}").status_code == 404
        assert "notes.txt" not in requests.get(site.url).text
        assert requests.get(f"{site.url}/data/train.npz").status_code == 200
    finally:
        plain.unlink()
        plain.write_bytes(rules)
        (site.bundle / "notes.txt").unlink()
        (site.bundle / "folder").rmdir()


def test_a_team_is_signed_out_by_pages_of_this_server_only(site):
    token, _ = site.join("stays")
    session, _ = sign_in(site, token)
    headers = {"sec-fetch-site": "cross-site"}
    for kind in ("team", "organiser"):
        response = session.post(f"{site.url}/{kind}/sign-out", headers=headers, allow_redirects=False)
        assert (response.status_code, "set-cookie" in response.headers) == (400, False)
    session.post(f"{site.url}/team/sign-out")
    assert not session.cookies


def test_what_another_process_reserved_and_left_is_scored_when_it_is_sent_again(site):
    token, bearer = site.join("again")
    content = site.file(0.123)
    number = site.challenge.reserve(content, token).submission
    assert requests.post(f"{site.url}/api/submissions", data=content, headers=bearer).json()["submission"] == number
    end = time.monotonic() + 60
    while requests.get(f"{site.url}/api/submissions/{number}", headers=bearer).json()["state"] == "scoring":
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_state_that_cannot_be_read_is_no_path_in_any_reply(site):
    _, bearer = site.join("broken")
    state = site.folder / "state.sqlite"
    state.rename(site.folder / "elsewhere")
    try:
        replies = [
            requests.get(f"{site.url}/api/status", headers=bearer),
            requests.get(f"{site.url}/board"),
            requests.post(f"{site.url}/api/submissions", data=b"x", headers=bearer),
        ]
    finally:
        (site.folder / "elsewhere").rename(state)
    for reply in replies:
        assert reply.status_code == 503
        assert "sqlite" not in reply.text
        assert str(site.folder) not in reply.text
    assert requests.get(f"{site.url}/api/status", headers=bearer).status_code == 200


def test_a_full_disk_is_said_in_one_reply_and_leaves_nothing(site, monkeypatch):
    token, bearer = site.join("full")
    before, content = site.challenge.status(token), site.file(0.77)

    def fail(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(site.folder))

    for name in ("open", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            response = requests.post(f"{site.url}/api/submissions", data=content, headers=bearer)
        assert (response.status_code, response.json()["error"]["code"]) == (503, "state_failed")
        assert str(site.folder) not in response.text
    assert not list((site.folder / "scratch").iterdir())
    assert site.challenge.status(token)._replace(reset=None) == before._replace(reset=None)


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "HEAD", "DELETE", "PATCH", "PROPFIND"])
def test_other_methods_change_and_tell_nothing(site, method):
    for address in ("/api/status", "/api/submissions", "/team", "/organiser", "/organiser/close", "/data/train.npz"):
        response = requests.request(method, site.url + address, headers={"cookie": "team=x"})
        assert response.status_code in {401, 404, 405}
        assert "team=x" not in response.text


def raw(site, request):
    host, port = site.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as line:
        reply = b""
        # The server may hang up before it has read everything.
        with suppress(ConnectionError):
            line.sendall(request)
            while piece := line.recv(2**16):
                reply += piece
                if b"\r\n" in reply:
                    break
    return reply


def test_odd_requests_get_a_refusal_and_the_next_one_its_reply(site):
    def check(request_):
        reply = raw(site, request_)
        assert b" 500 " not in reply.partition(b"\r\n")[0]
        assert requests.get(f"{site.url}/api/leaderboard").status_code == 200

    check_all(
        [
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
            b"GET / HTTP/1.1\r\n" + b"".join(b"X%d: a\r\n" % n for n in range(20_000)) + b"\r\n",
            b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            b"POST /api/submissions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
            b"POST /api/submissions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\nhello",
            b"POST /api/submissions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\nhello",
            b"POST /api/submissions HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nhello",
            b'GET /team HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: team="\\355\\240\\200\x01"; organiser=\xff\r\n\r\n',
            b"GET / HTTP/1.1\r\n\r\n",
            b"GET http://example.org/ HTTP/1.1\r\nHost: example.org\r\n\r\n",
        ],
        check,
    )


def test_thousands_of_parts_and_ranges_are_refused(site):
    token, _ = site.join("parts")
    session, form = sign_in(site, token)
    files = [("file", (f"{n}.csv", b"x")) for n in range(300)]
    response = session.post(f"{site.url}/team/submit", data={"form_token": form}, files=files)
    assert response.status_code == 400
    ranges = ",".join(f"{n}-{n}" for n in range(0, 10_000, 2))
    response = requests.get(f"{site.url}/data/train.csv", headers={"range": f"bytes={ranges}"})
    assert len(response.content) < 5_000_000
