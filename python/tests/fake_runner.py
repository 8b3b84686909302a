"""Drives real workers as `stint run` drives them, and a receiver of checkpoints."""

import hashlib
import hmac
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import zlib

from ports import free_port

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
WAIT = 40  # Seconds for anything to happen.


class Worker:
    """A worker and our end of its channel."""

    def __init__(self, words, before=(), **variables):
        ours, theirs = socket.socketpair()
        environment = dict(os.environ, PYTHONPATH=ROOT, STINT_CONTROL=str(theirs.fileno()),
                           OMP_NUM_THREADS="1", GLOO_SOCKET_IFNAME="lo",
                           PYTHONDONTWRITEBYTECODE="1")
        environment.update(variables)
        self.process = subprocess.Popen([*before, sys.executable, *words], env=environment,
                                        pass_fds=[theirs.fileno()], stderr=subprocess.PIPE)
        theirs.close()
        self._socket = ours
        self._socket.settimeout(WAIT)
        self._lines = ours.makefile("r")
        self._said = []  # What was heard on the way to something else.

    def order(self, kind, **facts):
        """Sends an order; a worker that is dead hears nothing."""
        try:
            self._socket.sendall((json.dumps({kind: facts}) + "\n").encode())
        except OSError:
            pass

    def hear(self, kind, **wanted):
        """The next line of this kind, with these facts. Lines before it are kept."""
        for number, (told, facts) in enumerate(self._said):
            if told == kind and wanted.items() <= facts.items():
                del self._said[:number + 1]
                return facts
        while True:
            line = self._lines.readline()
            if not line:
                raise EOFError(f"the worker ended before it told of {kind}: {self.errors()}")
            [(told, facts)] = json.loads(line).items()
            if told == kind and wanted.items() <= facts.items():
                self._said = []
                return facts
            self._said.append((told, facts))

    def reach(self, step):
        """Waits until so many steps are done."""
        while True:
            facts = self.hear("step")
            if facts["number"] >= step:
                return facts

    def kill(self):
        """Ends it as a lost machine does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(WAIT)

    def errors(self):
        """What it said before it ended."""
        self.process.kill()
        return self.process.communicate(timeout=WAIT)[1].decode()

    def hang_up(self):
        """Closes the channel."""
        self._lines.close()
        self._socket.close()

    def close(self):
        """Kills what is left."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT)
        self.process.stderr.close()
        self.hang_up()


def train(workers, attempt, shares, checkpoint=None, micro_batch=4, master="127.0.0.1"):
    """Tells workers to train together."""
    port = int(free_port())
    for rank, worker in enumerate(workers):
        worker.order("train", attempt=attempt, rank=rank, world=len(workers), master=master,
                     port=port, shares=shares, micro_batch=micro_batch, checkpoint=checkpoint)


def save(workers, attempt, step, place):
    """Tells workers to save after a step; returns what they told."""
    for worker in workers:
        worker.order("save", attempt=attempt, step=step, place=place)
    return [worker.hear("saved") for worker in workers]


class FakeReceiver:
    """Keeps shards in memory by the protocol of `stint receive`."""

    def __init__(self, secret):
        self.secret = bytes.fromhex(secret)
        self.shards = {}  # (step, number, count) → bytes.
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection):
        try:
            with connection, connection.makefile("rwb") as stream:
                nonce = os.urandom(16).hex()
                stream.write(f"stint.receiver/1 {nonce}\n".encode())
                stream.flush()
                proof = hmac.new(self.secret, nonce.encode(), hashlib.sha256).hexdigest()
                if stream.readline().decode().strip() != proof:
                    return
                for line in stream:
                    self._answer(stream, line.decode().split())
                    stream.flush()
        except OSError:
            pass

    def _answer(self, stream, words):
        key = tuple(int(word) for word in words[1:4])
        if words[0] == "put":
            data = stream.read(int(words[4]))
            if len(data) == int(words[4]) and zlib.crc32(data) == int(words[5]):
                self.shards[key] = data
                stream.write(b"kept\n")
            else:
                stream.write(b"refused checksum\n")
        elif words[0] == "get" and key in self.shards:
            data = self.shards[key]
            stream.write(f"here {len(data)} {zlib.crc32(data)}\n".encode() + data)
        else:
            stream.write(b"missing\n")

    def close(self):
        """Stops to listen."""
        self._listener.close()
