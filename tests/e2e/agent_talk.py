"""A runner's side of the agent's protocol, as src/provider/agent/agent_protocol.h describes it."""

import hashlib
import hmac
import json
import os
import select
import signal
import subprocess
import time

from local_cloud import SECONDS_MAX, Failure, expect

PROTOCOL = "stint.agent/1"
SECRET = "ab" * 32


def proof(secret, side, hello, nonce):
    """The proof of one side on one stream."""
    lines = [PROTOCOL, side, hello["run"], hello["machine"], str(hello["attempt"]),
             hello["session"], hello["nonce"], nonce]
    return hmac.new(secret.encode(), ("\n".join(lines) + "\n").encode(), hashlib.sha256).hexdigest()


class Link:
    """A session with the agent that `words` reaches: orders are said again after a cut, and each
    piece of news is heard once."""

    def __init__(self, words, machine="vm1", attempt=1, secret=SECRET, session=None, **started):
        self.words, self.started = words, started
        self.hello = {"protocol": PROTOCOL, "version": "test", "run": "e2e", "machine": machine,
                      "attempt": attempt, "session": session or os.urandom(8).hex(), "nonce": "",
                      "secret": secret, "heard": 0}
        self.secret = secret
        self.carrier = None
        self.orders = {}  # By number, until they are acknowledged.
        self.number = 0
        self.news = []
        self.agents = []  # Names of those that joined, in their order.
        self.standing = []
        self._bytes = b""

    def write(self, text):
        """Says bytes; a carrier that is gone hears nothing."""
        data = text if isinstance(text, bytes) else text.encode()
        try:
            while data:
                data = data[self.carrier.stdin.write(data):]
        except OSError:
            pass

    def say(self, **message):
        """Says a message."""
        self.write(json.dumps({"number": 0} | message) + "\n")

    def order(self, **order):
        """Gives a numbered order."""
        self.number += 1
        self.orders[self.number] = {"number": self.number} | order
        if self.carrier:
            self.say(**self.orders[self.number])

    def start(self, words, process=0, **more):
        """Orders to start a process."""
        start = {"process": process, "role": "worker", "attempt": self.hello["attempt"],
                 "rank": process, "words": words, "folder": "", "mark": ""}
        self.order(start=start | more)

    def line(self, seconds=SECONDS_MAX):
        """The next message; none at the end of the stream or of the time."""
        end = time.monotonic() + seconds
        while b"\n" not in self._bytes:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.carrier.stdout], [], [], left)[0]:
                return None
            data = os.read(self.carrier.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self._bytes += data
        line, self._bytes = self._bytes.split(b"\n", 1)
        return json.loads(line)

    def call(self):
        """Opens a stream, on which nothing is said yet."""
        self.hang_up()
        self._bytes = b""
        self.carrier = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        bufsize=0, start_new_session=True, **self.started)

    def connect(self):
        """Joins; the agent's last message, which is `joined` if all went well."""
        self.call()
        self.hello["nonce"] = os.urandom(16).hex()
        self.say(hello=self.hello)
        message = self.line()
        if not message or "welcome" not in message:
            return message
        welcome = message["welcome"]
        expect(welcome["proof"] == proof(self.secret, "agent", self.hello, welcome["nonce"]),
               "the agent's proof is wrong")
        self.say(proof=proof(self.secret, "runner", self.hello, welcome["nonce"]))
        message = self.line()
        if not message or "joined" not in message:
            return message
        joined = message["joined"]
        if self.hello.get("agent") != welcome["agent"]:
            self.hello["heard"] = joined["acknowledged"]
            self.agents.append(welcome["agent"])
        self.hello["agent"] = welcome["agent"]
        self.standing = joined.get("processes", [])
        self._acknowledge(joined["heard"])
        for order in self.orders.values():
            self.say(**order)
        return message

    def _acknowledge(self, number):
        self.orders = {key: order for key, order in self.orders.items() if key > number}

    def take(self, seconds=SECONDS_MAX):
        """The next numbered news, which is acknowledged. None at the end of the stream."""
        while message := self.line(seconds):
            if "heard" in message and not message.get("number"):
                self._acknowledge(message["heard"])
                continue
            if not message.get("number"):
                return message
            if message["number"] <= self.hello["heard"]:
                continue
            expect(message["number"] == self.hello["heard"] + 1,
                   f"news {message['number']} after {self.hello['heard']}")
            self.hello["heard"] += 1
            self.say(heard=self.hello["heard"])
            self.news.append(message)
            return message
        return None

    def hear(self, wanted, seconds=SECONDS_MAX):
        """News until one that is wanted, which is returned; joins again after cuts."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            message = self.take(end - time.monotonic())
            if message is None:
                self.connect()
            elif wanted(message):
                return message
        raise Failure(f"not heard in {seconds} s; the last news: {self.news[-5:]}")

    def hear_kind(self, kind, **facts):
        """The next news of a kind."""
        return self.hear(lambda it: kind in it and (not facts or facts.items() <= it[kind].items())
                         )[kind]

    def hear_said(self, kind, process=None):
        """The next message of a worker of this kind; what it says."""
        message = self.hear(lambda it: "said" in it and kind in it["said"]["message"] and
                            process in (None, it["said"]["process"]))
        return message["said"]["message"][kind]

    def lines(self, process=0):
        """What a process printed, as far as it was heard."""
        return [it["log"]["line"] for it in self.news
                if "log" in it and it["log"]["process"] == process]

    def cut(self):
        """Kills the carrier, as a network does that fails."""
        if self.carrier and self.carrier.poll() is None:
            os.killpg(self.carrier.pid, signal.SIGKILL)

    def hang_up(self):
        """Ends the stream."""
        if not self.carrier:
            return
        self.cut()
        self.carrier.wait()
        self.carrier.stdin.close()
        self.carrier.stdout.close()
        self.carrier = None

    def leave(self):
        """Has the agent end, and waits for its last news."""
        if not self.carrier:
            return
        self.order(leave=True)
        self.hear(lambda it: "leaving" in it)
        self.hang_up()
