"""A challenge over HTTP: what teams, the organiser and strangers get, from a real server on loopback."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests

from mlstream.challenge.client import RemoteChallenge
from mlstream.challenge.clock import utc_now
from mlstream.challenge.engine import Challenge
from mlstream.challenge.errors import BudgetSpent, InvalidSubmission, PhaseClosed, UnknownSubmission, UnknownToken
from mlstream.challenge.server.serve import Address, serve
from tests.loops import check_all
from tests.mlstream.challenge.challenges import Clock
from tests.mlstream.challenge.site import RULES, Site
from tests.mlstream.cli.commands import invoke


@pytest.fixture(scope="module")
def clock():
    return Clock()


@pytest.fixture(scope="module")
def site(tmp_path_factory, clock):
    site = Site(tmp_path_factory.mktemp("site"), clock)
    yield site
    site.stop()


def sign_in(site, token):
    session = requests.Session()
    response = session.post(f"{site.url}/team/sign-in", data={"token": token})
    assert response.status_code == 200
    return session, response.text


def form_token(text):
    return re.search(r'name="form_token" value="([0-9a-f]+)"', text)[1]


def test_a_submission_of_a_program_is_scored_as_by_the_engine(site, tmp_path):
    token, _ = site.join("program")
    file = tmp_path / "rows ü.csv"
    file.write_bytes(site.file(0.4))
    sent = []
    reply = RemoteChallenge(site.url, token).submit(file, progress=lambda *bytes_: sent.append(bytes_))
    again = site.challenge.submit(file, token)
    assert again.is_repeat
    assert (reply["submission"], reply["score"], reply["query"], reply["remaining"]) == (
        again.submission,
        again.score,
        1,
        3,
    )
    assert RemoteChallenge(site.url, token).status() == site.challenge.status(token)
    assert sent[-1][0] == sent[-1][1] == len(site.file(0.4))
    assert RemoteChallenge(site.url, token).status().submissions[0].score == reply["score"]
    assert site.challenge.status(token).submissions[0].file_name == "rows ü.csv"


def test_the_same_bytes_count_once(site, tmp_path):
    token, _ = site.join("twice")
    file = tmp_path / "x.csv"
    file.write_bytes(site.file(0.3))
    client = RemoteChallenge(site.url, token)
    assert client.submit(file) == client.submit(file)
    assert client.status().remaining == 3


def test_budget_and_errors_have_their_kinds(site, tmp_path):
    token, headers = site.join("spender")
    client, file = RemoteChallenge(site.url, token), tmp_path / "x.csv"
    for value in (0.11, 0.12, 0.13, 0.14):
        file.write_bytes(site.file(value))
        client.submit(file)
    file.write_bytes(site.file(0.15))
    with pytest.raises(BudgetSpent) as spent:
        client.submit(file)
    assert spent.value.reset.hour == 0
    response = requests.post(f"{site.url}/api/submissions", data=file.read_bytes(), headers=headers)
    assert response.status_code == 429
    assert 0 < int(response.headers["retry-after"]) <= 86_401
    with pytest.raises(UnknownSubmission):
        client.select([999])
    with pytest.raises(UnknownToken):
        RemoteChallenge(site.url, "mlc-0").status()


def test_a_file_that_is_no_submission_costs_nothing(site, tmp_path):
    token, _ = site.join("careless")
    file = tmp_path / "x.csv"
    file.write_text("row_id,y0\n")
    client = RemoteChallenge(site.url, token)
    with pytest.raises(InvalidSubmission, match="row"):
        client.submit(file)
    assert client.status().remaining == 4


def test_everyone_sees_the_end_of_the_log(site):
    before = requests.get(f"{site.url}/api/log").json()
    site.join("noted")
    after = requests.get(f"{site.url}/api/log").json()
    assert after == {"n_events": before["n_events"] + 1, "head": site.challenge.audit().head}
    for path in ("/board", "/board/live"):
        assert f"after {after['n_events']} events" in requests.get(site.url + path).text
        assert after["head"] in requests.get(site.url + path).text
    assert site.challenge.audit(before["head"]).is_whole


def test_selection_by_a_program(site, tmp_path):
    token, _ = site.join("chooser")
    client, file, numbers = RemoteChallenge(site.url, token), tmp_path / "x.csv", []
    for value in (0.21, 0.22):
        file.write_bytes(site.file(value))
        numbers.append(client.submit(file)["submission"])
    client.select(numbers[:1])
    assert client.status().selected == tuple(numbers[:1])
    client.select(numbers[1:])
    assert client.status().selected == tuple(numbers[1:])


def test_a_team_works_with_the_pages_alone(site):
    token, _ = site.join("by hand")
    session, page = sign_in(site, token)
    assert "by hand" in page
    cookie = next(iter(session.cookies))
    assert cookie.path == "/team"
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite").lower() == "strict"
    files = {"file": ("mine <i>.csv", site.file(0.45))}
    response = session.post(f"{site.url}/team/submit", data={"form_token": form_token(page)}, files=files)
    assert response.status_code == 200
    for _ in range(200):
        page = session.get(f"{site.url}/team").text
        if "being scored" not in page:
            break
        time.sleep(0.05)
    assert "mine &lt;i&gt;.csv" in page
    number = site.challenge.status(token).submissions[0].submission
    session.post(f"{site.url}/team/select", data={"form_token": form_token(page), "submission": number})
    assert site.challenge.status(token).selected == (number,)
    session.post(f"{site.url}/team/sign-out")
    assert "Sign in" in session.get(f"{site.url}/team").text


def test_forms_of_other_sites_change_nothing(site):
    token, _ = site.join("careful")
    session, page = sign_in(site, token)
    before = site.challenge.status(token)
    for data in ({}, {"form_token": "0" * 64}):
        response = session.post(f"{site.url}/team/submit", data=data, files={"file": ("x.csv", site.file(0.41))})
        assert response.status_code == 400
    other, _ = site.join("somebody")
    _, foreign = sign_in(site, other)
    data = {"form_token": form_token(foreign)}
    assert session.post(f"{site.url}/team/submit", data=data, files={"file": ("x", b"x")}).status_code == 400
    headers = {"sec-fetch-site": "cross-site"}
    assert requests.post(f"{site.url}/team/sign-in", data={"token": token}, headers=headers).status_code == 400
    assert site.challenge.status(token) == before
    assert form_token(page) != form_token(foreign)


def test_an_invitation_makes_one_team(site):
    code = site.challenge.invite()
    response = requests.post(f"{site.url}/api/teams", json={"team": "invited", "code": code})
    assert response.status_code == 201
    assert RemoteChallenge(site.url, response.json()["token"]).status().team == "invited"
    assert requests.post(f"{site.url}/api/teams", json={"team": "second", "code": code}).status_code == 401
    page = requests.post(f"{site.url}/team/register", data={"team": "by form", "code": site.challenge.invite()})
    assert re.search(r"mlc-[0-9a-f]{12}-", page.text)


def test_names_of_teams_and_of_the_challenge_are_escaped_everywhere(site, tmp_path):
    token, _ = site.join("<script>alert(1)</script>")
    file = tmp_path / "x.csv"
    file.write_bytes(site.file(0.47))
    RemoteChallenge(site.url, token).submit(file)
    _, page = sign_in(site, token)
    organiser = requests.Session()
    organiser.post(f"{site.url}/organiser/sign-in", data={"token": site.organiser})
    pages = [page, organiser.get(f"{site.url}/organiser").text]
    pages += [requests.get(site.url + path).text for path in ("/", "/board", "/board/live")]
    for text in pages:
        assert "<script>alert" not in text
        assert "<b>" not in text
    assert "&lt;script&gt;" in pages[1]
    assert "&lt;script&gt;" in pages[3]


def test_every_reply_has_the_headers_of_security(site):
    for path in (
        "/",
        "/board",
        "/team",
        "/organiser",
        "/nowhere",
        "/api/leaderboard",
        "/api/log",
        "/api/status",
        "/static/board.js",
    ):
        headers = requests.get(site.url + path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers


def test_pages_hold_no_inline_script_or_style_and_load_nothing_from_elsewhere(site):
    for path in ("/", "/board", "/team", "/organiser"):
        text = requests.get(site.url + path).text
        assert "<style" not in text
        assert " style=" not in text
        assert not re.search(r"<script(?![^>]*\ssrc=)", text)
        assert not re.findall(r'(?:src|href|action)="(?!/|#)', text)


@pytest.mark.parametrize("query", ["token=mlc-x", "code=x", "x=mlc-1234", "TOKEN=1", "a=invite-2", "authorization=b"])
def test_a_token_in_an_address_is_refused(site, query):
    response = requests.get(f"{site.url}/api/status?{query}")
    assert response.status_code == 400
    assert response.json()["error"]["code"] == "token_in_url"


def test_a_foreign_host_is_refused(site):
    for host in ("evil.example", "127.0.0.1.evil.example", ""):
        assert requests.get(site.url, headers={"host": host}).status_code in {400, 421}


def test_a_body_that_is_too_large_is_refused_whatever_its_header_says(site):
    _, headers = site.join("heavy")
    assert requests.post(f"{site.url}/api/submissions", data=b"0" * 200_000, headers=headers).status_code == 413

    def pieces():
        for _ in range(50):
            yield b"0" * 10_000

    try:
        status = requests.post(f"{site.url}/api/submissions", data=pieces(), headers=headers).status_code
    except requests.ConnectionError:
        status = 413  # the server hung up in the middle, which is as good
    assert status == 413
    assert not list(site.challenge.folder.scratch.iterdir())


def test_an_upload_that_stops_half_way_leaves_nothing(site):
    token, _ = site.join("cut off")
    port = int(site.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as line:
        head = f"POST /api/submissions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        line.sendall(f"{head}Content-Type: text/csv\r\nContent-Length: 50000\r\n\r\nrow_id".encode())
        time.sleep(0.2)
    for _ in range(100):
        if not list(site.challenge.folder.scratch.iterdir()):
            break
        time.sleep(0.05)
    assert not list(site.challenge.folder.scratch.iterdir())
    assert site.challenge.status(token).submissions == ()


def test_wrong_content_types_and_malformed_requests_get_one_clear_reply(site):
    token, headers = site.join("confused")
    kinds = ("application/json", "multipart/form-data; boundary=x", "text/html")
    for kind in kinds:
        reply = requests.post(f"{site.url}/api/submissions", data=b"{}", headers=headers | {"content-type": kind})
        assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_submission")
    reply = requests.put(f"{site.url}/api/selection", data=b"[", headers=headers)
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, "invalid_request")
    reply = requests.put(f"{site.url}/api/selection", data=b'{"submissions": [1]}', headers=headers)
    assert "Content-Type must be application/json" in reply.json()["error"]["message"]
    assert requests.get(f"{site.url}/api/submissions/none", headers=headers).status_code == 422
    assert requests.get(f"{site.url}/api/nothing").json()["error"]["code"] == "not_found"
    session, page = sign_in(site, token)
    assert session.post(f"{site.url}/team/submit", data={"form_token": form_token(page)}).status_code == 422


def test_what_the_framework_refuses_has_the_code_of_what_is_wrong(site):
    _, headers = site.join("malformed")

    def check(case):
        method, path, body, status, code, message = case
        reply = requests.request(
            method, f"{site.url}/api/{path}", data=body, headers=headers | {"content-type": "application/json"}
        )
        error = reply.json()["error"]
        assert (reply.status_code in status, error["code"]) == (True, code)
        assert re.search(message, error["message"])

    check_all(
        [
            (
                "PUT",
                "selection",
                b'{"submissions":\n [1,]}',
                {422},
                "invalid_request",
                r"JSON\. Got .* line 2 col",
            ),
            ("POST", "teams", b"[", {422}, "invalid_request", "line 1 column 2"),
            ("PUT", "selection", b"\xff", {400}, "invalid_request", "0xff in position 0"),
            ("PUT", "selection", b"9" * 5000, {400}, "invalid_request", "4300 digits"),
            # Too deep; for Python 3.15, which reads on, cut off.
            ("PUT", "selection", b"[" * 50_000, {400, 422}, "invalid_request", "parsing the body|JSON"),
            ("DELETE", "selection", b"", {405}, "method_not_allowed", "Method Not Allowed"),
            ("GET", "nothing", b"", {404}, "not_found", "Not Found"),
        ],
        check,
    )


def test_names_with_paths_lead_nowhere(site):
    for name in ("..%2forganiser%2fsalt.key", "%2e%2e%2forganiser%2fsalt.key", "nothing", "/etc/passwd"):
        assert requests.get(f"{site.url}/data/{name}").status_code == 404
    token, headers = site.join("path")
    headers |= {"x-file-name": "..%2F..%2Fsalt.key", "content-type": "text/csv"}
    assert requests.post(f"{site.url}/api/submissions", data=site.file(0.33), headers=headers).status_code == 202
    assert "/" not in site.challenge.status(token).submissions[0].file_name


def test_the_bundle_is_downloaded_byte_by_byte(site):
    for path in site.bundle.iterdir():
        response = requests.get(f"{site.url}/data/{path.name}")
        assert response.content == path.read_bytes()


def test_another_teams_submissions_are_not_to_be_seen(site, tmp_path):
    token, _ = site.join("secretive")
    file = tmp_path / "x.csv"
    file.write_bytes(site.file(0.36))
    number = RemoteChallenge(site.url, token).submit(file)["submission"]
    _, headers = site.join("curious")
    assert requests.get(f"{site.url}/api/submissions/{number}", headers=headers).status_code == 404


def test_the_organisers_page_needs_the_organisers_token(site):
    token, _ = site.join("not the organiser")
    for session in (requests.Session(), sign_in(site, token)[0]):
        assert "Teams" not in session.get(f"{site.url}/organiser").text
        assert session.post(f"{site.url}/organiser/sign-in", data={"token": token}).status_code == 401
        for action in ("join", "invite", "merge", "close", "audit"):
            assert session.post(f"{site.url}/organiser/{action}", data={"team": "x", "sure": "yes"}).status_code == 401
    assert site.challenge.phase() == "development"


def test_the_schema_describes_every_request(site):
    schema = requests.get(f"{site.url}/api/openapi.json").json()
    assert {"/api/submissions", "/api/status", "/api/selection", "/api/leaderboard", "/api/log"} <= schema[
        "paths"
    ].keys()
    assert "/organiser" not in schema["paths"]


@pytest.mark.slow
def test_the_organiser_adds_a_team_audits_and_closes(tmp_path, clock):
    site = Site(tmp_path, clock)
    try:
        session = requests.Session()
        page = session.post(f"{site.url}/organiser/sign-in", data={"token": site.organiser}).text
        data = {"form_token": form_token(page)}
        added = session.post(f"{site.url}/organiser/join", data=data | {"team": "first"}).text
        token = re.search(r"mlc-[0-9a-f]{12}-[\w-]+", added)[0]
        file = tmp_path / "x.csv"
        file.write_bytes(site.file(0.4))
        RemoteChallenge(site.url, token).submit(file)
        assert "first" in requests.get(f"{site.url}/board").text
        assert "agree" in session.post(f"{site.url}/organiser/audit", data=data).text
        assert session.post(f"{site.url}/organiser/close", data=data).status_code == 400
        closed = session.post(f"{site.url}/organiser/close", data=data | {"sure": "yes", "early": "yes"})
        assert closed.url.endswith("/board")
        assert "Generalisation prize" in closed.text
        assert "Robustness prize" in closed.text
        assert site.challenge.ranking().head in closed.text
        file.write_bytes(site.file(0.41))
        with pytest.raises(PhaseClosed):
            RemoteChallenge(site.url, token).submit(file)
    finally:
        site.stop()


def test_times_are_shown_in_utc_and_in_the_time_zone_of_the_rules(tmp_path, clock):
    site = Site(tmp_path, clock, f"{RULES}timezone = 'Asia/Tokyo'\nfinal_ends = 2027-01-01T09:30:00\n")
    both = "2027-01-01 00:30 UTC (2027-01-01 09:30 in Asia/Tokyo)"
    try:
        assert both in requests.get(site.url).text
        token, _ = site.join("Ada")
        site.challenge.submit(site.file(0.4), token)
        reset, sent = (f"2026-03-0{day} {hour} in Asia/Tokyo)" for day, hour in ((2, "09:00"), (1, "21:00")))
        _, page = sign_in(site, token)
        assert reset in page
        assert page.count(sent) == 1
        (tmp_path / "token").write_text(token)
        status = invoke("challenge", "status", "--url", site.url, "--token-file", tmp_path / "token").output
        assert reset in status
        for text in (
            status,
            invoke("challenge", "leaderboard", site.folder).output,
            requests.get(f"{site.url}/board").text,
        ):
            assert sent in text
    finally:
        site.stop()
    assert f"| selection ends | {both} |" in (site.bundle / "RULES.md").read_text()
    assert json.loads((site.bundle / "card.public.json").read_text())["timezone"] == "Asia/Tokyo"


@pytest.mark.parametrize(
    "at",
    [
        Address("0.0.0.0"),  # noqa: S104
        Address("example.org"),
        Address("192.168.0.7"),
        Address(certificate=Path("x.pem")),
    ],
)
def test_tokens_never_travel_in_clear(tmp_path, at):
    with pytest.raises(ValueError, match="--certificate"):
        serve(tmp_path, at=at)


@pytest.mark.parametrize(
    "url",
    ["http://a.example", "ftp://localhost", "localhost:8000", "https://u:p@host", "https://h?x=1", "https://h/board"],
)
def test_clients_refuse_addresses_in_clear(url):
    with pytest.raises(ValueError, match="--url"):
        RemoteChallenge(url, "mlc-x")


def test_a_folder_without_a_challenge_is_not_served(tmp_path):
    done = invoke("challenge", "serve", tmp_path)
    assert done.exit_code == 1
    assert str(tmp_path / "challenge.toml") in str(done.exception)


@pytest.mark.slow
def test_the_command_serves_one_server_a_folder_and_survives_a_kill(tmp_path):
    site = Site(tmp_path, utc_now)
    token, headers = site.join("first")
    site.stop()
    command = [sys.executable, "-m", "mlstream", "challenge", "serve", str(site.folder), "--port", "0"]
    first = subprocess.Popen([*command, "--bundle", str(site.bundle)], stdout=subprocess.PIPE, text=True)
    try:
        line = first.stdout.readline()
        url = re.search(r"http://127\.0\.0\.1:\d+", line)[0]
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert second.returncode == 1
        assert "must be served once" in second.stderr
        data = site.file(0.42)
        sent = requests.post(f"{url}/api/submissions", data=data, headers=headers | {"content-type": "text/csv"})
        assert sent.status_code == 202
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.wait()
    with Challenge.open(site.folder) as challenge:
        challenge.complete_pending()
        assert [one.score is not None for one in challenge.status(token).submissions] == [True]
        assert challenge.audit().is_whole
    assert json.loads(json.dumps(sent.json()))["submission"] == 1
