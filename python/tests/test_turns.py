"""Two jobs of two DistributedDataParallel workers each share two emulated accelerators, over this
computer's loopback. Skips without torch; STINT_TURNSTILE_LIBRARY names the library."""

import itertools
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from fake_runner import WAIT, Forked, Worker, train
from ports import free_port

try:
    import torch
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # For forks of this process.
torch.set_num_threads(1)

# A plain script, but that it trains once for each mode that it is told. Batches are normalised in
# job a, which sends buffers between machines before each forward; small buckets make several of them.
SCRIPT = """
import json, sys, time
import torch
import torch.distributed as dist
from torch import nn
job, modes, steps, accumulate, evaluate = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
torch.set_num_threads(1)
dist.init_process_group("gloo")
width = 64 if job == "a" else 96
def train(mode):
    torch.manual_seed(dist.get_rank() + 10)
    net = nn.Sequential(nn.Linear(32, width), nn.BatchNorm1d(width) if job == "a" else nn.Identity(),
                        nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 8))
    model = nn.parallel.DistributedDataParallel(net, bucket_cap_mb=0.02)
    optimizer = (torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9) if job == "a"
                 else torch.optim.Adam(net.parameters(), lr=0.01))
    def loss():
        return nn.functional.cross_entropy(model(torch.randn(16, 32)), torch.randint(8, (16,)))
    for step in range(steps):
        optimizer.zero_grad()
        for _ in range(accumulate - 1):
            with model.no_sync():
                loss().backward()
        loss().backward()
        optimizer.step()
        if evaluate and step % 10 == 0:
            model.eval()
            with torch.no_grad():
                model(torch.randn(4, 32))
            model.train()
    torch.save(net.state_dict(), f"{mode}.{job}.{dist.get_rank()}")
for mode in modes.split(","):
    if mode != "alone":
        from stint import turns
        turns.current().mode = mode
    begin = time.monotonic()
    train(mode)
    with open(f"{job}.{dist.get_rank()}.times", "a") as file:
        print(json.dumps([mode, begin, time.monotonic()]), file=file)
"""

# How a fork of this process, which has imported torch already, starts a script.
FORKED = """
import os, runpy, sys
from stint import turns, turns_ddp
turns_ddp.install()
os.chdir(sys.argv.pop(1))
sys.stdout = open(os.devnull, "w")
runpy.run_path(sys.argv.pop(1), run_name="__main__")
if turns.current():
    turns.current().leave()  # Forks do not do what is to be done at exit.
"""

PACED = {"gradient_bytes": "2 MB",
         "buckets": [{"bytes": "1048576 B", "ready": 0.5}, {"bytes": "951424 B", "ready": 1}],
         "compute": [{"device": "T4", "batch_per_worker": 8, "forward": {"median": "20 ms"},
                      "backward": {"median": "40 ms"}, "update": {"median": "0 ms"}}]}


class Cluster:
    """Starts jobs that share two accelerators in a folder."""

    def __init__(self, folder):
        self.folder = Path(folder)
        (self.folder / "train.py").write_text(SCRIPT)
        (self.folder / "forked.py").write_text(FORKED)
        (self.folder / "job.json").write_text(json.dumps(PACED))

    def start(self, job, words, turns=True, **variables):
        """The two workers of a job, as forks or, with `apart`, as a user starts them."""
        apart = variables.pop("apart", False)
        port = free_port()
        workers = []
        for rank in range(2):
            world = dict(os.environ, RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK="0",
                         MASTER_ADDR="127.0.0.1", MASTER_PORT=port, GLOO_SOCKET_IFNAME="lo",
                         PYTHONPATH=f"{ROOT}/stint_site:{ROOT}", OMP_NUM_THREADS="1",
                         PYTHONDONTWRITEBYTECODE="1")
            if turns:
                world |= {"STINT_TURNSTILE": f"{self.folder}/accelerator{rank}",
                          "STINT_TURNS_JOB": job, "STINT_TURNS_LIMIT": f"{WAIT} s",
                          "STINT_TURNS_ORDER": "0" if job == "a" else "1",
                          "STINT_TURNS_LOG": str(self.log(job, rank)), **variables}
            workers.append(Apart(words, world, self.folder) if apart else Forked(
                [str(self.folder / "forked.py"), str(self.folder), *words], world))
        return workers

    def train(self, job, modes, steps=200, accumulate=1, evaluate=0, **variables):
        """Starts the script above."""
        return self.start(job, ["train.py", job, modes, str(steps), str(accumulate),
                                str(evaluate)], modes != "alone", **variables)

    def pace(self, job, steps):
        """Starts a paced job."""
        return self.start(job, [str(ROOT / "stint/paced.py"), "--job", "job.json", "--batch", "8",
                                "--steps", str(steps)])

    def times(self, job, rank):
        """When a worker trained in which mode."""
        lines = (self.folder / f"{job}.{rank}.times").read_text().splitlines()
        return {mode: (begin, end) for mode, begin, end in map(json.loads, lines)}

    def log(self, job, rank):
        """Where a worker writes its turns."""
        return self.folder / f"{job}.{rank}.log"

    def turns(self, job, rank, begin=0.0, end=math.inf):
        """The turns that a worker had between two moments, as (begin, end)."""
        path = self.log(job, rank)
        every = [tuple(json.loads(line)["turn"].values())
                 for line in (path.read_text().splitlines() if path.exists() else [])]
        return [one for one in every if begin <= one[0] <= end]

    def parameters(self, mode, job, rank):
        """What a worker trained."""
        return torch.load(self.folder / f"{mode}.{job}.{rank}")


class Apart:
    """A process of its own, with the calls of Forked."""

    def __init__(self, words, environment, folder):
        self._process = subprocess.Popen([sys.executable, *words], env=environment, cwd=folder,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._said = ""

    def wait(self, seconds=WAIT):
        """Its exit code."""
        if self._process.returncode is None:
            self._said = self._process.communicate(timeout=seconds)[0]
        return self._process.returncode

    def signal(self, number):
        """Sends a signal."""
        self._process.send_signal(number)

    def errors(self):
        """What it wrote."""
        return self._said

    def close(self):
        """After it has ended."""


def end(workers):
    """Kills those that have not ended."""
    for worker in workers:
        worker.signal(signal.SIGKILL)
        worker.wait()
        worker.close()


def finish(workers):
    """Waits until all have ended well."""
    try:
        for worker in workers:
            code = worker.wait()
            if code:
                raise AssertionError(f"a worker ended with {code}: {worker.errors()}")
    finally:
        end(workers)


class TurnsTest(unittest.TestCase):
    """Names are sentences."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(folder.cleanup)
        self.cluster = Cluster(folder.name)

    def check_apart(self, end=math.inf):
        """Nobody had a turn while another had one, up to a moment."""
        for rank in range(2):
            both = sorted(self.cluster.turns("a", rank, end=end)
                          + self.cluster.turns("b", rank, end=end))
            for (_, end), (begin, _) in zip(both, both[1:]):
                self.assertLessEqual(end, begin)

    def check_equal(self, mode, job, rank):
        """The job trained to the same bits as alone."""
        alone = self.cluster.parameters("alone", job, rank)
        shared = self.cluster.parameters(mode, job, rank)
        self.assertEqual(alone.keys(), shared.keys())
        for key in alone:
            self.assertTrue(torch.equal(alone[key], shared[key]), (mode, job, rank, key))

    def test_jobs_that_take_turns_train_to_the_bits_of_jobs_alone(self):
        finish(self.cluster.train("a", "alone") + self.cluster.train("b", "alone"))
        modes = ("whole", "bucket", "free")
        workers = [self.cluster.train(job, ",".join(modes)) for job in "ab"]
        finish(workers[0] + workers[1])
        freely = []  # When: slices that are handed round fast are not told apart.
        for job, rank in itertools.product("ab", range(2)):
            times = self.cluster.times(job, rank)
            freely.append(times["free"][0])
            for mode in modes:
                self.check_equal(mode, job, rank)
            for mode in ("whole", "bucket"):
                self.assertEqual(len(self.cluster.turns(job, rank, *times[mode])), 200)
        self.check_apart(min(freely))

    def test_micro_batches_and_their_reduction_are_one_turn_and_evaluation_has_its_own(self):
        finish(self.cluster.train("a", "alone", steps=20, accumulate=3, evaluate=1))
        finish(self.cluster.train("a", "whole,bucket", steps=20, accumulate=3, evaluate=1,
                                  apart=True))
        for mode in ("whole", "bucket"):
            # Steps 0 and 10 of 20 are followed by an evaluation.
            times = self.cluster.times("a", 0)[mode]
            self.assertEqual(len(self.cluster.turns("a", 0, *times)), 22)
            self.check_equal(mode, "a", 0)

    def test_a_turn_that_is_held_for_the_update_is_given_before_anything_is_waited_for(self):
        finish(self.cluster.train("a", "whole", steps=20, STINT_TURNS_UPDATE="held")
               + self.cluster.train("b", "whole", steps=20, STINT_TURNS_UPDATE="held"))
        # Job a sends buffers before each forward pass: a turn for that pass and one for the update.
        self.assertEqual(len(self.cluster.turns("a", 0)), 40)
        # Job b goes on with the turn of the update; only the second pass, before which buckets are
        # rebuilt, and the first have turns of their own.
        self.assertEqual(len(self.cluster.turns("b", 0)), 22)
        self.check_apart()

    def wait_for_turns(self, job, rank, count, begin=0.0):
        """Waits until a worker has had more turns than these since a moment."""
        deadline = time.monotonic() + WAIT
        while len(self.cluster.turns(job, rank, begin)) <= count:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.001)

    def test_paced_jobs_take_turns_and_that_of_a_killed_one_passes_on(self):
        a, b = self.cluster.pace("a", 100_000), self.cluster.pace("b", 100_000)
        try:
            for job in "ab":
                self.wait_for_turns(job, 0, 5)
            # In the middle of a turn of a, which is right after one of b.
            self.wait_for_turns("b", 0, len(self.cluster.turns("b", 0)))
            time.sleep(0.02)
            killed = time.monotonic()
            for worker in a:
                worker.signal(signal.SIGKILL)
            for rank in range(2):
                self.wait_for_turns("b", rank, 3, killed)
        finally:
            end(a + b)
        self.check_apart()
        for rank in range(2):
            # 20 and 40 ms; one that begins late is shorter.
            longest = max(end - begin for begin, end in self.cluster.turns("a", rank))
            self.assertGreater(longest, 0.055)


# As under `stint run`, where workers come and go. A step computes for 5 ms and more.
JOB = """
import sys, time
import torch, stint
from torch import nn
class Slow(nn.Module):
    def forward(self, inputs):
        time.sleep(0.005)
        return inputs
torch.manual_seed(3)
points = torch.randn(64, 8, generator=torch.Generator().manual_seed(1))
data = torch.utils.data.TensorDataset(points, (points.sum(dim=1) > 0).long())
model = nn.Sequential(nn.Linear(8, 16), Slow(), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
job = stint.job(model, optimizer, batch=8, steps=40)
for step in job.steps(data):
    with step:
        for inputs, labels in step.micro_batches():
            step.backward(nn.functional.cross_entropy(job.model(inputs), labels))
        optimizer.step()
    with torch.no_grad():
        job.model(points[:4])  # An evaluation.
torch.save(model.state_dict(), sys.argv[1])
"""
STEPS = 40


class JobTest(unittest.TestCase):
    """Jobs of stint.job, driven as `stint run` drives them. Names are sentences."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "job.py").write_text(JOB)

    def worker(self, job, rank, mode):
        """A worker on the accelerator of its rank."""
        one = Worker([str(self.folder / "job.py"), str(self.folder / f"{mode}.{job}.{rank}")],
                     STINT_TURNSTILE=str(self.folder / f"{mode}.accelerator{rank}"),
                     STINT_TURNS=mode, STINT_TURNS_JOB=job, STINT_TURNS_LIMIT=f"{WAIT} s",
                     STINT_TURNS_ORDER="0" if job == "a" else "1",
                     STINT_TURNS_LOG=str(self.folder / f"{mode}.{job}.{rank}.log"))
        self.addCleanup(one.close)
        return one

    def turns(self, mode, job, rank):
        """Of a worker."""
        path = self.folder / f"{mode}.{job}.{rank}.log"
        return [tuple(json.loads(line)["turn"].values()) for line in path.read_text().splitlines()]

    def test_a_job_that_loses_a_worker_regroups_and_takes_turns_also_when_one_is_left(self):
        for mode in ("whole", "bucket"):
            with self.subTest(mode):
                a, b = ([self.worker(job, rank, mode) for rank in range(2)] for job in "ab")
                train(a, 1, [4, 4])
                train(b, 1, [4, 4])
                a[0].reach(8)
                a[1].kill()
                a[0].hear("lost_peer")
                train(a[:1], 2, [8])
                for one in (a[0], *b):
                    self.assertEqual(one.hear("finished")["step"], STEPS)
                for one in (a[0], *b):
                    one.order("end")
                    self.assertEqual(one.process.wait(), 0)
                trained = [torch.load(self.folder / f"{mode}.{name}") for name in ("a.0", "b.0", "b.1")]
                for key, value in trained[0].items():
                    self.assertTrue(torch.equal(trained[1][key], trained[2][key]), key)
                    # The same training, but for the order of additions.
                    self.assertTrue(torch.allclose(value, trained[1][key], rtol=0, atol=1e-5), key)
                # A turn for each step, with others or alone, and one for each evaluation.
                self.assertGreaterEqual(len(self.turns(mode, "a", 0)), 2 * STEPS)
                self.assertEqual(len(self.turns(mode, "b", 0)), 2 * STEPS)
                for rank in range(2):
                    both = sorted(self.turns(mode, "a", rank) + self.turns(mode, "b", rank))
                    for (_, end), (begin, _) in zip(both, both[1:]):
                        self.assertLessEqual(end, begin)


class ErrorTest(unittest.TestCase):
    """Names are sentences."""

    def run_script(self, text, **variables):
        """How a script ends that is started with a turnstile."""
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            world = dict(os.environ, PYTHONPATH=f"{ROOT}/stint_site:{ROOT}", RANK="0",
                         WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT=free_port(),
                         GLOO_SOCKET_IFNAME="lo", PYTHONDONTWRITEBYTECODE="1",
                         STINT_TURNSTILE=f"{folder}/turnstile", **variables)
            return subprocess.run([sys.executable, "-c", text], env=world, text=True, timeout=600,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def test_a_script_that_cannot_take_turns_does_not_train(self):
        done = self.run_script("import torch; print('trains')", STINT_TURNSTILE_LIBRARY="/none.so")
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot take turns: libstint_turnstile.so is missing", done.stdout)
        self.assertNotIn("trains", done.stdout)

    def test_what_would_wait_with_the_turn_is_refused(self):
        done = self.run_script("""
import torch, torch.distributed as dist
dist.init_process_group("gloo")
net = torch.nn.Linear(2, 2)
model = torch.nn.parallel.DistributedDataParallel(net)
try:
    model._register_builtin_comm_hook(dist.BuiltinCommHookType.ALLREDUCE)
except Exception as problem:
    print(problem)
try:
    torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(net, torch.nn.SyncBatchNorm(2)))
except Exception as problem:
    print(problem)
try:
    torch.nn.parallel.DistributedDataParallel(net, find_unused_parameters=True)
except Exception as problem:
    print(problem)
""", STINT_TURNS_UPDATE="held")
        self.assertIn("find_unused_parameters", done.stdout)
        self.assertIn("built-in communication hook", done.stdout)
        self.assertIn("SyncBatchNorm waits for other machines", done.stdout)

    def test_a_hook_of_the_scripts_own_is_kept_and_models_can_be_copied(self):
        done = self.run_script("""
import copy, io, torch, torch.distributed as dist
from stint import turns
dist.init_process_group("gloo")
def twice(state, bucket):
    future = torch.futures.Future()
    future.set_result(bucket.buffer() * state)
    return future
for mode in ("whole", "bucket"):
    turns.current().mode = mode
    net = torch.nn.Linear(2, 2)
    model = torch.nn.parallel.DistributedDataParallel(net)
    model.register_comm_hook(2.0, twice)
    model(torch.ones(1, 2)).sum().backward()
    print(net.weight.grad.tolist())
    copy.deepcopy(net)(torch.ones(1, 2)).sum().backward()
    torch.save(net, io.BytesIO())
""")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.count("[[2.0, 2.0], [2.0, 2.0]]"), 2)

    def test_a_failed_reduction_is_an_error_and_not_an_endless_wait(self):
        done = self.run_script("""
import torch, torch.distributed as dist
dist.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
def fails(state, bucket):
    future = torch.futures.Future()
    future.set_exception(RuntimeError("the network is down"))
    return future
model.register_comm_hook(None, fails)
model(torch.ones(1, 2)).sum().backward()
""")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the network is down", done.stdout)


if __name__ == "__main__":
    unittest.main()
