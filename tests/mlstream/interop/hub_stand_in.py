"""A hub of data sets on this machine: as much of its HTTP interface as an upload needs."""

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager

from tests.mlstream.data.loopback import Handler, Server, serve


class Hub:
    """Repositories with their files, a store of large files, and the commits that were made."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.endpoint = server.url("")
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.visibility: dict[str, str] = {}
        self.stored: dict[str, bytes] = {}
        self.messages: list[str] = []
        self.validated: list[str] = []
        self.tokens: set[str | None] = set()
        self.refuses = ""

    def __contains__(self, path: str) -> bool:
        return True

    def __getitem__(self, path: str):
        return self.answer

    def answer(self, request: Handler) -> None:
        body = read_body(request)
        self.tokens.add(request.headers.get("Authorization"))
        steps = {
            "/api/repos/create": self.create,
            "/tree/": self.list_files,
            "/validate-yaml": self.validate,
            "/preupload/": self.choose_modes,
            "objects/batch": self.offer_storage,
            "/store/": self.store,
            "/commit/": self.commit,
        }
        step = next((part for part in steps if part in request.path), None)
        if step is None:
            request.send(b'{"error": "not found"}', 404, Content_Type="application/json")
        elif step == self.refuses:
            request.send(b'{"error": "not allowed"}', 403, Content_Type="application/json")
        else:
            reply = steps[step](request.path, body)
            request.send(json.dumps(reply).encode(), Content_Type="application/json")

    def create(self, path: str, body: bytes) -> object:
        wanted = json.loads(body)
        name = f"{wanted['organization']}/{wanted['name']}"
        if name not in self.repositories:
            self.repositories[name] = {".gitattributes": b""}
            self.visibility[name] = wanted["visibility"]
        return {"url": f"{self.endpoint}/datasets/{name}", "name": name}

    def list_files(self, path: str, body: bytes) -> object:
        files = self.repositories[name_in(path)]
        return [{"type": "file", "path": name, "size": len(files[name]), "oid": "0" * 40} for name in sorted(files)]

    def validate(self, path: str, body: bytes) -> object:
        self.validated.append(json.loads(body)["content"])
        return {"errors": [], "warnings": []}

    def choose_modes(self, path: str, body: bytes) -> object:
        names = [file["path"] for file in json.loads(body)["files"]]
        modes = {True: "lfs", False: "regular"}
        ways = [{"path": name, "uploadMode": modes[name.endswith(".npz")], "shouldIgnore": False} for name in names]
        return {"files": ways}

    def offer_storage(self, path: str, body: bytes) -> object:
        objects = json.loads(body)["objects"]
        places = [{"upload": {"href": f"{self.endpoint}/store/{wanted['oid']}"}} for wanted in objects]
        return {
            "transfer": "basic",
            "objects": [wanted | {"actions": place} for wanted, place in zip(objects, places, strict=True)],
        }

    def store(self, path: str, body: bytes) -> object:
        self.stored[path.rpartition("/")[2]] = body
        return {}

    def commit(self, path: str, body: bytes) -> object:
        files = dict(self.repositories[name_in(path)])
        for line in map(json.loads, body.splitlines()):
            value = line["value"]
            if line["key"] == "header":
                self.messages.append(value["summary"])
            elif line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.stored[value["oid"]]
                assert hashlib.sha256(files[value["path"]]).hexdigest() == value["oid"]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        self.repositories[name_in(path)] = files
        name = name_in(path)
        return {"commitUrl": f"{self.endpoint}/datasets/{name}/commit/{'1' * 40}", "commitOid": "1" * 40}


def name_in(path: str) -> str:
    return "/".join(path.split("/")[3:5])


def read_body(request: Handler) -> bytes:
    if request.headers.get("Transfer-Encoding") != "chunked":
        return request.rfile.read(int(request.headers.get("Content-Length") or 0))
    body = b""
    while size := int(request.rfile.readline(), 16):
        body += request.rfile.read(size)
        request.rfile.readline()
    request.rfile.readline()
    return body


@contextmanager
def run_hub() -> Iterator[Hub]:
    with serve() as server:
        hub = server.answers = Hub(server)
        yield hub
