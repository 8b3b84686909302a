"""The times of a job's profile, and a clock that follows them."""

import json
import re
import time

UNITS = {
    "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
    "s": 1, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60, "h": 3600,
}

FIRST_BUCKET = 2**20  # Size of DDP's first bucket,
NEXT_BUCKET = 25 * 2**20  # and of the others.

# Of the time at the only batch that was measured, what does not depend on the batch: fixed_share of
# data/calibration/devices.json, so that a run keeps the pace that was predicted.
FIXED_SHARE = 0.3478


def quantity(text):
    """The bytes or seconds of a text such as "25 MiB" or "3.5 ms"."""
    match = re.fullmatch(r"\s*([0-9.eE+-]+)\s*(\S+)\s*", str(text))
    if not match or match.group(2) not in UNITS:
        raise ValueError(f"'{text}' is not a number with a unit such as MB or ms")
    return float(match.group(1)) * UNITS[match.group(2)]


def usual_buckets(gradient_bytes):
    """The buckets of a profile without any: DDP's sizes, ready in proportion to their bytes."""
    sizes = []
    left = gradient_bytes
    while left > 0:
        sizes.append(min(left, NEXT_BUCKET if sizes else FIRST_BUCKET))
        left -= sizes[-1]
    done = 0
    buckets = []
    for size in sizes:
        done += size
        buckets.append((size, done / gradient_bytes))
    return buckets


class Pace:
    """How long the parts of one iteration take, and when gradients are ready.

    `buckets` holds (bytes, fraction of backward that is done) in the order they become ready.
    """

    def __init__(self, forward, backward, update, buckets):
        self.forward = forward
        self.backward = backward
        self.update = update
        self.buckets = buckets

    def compute(self):
        """The seconds of one iteration without communication."""
        return self.forward + self.backward + self.update


def _median(sample, part):
    return quantity(sample[part]["median"])


class Paces:
    """The paces of the job in the file `path`, for any batch."""

    def __init__(self, path, device=None, speed=1.0):
        with open(path, encoding="utf-8") as file:
            job = json.load(file)
        samples = [s for s in job.get("compute", []) if device in (None, s["device"])]
        if not samples:
            raise ValueError(f"{path} has no compute samples" + (f" of {device}" if device else ""))
        devices = sorted({s["device"] for s in samples})
        if len(devices) > 1:
            raise ValueError(f"{path} was measured on {', '.join(devices)}: choose with --device")
        self._samples = sorted(samples, key=lambda s: s["batch_per_worker"])
        self._speed = speed
        self._buckets = [(int(quantity(b["bytes"])), float(b["ready"]))
                         for b in job.get("buckets", [])]
        if not self._buckets:
            self._buckets = usual_buckets(int(quantity(job["gradient_bytes"])))

    def measured(self):
        """The batches that were measured, from the smallest."""
        return [s["batch_per_worker"] for s in self._samples]

    def at(self, batch):
        """The pace with `batch` samples. Between two measured batches times are interpolated;
        outside of them forward and backward are in proportion to the nearest. Where one batch was
        measured, FIXED_SHARE of its time stays as it is."""
        measured = self.measured()
        near = min(max(batch, measured[0]), measured[-1])
        fixed = FIXED_SHARE if measured[0] == measured[-1] else 0
        scale = (fixed + (1 - fixed) * batch / near) / self._speed
        return Pace(self._part("forward", near) * scale, self._part("backward", near) * scale,
                    self._part("update", near) / self._speed, self._buckets)

    def _part(self, part, batch):
        low = [s for s in self._samples if s["batch_per_worker"] <= batch][-1]
        high = [s for s in self._samples if s["batch_per_worker"] >= batch][0]
        width = high["batch_per_worker"] - low["batch_per_worker"]
        share = (batch - low["batch_per_worker"]) / width if width else 0
        return (1 - share) * _median(low, part) + share * _median(high, part)


def read_pace(path, batch, device=None):
    """The pace of the job in the file `path` with `batch` samples per worker. Outside of the
    measured batches that is refused."""
    paces = Paces(path, device)
    measured = paces.measured()
    if not measured[0] <= batch <= measured[-1]:
        raise ValueError(f"a batch of {batch} is outside the measured batch sizes "
                         f"({', '.join(map(str, measured))})")
    return paces.at(batch)


class Stream:
    """A clock like that of a GPU's stream: work follows work, however late the program wakes up."""

    def __init__(self, now=time.monotonic, sleep=time.sleep, away=lambda: 0.0):
        self._now = now
        self._sleep = sleep
        self._away = away  # Total time for which the clock was stopped.
        self.at = now()

    def wait_until(self, moment):
        """Sleeps to `moment`, which the stream has then reached. It never spins, because the cores
        are shared with the other workers and the network."""
        left = moment - self._now()
        if left > 0:
            self._sleep(left)
        self.at = moment

    def wall(self):
        """The position of the stream, on a clock that never stops."""
        return self.at + self._away()

    def catch_up(self):
        """The stream waited for an external event, such as gradients, until now. An event that
        ended while the stream still had work does not move it."""
        self.at = max(self.at, self._now())


def pieces(size, limit):
    """Tensor sizes in bytes, multiples of 4, that add up to `size` and that DDP keeps in one bucket
    when it closes a bucket at `limit`: only the last piece reaches it. The pieces are small,
    because DDP's work on the last one delays the bucket.
    """
    small = 2**20
    # A bucket beyond the limit ends with one large tensor, as it must have in the job itself.
    room = min(size - 4, limit - 4) // 4 * 4
    sizes = []
    while room >= small and size - sum(sizes) > small:
        sizes.append(small)
        room -= small
    sizes.append((size - sum(sizes)) // 4 * 4)
    return sizes


def ready_pieces(buckets):
    """The tensors of all buckets as (bytes, fraction of backward), in the order they are ready: the
    last one of a bucket when the bucket is, the others evenly since the bucket before.
    """
    tensors = []
    before = 0.0
    for index, (size, ready) in enumerate(buckets):
        sizes = pieces(size, NEXT_BUCKET if index else FIRST_BUCKET)
        for number, part in enumerate(sizes):
            tensors.append((part, before + (ready - before) * (number + 1) / len(sizes)))
        before = ready
    return tensors


def median(values):
    """The median of `values`."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def spread(values):
    """Robust standard deviation: 1.4826 times the median deviation from the median."""
    middle = median(values)
    return 1.4826 * median([abs(value - middle) for value in values])
