"""Tests of the binding to libstint_turnstile.so, which STINT_TURNSTILE_LIBRARY names, and of turns
without torch."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from stint import turns  # noqa: E402
from stint.turnstile import (TurnError, Turnstile, TurnTimeout, library_places,  # noqa: E402
                             load_library, status)

WAIT = 300  # Seconds for anything to happen; computers may be busy.

HOLDER = """
import sys, time
from stint.turnstile import Turnstile
Turnstile(sys.argv[1], "holder").take(100)
print("held", flush=True)
time.sleep(1000)
"""


class TurnstileTest(unittest.TestCase):
    """Names are sentences."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "turnstile")

    def member(self, name, **terms):
        """Joins, and leaves at the end."""
        one = Turnstile(self.path, name, **terms)
        self.addCleanup(one.leave)
        return one

    def test_turns_go_from_one_to_the_other(self):
        a, b = self.member("a"), self.member("b")
        a.take(1)
        a.take(1)  # Has it.
        thread = threading.Thread(target=b.take, args=(WAIT,))
        thread.start()
        self.wait_until_waiting(1)
        a.give()
        thread.join()
        said = status(self.path)
        self.assertEqual([one["state"] for one in said["members"]], ["idle", "holding"])
        self.assertEqual([one["turns"] for one in said["members"]], [1, 1])
        self.assertEqual(said["members"][1]["process"], os.getpid())
        with self.assertRaisesRegex(TurnError, "only the holder"):
            a.give()

    def test_at_the_limit_the_error_names_the_holder(self):
        a, b = self.member("first"), self.member("b")
        a.take(1)
        with self.assertRaisesRegex(TurnTimeout, r"within 0.02 s; first \(process \d+\) has held"):
            b.take(0.02)
        a.give()
        b.take(1)

    def test_an_offer_hands_the_turn_round(self):
        a, b = self.member("a"), self.member("b")
        a.take(1)
        a.offer(0, 1)  # Nobody wants it.
        order = []

        def other():
            b.take(WAIT)
            order.append("b")
            b.give()

        thread = threading.Thread(target=other)
        thread.start()
        self.wait_until_waiting(1)
        a.offer(0, WAIT)
        order.append("a")
        thread.join()
        self.assertEqual(order, ["b", "a"])
        self.assertEqual(status(self.path)["turns"], 3)

    def test_what_is_wrong_is_said(self):
        with self.assertRaisesRegex(TurnError, "needs a name"):
            Turnstile(self.path, "")
        Path(self.path + ".other").write_text("x")
        os.chmod(self.path + ".other", 0o600)
        with self.assertRaisesRegex(TurnError, "it is from another version of Stint"):
            Turnstile(self.path + ".other", "a")
        with self.assertRaisesRegex(TurnError, "cannot be opened"):
            status(self.path + ".none")
        with self.assertRaisesRegex(TurnError, "is missing .*/none.so.*: set STINT_TURNSTILE_LIB"):
            load_library({"STINT_TURNSTILE_LIBRARY": "/none.so"})

    def test_the_library_is_looked_for_beside_the_program(self):
        program = Path(self.folder.name, "bin/stint")
        program.parent.mkdir()
        program.touch(0o755)
        places = library_places({"PATH": str(program.parent)})
        self.assertEqual([str(one.parent) for one in places],
                         [str(ROOT / "stint"), str(program.parent), self.folder.name + "/lib"])

    def wait_until_waiting(self, number):
        """Waits until a member is in the queue."""
        deadline = time.monotonic() + WAIT
        while status(self.path)["members"][number]["state"] != "waiting":
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.001)

    def test_the_turn_of_a_killed_process_passes_on(self):
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, self.path], text=True,
                                  stdout=subprocess.PIPE, env=dict(os.environ, PYTHONPATH=ROOT))
        self.assertEqual(holder.stdout.readline(), "held\n")
        waited = []
        mine = self.member("a")

        def wait():
            mine.take(WAIT)
            waited.append(time.monotonic())

        thread = threading.Thread(target=wait)
        thread.start()
        self.wait_until_waiting(1)
        self.assertFalse(waited)
        holder.send_signal(signal.SIGKILL)
        thread.join()
        self.assertTrue(waited)
        holder.wait()
        holder.stdout.close()


class TurnsTest(unittest.TestCase):
    """Names are sentences."""

    def make(self, folder, name, **variables):
        """The turns of a job."""
        return turns.from_environment({
            "STINT_TURNSTILE": folder + "/turnstile-{local_rank}", "LOCAL_RANK": "1",
            "STINT_TURNS_JOB": name, "STINT_TURNS_LOG": f"{folder}/{name}",
            "STINT_TURNSTILE_LIBRARY": os.environ["STINT_TURNSTILE_LIBRARY"], **variables})

    def lines(self, folder, name):
        """The turns that were recorded, as (begin, end)."""
        said = Path(folder, name).read_text(encoding="utf-8").splitlines()
        return [tuple(json.loads(line)["turn"].values()) for line in said]

    def test_without_a_turnstile_nothing_happens(self):
        self.assertIsNone(turns.from_environment({}))
        turns.take()
        turns.give()
        now, sleep, away = turns.clock()
        self.assertIs(now, time.monotonic)
        self.assertIs(sleep, time.sleep)
        self.assertEqual(away(), 0)

    def test_bad_variables_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(TurnError, "one of whole, bucket, free, not 'often'"):
                self.make(folder, "a", STINT_TURNS="often")
            with self.assertRaisesRegex(ValueError, "not a number with a unit"):
                self.make(folder, "a", STINT_TURNS_LIMIT="7")

    def test_the_clock_of_computing_stands_still_while_a_job_waits(self):
        with tempfile.TemporaryDirectory() as folder:
            a, b = self.make(folder, "a"), self.make(folder, "b")
            a.take()

            def give():
                while status(folder + "/turnstile-1")["members"][1]["state"] != "waiting":
                    time.sleep(0.001)
                time.sleep(0.05)
                a.give()

            giver = threading.Thread(target=give)
            giver.start()
            before, wall = b.now(), time.monotonic()
            b.take()
            # What else it did between these lines counts, the wait of at least 50 ms does not.
            own = b.now() - before
            self.assertGreater(time.monotonic() - wall - own, 0.049)
            b.give()
            b.give()  # Does nothing.
            giver.join()  # A turn is written down after it was given.
            self.assertEqual(len(self.lines(folder, "b")), 1)
            self.assertLessEqual(self.lines(folder, "a")[0][1], self.lines(folder, "b")[0][0] + 0.001)
            a.leave()
            b.leave()

    def test_sharing_freely_both_compute_in_slices(self):
        with tempfile.TemporaryDirectory() as folder:
            jobs = [self.make(folder, name, STINT_TURNS="free") for name in "ab"]
            clocks = []

            begun = threading.Barrier(2)

            def compute(job):
                begun.wait()
                job.take()
                begin = job.now()
                job.sleep(0.2)
                clocks.append(job.now() - begin)
                job.give()

            wall = time.monotonic()
            threads = [threading.Thread(target=compute, args=(job,)) for job in jobs]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            # One at a time: twice 200 ms, each of them by its own clock.
            self.assertGreater(time.monotonic() - wall, 0.399)
            for clock in clocks:
                self.assertGreater(clock, 0.1999)
            # Slices of 2 ms, if they are woken in time; more than one at least.
            self.assertGreater(min(len(self.lines(folder, name)) for name in "ab"), 1)
            for job in jobs:
                job.leave()


if __name__ == "__main__":
    unittest.main()
