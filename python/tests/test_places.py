"""Shards that go to `stint receive` and come back, and whom a worker does not believe. Skips without
torch."""

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib

from fake_runner import FakeReceiver, FakeTalk

try:
    import torch
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from stint.channel import Channel
from stint.places import Receivers

SECRET = "ab" * 32


def shard(size):
    """Bytes that are not all alike."""
    return (torch.arange(size) % 251).to(torch.uint8)


def put(port, data, step=1, secret=SECRET):
    """Stores a shard at a port of this computer."""
    Receivers([["127.0.0.1", port]], secret).put(step, 0, 1, data, zlib.crc32(data.numpy()))


def get(port, step=1, secret=SECRET):
    """The shard from there."""
    return Receivers([["127.0.0.1", port]], secret).get(step, 0, 1)


class RealReceiver(unittest.TestCase):
    """Names are sentences."""

    def setUp(self):
        if "STINT_BINARY" not in os.environ:
            self.skipTest("STINT_BINARY is not set")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        process = subprocess.Popen(
            [os.environ["STINT_BINARY"], "receive", "--folder", folder.name + "/shards", "--port",
             "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        with process.stdin:
            process.stdin.write(SECRET + "\n")
        self.port = int(process.stdout.readline().split()[1])

    def test_shards_of_every_size_come_back(self):
        for step, size in enumerate((0, 1, (1 << 20) - 1, 1 << 20, (5 << 19) + 7)):
            data = shard(size)
            put(self.port, data, step)
            self.assertTrue(torch.equal(get(self.port, step), data))

    def test_who_does_not_know_the_secret_gets_nothing(self):
        put(self.port, shard(10))
        for act in (lambda: put(self.port, shard(10), secret="cd" * 32),
                    lambda: get(self.port, secret="cd" * 32)):
            with self.assertRaisesRegex(OSError, "the secret is wrong"):
                act()
        with self.assertRaisesRegex(OSError, "does not have the shard: missing"):
            get(self.port, 9)


class Impostor(FakeReceiver):
    """A receiver of which a part is played by somebody without the secret: `alter` is called with
    the frames of each answer, in bytes, and returns what is sent; None closes the connection."""

    def __init__(self, alter):
        super().__init__(SECRET)
        self._alter = alter

    def answer(self, talk, words):
        sent = []

        class Recorded(FakeTalk):
            """Keeps what is written."""

            def write(self, data):
                sent.append(self.frame(data))
                self._written += 1

        recorded = Recorded.__new__(Recorded)
        recorded.__dict__ = talk.__dict__
        super().answer(recorded, words)
        for frame in self._alter(sent):
            if frame is None:
                talk.stream.flush()
                raise EOFError  # Closes the connection.
            talk.stream.write(frame)


def flipped(frame, at):
    """The same with one bit changed."""
    return frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1:]


class Impostors(unittest.TestCase):
    """Names are sentences."""

    def refuses(self, alter, act):
        """Whether the answer that `alter` makes of a right one is refused; returns the reason."""
        impostor = Impostor(alter)
        self.addCleanup(impostor.close)
        impostor.shards[(1, 0, 1)] = bytes(shard(3 << 20).numpy())
        with self.assertRaises(OSError) as caught:
            act(impostor.port)
        return str(caught.exception)

    def test_a_right_answer_is_believed(self):
        impostor = Impostor(lambda frames: frames)
        self.addCleanup(impostor.close)
        put(impostor.port, shard(3 << 20))
        self.assertTrue(torch.equal(get(impostor.port), shard(3 << 20)))

    def test_an_altered_confirmation_does_not_count(self):
        for at in (4, 8, 9, -1):
            reason = self.refuses(lambda frames, at=at: [flipped(frames[0], at % len(frames[0]))],
                                  lambda port: put(port, shard(10)))
            self.assertIn("not authentic", reason)

    def test_a_confirmation_without_the_key_does_not_count(self):
        head = (5).to_bytes(4, "big") + b"kept\n"
        for forged in (head + bytes(32), b"kept\n" * 20):
            reason = self.refuses(lambda _, forged=forged: [forged],
                                  lambda port: put(port, shard(10)))
            self.assertIn("not authentic", reason)

    def test_altered_repeated_and_missing_parts_of_a_shard_are_refused(self):
        alters = (lambda f: [f[0], flipped(f[1], 1000), *f[2:]],
                  lambda f: [f[0], f[2], f[1], f[3]],
                  lambda f: [f[0], f[1], f[1], f[3]],
                  lambda f: [f[0], f[1], f[3]],
                  lambda f: [f[0], f[0], *f[1:]])
        for alter in alters:
            self.assertIn("not authentic", self.refuses(alter, get))

    def test_a_shard_that_is_cut_is_refused(self):
        for alter in (lambda f: [f[0], f[1][:1000], None], lambda f: [f[0], f[1], None]):
            self.assertIn("before its answer was complete", self.refuses(alter, get))

    def test_who_sends_back_what_it_hears_is_refused(self):
        mirror = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(mirror.close)

        def serve():
            connection, _ = mirror.accept()
            with connection:
                connection.sendall(b"stint.receiver/2 " + b"0" * 32 + b"\n")
                words = connection.makefile("rb").readline().split()
                connection.sendall(words[2] + b"\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with self.assertRaisesRegex(OSError, "does not know the secret"):
            put(mirror.getsockname()[1], shard(10))
        thread.join()

    def test_who_sends_a_byte_now_and_then_is_given_up(self):
        near, far = socket.socketpair()
        self.addCleanup(near.close)

        def drip():
            with far, contextlib.suppress(OSError):
                while True:
                    far.sendall(b"x")
                    time.sleep(0.01)

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        with self.assertRaises(TimeoutError):
            Channel(near, bytes.fromhex(SECRET), "it", 0.1)
        near.close()
        thread.join()

    def test_another_version_and_another_server_are_named(self):
        for said, reason in (("stint.receiver/1 " + "0" * 32, "speaks stint.receiver/1, and this "
                              "is stint.receiver/2: use the same version of stint"),
                             ("HTTP/1.1 400 Bad Request", "is not a receiver: it answers 'HTTP")):
            server = socket.create_server(("127.0.0.1", 0))
            self.addCleanup(server.close)

            def serve(server=server, said=said):
                connection, _ = server.accept()
                with connection:
                    connection.sendall(said.encode() + b"\n")
                    connection.recv(1)

            threading.Thread(target=serve, daemon=True).start()
            with self.assertRaisesRegex(OSError, reason):
                put(server.getsockname()[1], shard(10))


if __name__ == "__main__":
    unittest.main()
