"""Tests of what a profile says about time, and of the clock that keeps to it. They need no torch."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from stint.pace import (FIRST_BUCKET, FIXED_SHARE, NEXT_BUCKET, Paces, Stream,  # noqa: E402
                        median, pieces, quantity, read_pace, ready_pieces, spread, usual_buckets)


def profile(**changes):
    """The path of a profile measured at batches of 16 and 32."""
    job = {"gradient_bytes": "30 MB",
           "buckets": [{"bytes": "1 MiB", "ready": 0.1}, {"bytes": "10 MB", "ready": 1}],
           "compute": [{"device": "T4", "batch_per_worker": batch,
                        "forward": {"median": f"{batch} ms"},
                        "backward": {"median": f"{2 * batch} ms"},
                        "update": {"median": "3 ms"}} for batch in (16, 32)]}
    job.update(changes)
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
        json.dump(job, file)
    return file.name


class FakeTime:
    """A clock that only sleeping moves, and that wakes a millisecond late."""

    def __init__(self):
        self.time = 100.0

    def now(self):
        """The time."""
        return self.time

    def sleep(self, seconds):
        """Oversleeps."""
        self.time += seconds + 0.001


class PaceTest(unittest.TestCase):
    """Names are sentences."""

    def read(self, batch, device=None, **changes):
        """Reads a profile and removes it."""
        path = profile(**changes)
        try:
            return read_pace(path, batch, device)
        finally:
            os.unlink(path)

    def test_quantities_carry_their_unit(self):
        self.assertEqual(quantity("1 MiB"), 2**20)
        self.assertAlmostEqual(quantity("2.5 ms"), 0.0025)
        for wrong in ("7", "7 parsecs", "ms", ""):
            with self.assertRaises(ValueError):
                quantity(wrong)

    def test_times_between_two_batches_are_interpolated(self):
        # Halfway from 16 to 32: 24 ms, 48 ms and 3 ms.
        pace = self.read(24)
        self.assertAlmostEqual(pace.forward, 0.024)
        self.assertAlmostEqual(pace.backward, 0.048)
        self.assertAlmostEqual(pace.compute(), 0.075)
        self.assertEqual(pace.buckets, [(2**20, 0.1), (10_000_000, 1.0)])

    def test_one_batch_is_not_in_proportion(self):
        # A part of 32 and 64 ms stays as it is with half of the samples; the update stays whole.
        path = profile()
        try:
            with open(path, encoding="utf-8") as file:
                job = json.load(file)
            job["compute"] = job["compute"][1:]
            with open(path, "w", encoding="utf-8") as file:
                json.dump(job, file)
            pace = Paces(path).at(16)
        finally:
            os.unlink(path)
        left = FIXED_SHARE + (1 - FIXED_SHARE) / 2
        self.assertAlmostEqual(pace.forward, 0.032 * left)
        self.assertAlmostEqual(pace.backward, 0.064 * left)
        self.assertAlmostEqual(pace.update, 0.003)

    def test_the_fixed_share_is_that_of_predictions(self):
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
        with open(os.path.join(root, "data/calibration/devices.json"), encoding="utf-8") as file:
            constants = {it["name"]: it["value"] for it in json.load(file)["constants"]}
        self.assertAlmostEqual(FIXED_SHARE, constants["fixed_share"], places=4)

    def test_what_was_not_measured_is_refused(self):
        with self.assertRaisesRegex(ValueError, "outside the measured batch sizes"):
            self.read(64)
        with self.assertRaisesRegex(ValueError, "no compute samples of V100"):
            self.read(16, device="V100")
        with self.assertRaisesRegex(ValueError, "no compute samples"):
            self.read(16, compute=[])

    def test_gradients_without_buckets_are_cut_as_ddp_does(self):
        # 30 MB are 1 MiB, 25 MiB and the rest.
        buckets = self.read(16, buckets=[]).buckets
        self.assertEqual([size for size, _ in buckets],
                         [FIRST_BUCKET, NEXT_BUCKET, 30_000_000 - FIRST_BUCKET - NEXT_BUCKET])
        self.assertEqual(buckets, usual_buckets(30_000_000))
        self.assertEqual(buckets[-1][1], 1.0)

    def test_only_the_last_piece_reaches_the_limit(self):
        for size, limit in ((FIRST_BUCKET, FIRST_BUCKET), (NEXT_BUCKET, NEXT_BUCKET),
                            (40 * 2**20, NEXT_BUCKET), (3 * 2**20, FIRST_BUCKET),
                            (1000, NEXT_BUCKET)):
            sizes = pieces(size, limit)
            self.assertEqual(sum(sizes), size)
            self.assertTrue(all(part > 0 and part % 4 == 0 for part in sizes))
            self.assertLess(sum(sizes[:-1]), limit)

    def test_the_last_piece_is_ready_when_its_bucket_is(self):
        tensors = ready_pieces([(FIRST_BUCKET, 0.2), (2 * 2**20, 0.6), (1000, 1.0)])
        self.assertEqual(tensors, [(FIRST_BUCKET, 0.2), (2**20, 0.4), (2**20, 0.6), (1000, 1.0)])

    def test_the_stream_does_not_drift_however_late_it_wakes(self):
        clock = FakeTime()
        stream = Stream(clock.now, clock.sleep)
        for _ in range(10):
            stream.wait_until(stream.at + 0.1)
        self.assertAlmostEqual(stream.at, 101.0)
        clock.time = 105.0
        stream.catch_up()
        self.assertAlmostEqual(stream.at, 105.0)

    def test_median_and_spread(self):
        # Deviations from 3 are 2, 1, 0, 1, 7: the middle one is 1.
        self.assertEqual(median([1, 2, 3, 4, 10]), 3)
        self.assertEqual(median([1, 2, 3, 4]), 2.5)
        self.assertAlmostEqual(spread([1, 2, 3, 4, 10]), 1.4826)


if __name__ == "__main__":
    unittest.main()
