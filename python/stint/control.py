"""The channel between a worker and the program that runs it: JSON lines over a socket."""

import json
import math
import os
import queue
import socket
import sys
import threading

EXIT_ALONE = 3  # The runner has ended.
LOOK_AGAIN = 0.1  # Seconds.


class Control:
    """Sends events, and keeps orders until the training loop takes them.

    An order that ends the present group may find the training loop inside an all-reduce that never
    ends, because a machine was lost without notice. So `interrupt` is called repeatedly until the
    order has been taken, with the reason and the attempt that must not be interrupted.
    """

    def __init__(self, connection, interrupt):
        self._connection = connection
        self._interrupt = interrupt
        self._lock = threading.Lock()
        self._orders = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    @staticmethod
    def from_environment(interrupt, variables=os.environ):
        """The channel that `stint run` opened for this process, or None outside of it."""
        number = variables.pop("STINT_CONTROL", None)  # Processes that this one starts have none.
        if not number:
            return None
        connection = socket.socket(fileno=int(number))
        connection.set_inheritable(False)
        return Control(connection, interrupt)

    def tell(self, kind, **facts):
        """Sends one line; the reader detects a runner that has ended."""
        line = (json.dumps({kind: facts}) + "\n").encode()
        try:
            with self._lock:
                self._connection.sendall(line)
        except OSError:
            pass

    def next(self, wait):
        """The next order as (kind, facts). None: there is none, after a wait if one was
        requested."""
        try:
            kind, facts, taken = self._orders.get(block=wait)
        except queue.Empty:
            return None
        taken.set()
        return kind, facts

    def _read(self):
        try:
            with self._connection.makefile("r", encoding="utf-8") as lines:
                for line in lines:
                    [(kind, facts)] = json.loads(line).items()
                    if self._hand_over(kind, facts) == "end":
                        return  # From here on the runner may end.
        except (OSError, ValueError) as problem:
            print(f"stint: {problem}", file=sys.stderr)
        print("stint: the stint process of this training is gone", file=sys.stderr, flush=True)
        os._exit(EXIT_ALONE)  # The training loop may be blocked anywhere.

    def _hand_over(self, kind, facts):
        taken = threading.Event()
        self._orders.put((kind, facts, taken))
        while kind in ("train", "end") and not taken.wait(LOOK_AGAIN):
            self._interrupt("the runner has other orders", facts.get("attempt", math.inf))
        return kind
