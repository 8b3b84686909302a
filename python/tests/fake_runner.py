"""Drives real workers as `stint run` drives them, and a receiver of checkpoints."""

import ctypes
import hashlib
import hmac
import json
import os
import runpy
import select
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
import traceback
import zlib

from ports import free_port

FRAME_MAX = 1 << 20  # Bytes.
WAIT = 300  # Seconds for anything to happen; computers may be busy.


class Forked:
    """A Python process that need not import torch, because we have: that takes most of a test.
    `net` is the network namespace it lives in, if not ours."""

    def __init__(self, words, environment, net=None):
        self._errors = tempfile.TemporaryFile()
        self._code = None
        self.pid = os.fork()
        if self.pid == 0:
            os._exit(self._run(words, environment, net))

    def _run(self, words, environment, net):
        os.dup2(self._errors.fileno(), 2)
        try:
            if net:
                with open(f"/run/netns/{net}", encoding="utf-8") as file:
                    if ctypes.CDLL(None).setns(file.fileno(), 0) != 0:
                        raise OSError(f"the namespace {net} was not entered")
            for descriptor in [int(name) for name in os.listdir("/proc/self/fd")]:
                if descriptor > 2 and descriptor != int(environment.get("STINT_CONTROL", -1)):
                    os.closerange(descriptor, descriptor + 1)
            os.environ.clear()
            os.environ.update(environment)
            sys.argv = words
            runpy.run_path(words[0], run_name="__main__")
            return 0
        except SystemExit as ending:
            return ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        except BaseException:
            traceback.print_exc()
            return 1
        finally:
            sys.stdout.flush()
            sys.stderr.flush()

    def wait(self, seconds=WAIT):
        """Its exit code, negative if a signal ended it."""
        deadline = time.monotonic() + seconds
        while self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > deadline:
                raise TimeoutError(f"a worker did not end: {self.errors()}")
            else:
                time.sleep(0.01)
        return self._code

    def signal(self, number):
        """Sends a signal, while there is somebody to get it."""
        if self._code is None:
            os.kill(self.pid, number)

    def errors(self):
        """What it wrote to its standard error."""
        self._errors.seek(0)
        return self._errors.read().decode()

    def close(self):
        """After it has ended."""
        self._errors.close()


class Worker:
    """A worker and our end of its channel."""

    def __init__(self, words, net=None, **variables):
        ours, theirs = socket.socketpair()
        environment = dict(os.environ, STINT_CONTROL=str(theirs.fileno()), GLOO_SOCKET_IFNAME="lo")
        environment.update(variables)
        self.process = Forked(words, environment, net)
        theirs.close()
        self._socket = ours
        self._socket.settimeout(WAIT)
        self._unread = b""
        self._said = []  # What was heard on the way to something else.

    def order(self, kind, **facts):
        """Sends an order; a worker that is dead hears nothing."""
        try:
            self._socket.sendall((json.dumps({kind: facts}) + "\n").encode())
        except OSError:
            pass

    def hear(self, kind, **wanted):
        """The next line of this kind, with these facts. Lines of other kinds are kept."""
        number = 0
        while True:
            if number == len(self._said):
                line = self._read_line()
                if line is None:
                    raise EOFError(f"a worker ended before {kind}: {self.process.errors()}")
                [told] = json.loads(line).items()
                self._said.append(told)
            told, facts = self._said[number]
            if told == kind and wanted.items() <= facts.items():
                self._said = [one for one in self._said[:number] if one[0] != kind] \
                    + self._said[number + 1:]
                return facts
            number += 1

    def has_said(self, kind, **wanted):
        """Whether there is such a line among those that have come."""
        while line := self._read_line(wait=False):
            self._said.extend(json.loads(line).items())
        return any(told == kind and wanted.items() <= facts.items() for told, facts in self._said)

    def _read_line(self, wait=True):
        """The next line; none at the end, or when none has come and it does not wait."""
        while b"\n" not in self._unread:
            if not wait and not select.select([self._socket], [], [], 0)[0]:
                return None
            data = self._socket.recv(65536)
            if not data:
                return None
            self._unread += data
        line, self._unread = self._unread.split(b"\n", 1)
        return line

    def reach(self, step):
        """Waits until so many steps are done."""
        while True:
            facts = self.hear("step")
            if facts["number"] >= step:
                return facts

    def kill(self):
        """Ends it as a lost machine does."""
        self.process.signal(signal.SIGKILL)
        self.process.wait()

    def hang_up(self):
        """Closes the channel."""
        self._socket.close()

    def close(self):
        """Kills what is left."""
        self.kill()
        self.process.close()
        self.hang_up()


def train(workers, attempt, shares, checkpoint=None, micro_batch=4, master="127.0.0.1", **more):
    """Tells workers to train together. `more` has other members of the order."""
    port = int(free_port())
    for rank, worker in enumerate(workers):
        worker.order("train", attempt=attempt, rank=rank, world=len(workers), master=master,
                     port=port, shares=shares, micro_batch=micro_batch, checkpoint=checkpoint,
                     **more)


def save(workers, attempt, step, place):
    """Tells workers to save after a step; returns what they told."""
    for worker in workers:
        worker.order("save", attempt=attempt, step=step, place=place)
    return [worker.hear("saved") for worker in workers]


class FakeTalk:
    """Frames of the protocol of `stint receive`, at the receiver's end."""

    def __init__(self, stream, theirs, own):
        self.stream, self._theirs, self._own = stream, theirs, own
        self._read = self._written = 0

    @staticmethod
    def tag(key, number, data):
        """The HMAC of a frame."""
        return hmac.new(key, struct.pack(">QI", number, len(data)) + data, hashlib.sha256).digest()

    def read(self):
        """The next frame. Raises EOFError where there is none that is authentic."""
        head = self.stream.read(4)
        data = self.stream.read(*struct.unpack(">I", head)) if len(head) == 4 else b""
        if self.stream.read(32) != self.tag(self._theirs, self._read, data):
            raise EOFError
        self._read += 1
        return data

    def write(self, data):
        """Sends a frame."""
        self.stream.write(self.frame(data))
        self._written += 1

    def frame(self, data):
        """The bytes of the next frame."""
        return struct.pack(">I", len(data)) + data + self.tag(self._own, self._written, data)


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
                stream.write(f"stint.receiver/2 {nonce}\n".encode())
                stream.flush()
                words = stream.readline().decode().split()

                def derived(role, purpose):
                    text = f"stint.receiver/2 {role} {purpose} {nonce} {words[1]}"
                    return hmac.new(self.secret, text.encode(), hashlib.sha256)

                if len(words) != 3 or words[2] != derived("client", "proof").hexdigest():
                    return
                stream.write(derived("receiver", "proof").hexdigest().encode() + b"\n")
                stream.flush()
                talk = FakeTalk(stream, derived("client", "key").digest(),
                                derived("receiver", "key").digest())
                while True:
                    self.answer(talk, talk.read().decode().split())
                    stream.flush()
        except (OSError, EOFError):
            pass

    def answer(self, talk, words):
        """Answers a request."""
        key = tuple(int(word) for word in words[1:4])
        if words[0] == "put":
            data = b"".join(talk.read() for _ in range(-(-int(words[4]) // FRAME_MAX)))
            if len(data) == int(words[4]) and zlib.crc32(data) == int(words[5]):
                self.shards[key] = data
                talk.write(b"kept\n")
            else:
                talk.write(b"refused checksum\n")
        elif words[0] == "get" and key in self.shards:
            data = self.shards[key]
            talk.write(f"here {len(data)} {zlib.crc32(data)}\n".encode())
            for at in range(0, len(data), FRAME_MAX):
                talk.write(data[at:at + FRAME_MAX])
        else:
            talk.write(b"missing\n")

    def close(self):
        """Stops to listen."""
        self._listener.close()
