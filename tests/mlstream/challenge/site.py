"""A running server of a small challenge, on loopback."""

import threading
import time

import uvicorn

from mlstream.challenge.engine import Challenge
from mlstream.challenge.making.create import create_challenge
from mlstream.challenge.server.app import build_app
from mlstream.challenge.server.connections import BoundedProtocol
from mlstream.challenge.server.host import Host, new_organiser_token
from mlstream.generators.synthetic.environments import environment_stream

RULES = 'name = "Toy <b>&</b>"\nmin_rows = 20\nqueries_per_day = 4\ninvalid_per_day = 5\nmax_bytes = 60_000\n'


class Site:
    """A running server, and what its organiser knows."""

    def __init__(self, folder, clock, rules=RULES):
        (folder / "challenge.toml").write_text(rules)
        self.folder, self.bundle = folder / "organiser", folder / "bundle"
        stream = environment_stream(n_rows=30, seed=5)
        create_challenge(stream, folder / "challenge.toml", self.folder, self.bundle, clock=clock)
        self.challenge = Challenge.open(self.folder, clock=clock, n_processes=2)
        self.organiser = new_organiser_token(self.challenge.folder)
        app = build_app(Host(self.challenge, self.bundle, n_scoring=2))
        self._server = uvicorn.Server(
            uvicorn.Config(app, port=0, http=BoundedProtocol, log_level="error", server_header=False)
        )
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            time.sleep(0.01)
        self.url = f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"

    def stop(self):
        self._server.should_exit = True
        self._thread.join()
        self.challenge.shut_down()

    def connections(self):
        return self._server.server_state.connections

    def join(self, name):
        token = self.challenge.join(name)
        return token, {"authorization": f"Bearer {token}"}

    def file(self, value=0.5):
        text = (self.bundle / "sample_submission.csv").read_text()
        return text.replace(",0.5", f",{value}").encode()
