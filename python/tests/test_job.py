"""Training that goes on when workers come and go, driven as `stint run` drives it. Skips without
torch."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest

from fake_runner import WAIT, FakeReceiver, Worker, save, train

try:
    import torch
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

torch.set_num_threads(1)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

BATCH = 8
STEPS = 30
SECRET = "ab" * 32

# The script holds on to things that a broken step leaves behind: the model and the last loss.
SCRIPT = """
import os, sys, time
import torch, stint
from torch import nn
steps, pause = int(sys.argv[2]), float(os.environ.get("PAUSE", 0))
torch.manual_seed(int(os.environ.get("SEED", 3)))
points = torch.randn(64, 8, generator=torch.Generator().manual_seed(1))
data = torch.utils.data.TensorDataset(points, (points.sum(dim=1) > 0).long())
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 7, 0.9)
job = stint.job(model, optimizer, scheduler, batch=8, steps=steps)
net = job.model
for step in job.steps(data):
    with step:
        for inputs, labels in step.micro_batches():
            loss = nn.functional.cross_entropy(net(inputs), labels)
            step.backward(loss)
        optimizer.step()
        scheduler.step()
    time.sleep(pause)
torch.save(model.state_dict(), sys.argv[1])
"""


class Base(unittest.TestCase):
    """Starts workers and cleans up after them."""

    alone = None  # The parameters of a training that nothing disturbs.

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="stint-job-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self._count = 0

    def worker(self, steps=STEPS, script=SCRIPT, **variables):
        """A new worker that waits for orders."""
        self._count += 1
        out = os.path.join(self.folder, f"out{self._count}")
        path = out + ".py"
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        one = Worker([path, out, str(steps)], **variables)
        one.out = out
        self.addCleanup(one.close)
        return one

    def workers(self, count, **variables):
        """Several of them."""
        return [self.worker(**variables) for _ in range(count)]

    def finish(self, workers, steps=STEPS):
        """Waits for the end of the training; returns the parameters of the first worker."""
        for one in workers:
            self.assertEqual(one.hear("finished")["step"], steps)
        for one in workers:
            one.order("end")
        for one in workers:
            self.assertEqual(one.process.wait(), 0)
        return torch.load(workers[0].out)

    def expected(self):
        """What any cluster must come to."""
        if Base.alone is None:
            one = self.worker()
            train([one], 1, [BATCH], micro_batch=0)
            Base.alone = self.finish([one])
        return Base.alone

    def assert_trained(self, parameters, tolerance=1e-5):
        """Parameters are those of the training alone, but for the order of additions."""
        for name, value in self.expected().items():
            self.assertTrue(torch.allclose(value, parameters[name], rtol=0, atol=tolerance), name)


def first_to_end(workers):
    """Waits for the end of any worker; returns it."""
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        for one in workers:
            try:
                one.process.wait(0)
                return one
            except TimeoutError:
                time.sleep(0.01)
    raise TimeoutError("no worker ended")


class ClustersChange(Base):
    """Names are sentences."""

    def test_uneven_shares_and_one_of_nothing_give_the_gradients_of_the_whole_batch(self):
        for shares in ([5, 2, 1], [0, 8]):
            with self.subTest(shares=shares):
                workers = self.workers(len(shares))
                train(workers, 1, shares, micro_batch=2)
                steps = [one.reach(STEPS) for one in workers]
                self.assertEqual([step["samples"] for step in steps], shares)
                self.assert_trained(self.finish(workers), 1e-6)

    def test_a_survivor_regroups_again_and_again_as_any_rank_down_to_one_and_up(self):
        first, *others = self.workers(5, PAUSE="0.02")
        train([first, others[0]], 1, [6, 2])
        first.reach(3)
        others[0].kill()
        lost = first.hear("lost_peer")
        self.assertEqual(lost["attempt"], 1)
        train([others[1], first], 2, [1, 7])
        self.assertGreaterEqual(others[1].hear("training")["step"], 3)
        first.hear("step", attempt=2)
        others[1].kill()
        first.hear("lost_peer", attempt=2)
        train([first], 3, [8])
        first.hear("step", attempt=3)
        train([first, others[2], others[3]], 4, [2, 5, 1])
        others[3].hear("step", attempt=4)
        others[3].kill()
        others[2].hear("lost_peer", attempt=4)
        train([others[2], first], 5, [4, 4])
        self.assert_trained(self.finish([others[2], first]))

    def test_workers_that_are_told_to_regroup_in_mid_step_lose_nothing(self):
        first, second, third = self.workers(3, PAUSE="0.01")
        train([first, second], 1, [4, 4])
        first.reach(4)
        train([third, second, first], 2, [3, 3, 2])  # Growth, while both are healthy.
        third.hear("step", attempt=2)
        train([second], 3, [8])  # The others are not told: their machines are given back.
        self.assert_trained(self.finish([second]))

    def test_a_worker_that_waits_for_one_that_never_comes_takes_new_orders(self):
        first, second = self.workers(2)
        for rank, worker in enumerate((first, second)):
            worker.hear("ready")
        train([first, second, self.silent()], 1, [4, 2, 2])
        time.sleep(0.3)
        train([second, first], 2, [4, 4])
        self.assert_trained(self.finish([second, first]))

    def test_one_that_finished_helps_one_that_did_not(self):
        first, second = self.workers(2)
        train([first], 1, [8])
        first.hear("finished")
        train([second, first], 2, [4, 4])
        self.assertEqual(second.hear("training")["step"], STEPS)
        self.assert_trained(self.finish([second, first]))

    def test_the_loss_of_a_step_is_the_sum_over_workers(self):
        first, second, alone = self.workers(3)
        train([alone], 1, [8], micro_batch=0)
        train([first, second], 1, [6, 2])
        for number in range(1, 6):
            parts = [one.hear("step", number=number)["loss"] for one in (first, second)]
            self.assertAlmostEqual(sum(parts), alone.hear("step", number=number)["loss"], 5)

    def test_end_in_the_middle_ends_the_script_without_a_result(self):
        one = self.worker(PAUSE="0.01")
        ready = one.hear("ready")
        self.assertEqual(ready, {"step": -1, "batch": BATCH, "steps": STEPS})
        train([one], 1, [8])
        one.reach(2)
        one.order("end")
        self.assertEqual(one.process.wait(), 0)
        self.assertFalse(os.path.exists(one.out))

    def test_workers_end_when_the_runner_is_gone(self):
        first, second = self.workers(2, PAUSE="0.01")
        train([first, second], 1, [4, 4])
        first.reach(2)
        second.process.signal(signal.SIGSTOP)  # So that the first one waits for it in a step.
        first.hang_up()
        self.assertEqual(first.process.wait(), 3)
        self.assertIn("is gone", first.process.errors())

    def test_a_mistake_of_the_script_is_not_taken_for_a_lost_worker(self):
        script = SCRIPT.replace("optimizer.step()", "raise RuntimeError('shapes differ')", 1)
        first, second = self.workers(2, script=script)
        train([first, second], 1, [4, 4])
        self.assertEqual(first.process.wait(), 1)
        self.assertIn("shapes differ", first.process.errors())

    def test_a_script_that_calls_its_own_model_is_told(self):
        first, second = self.workers(2, script=SCRIPT.replace("net = job.model", "net = model"))
        train([first, second], 1, [4, 4])
        # The other one may find its group broken first, and then waits for orders.
        told = first_to_end([first, second])
        self.assertEqual(told.process.wait(), 1)
        self.assertIn("call job.model", told.process.errors())

    def test_samples_are_those_that_the_model_really_saw(self):
        one = self.worker(script=SCRIPT.replace("net(inputs), labels",
                                                "net(inputs[:3]), labels[:3]"))
        train([one], 1, [8], micro_batch=4)
        self.assertEqual(one.reach(1)["samples"], 6)

    def test_a_broken_step_leaves_no_trace_in_averages(self):
        first, second = self.workers(2, PAUSE="0.01", script=SCRIPT.replace(
            "nn.Tanh()", "nn.BatchNorm1d(16)"))
        train([first, second], 1, [4, 4])
        first.reach(3)
        second.process.signal(signal.SIGSTOP)
        time.sleep(0.2)  # The first has gone forward and waits for the other's gradients.
        second.kill()
        first.hear("lost_peer")
        train([first], 2, [8], micro_batch=0)
        self.assertEqual(self.finish([first])["1.num_batches_tracked"], STEPS)

    def test_a_loss_in_the_middle_of_a_large_message_is_noticed_before_any_timeout(self):
        large = SCRIPT.replace("nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2)",
                               "nn.Linear(8, 400_000), nn.Linear(400_000, 2)")
        first, second = self.workers(2, script=large.replace("optim.Adam", "optim.SGD"),
                                     STINT_PEER_TIMEOUT="100000")
        train([first, second], 1, [4, 4])
        first.reach(2)
        second.process.signal(signal.SIGSTOP)
        time.sleep(0.5)  # As much as fits into the kernel's buffers is on its way.
        second.kill()
        first.hear("lost_peer")
        train([first], 2, [8])
        first.hear("step", attempt=2)

    def test_paced_workers_take_their_time_and_survive_as_others_do(self):
        sample = {"device": "T4", "batch_per_worker": 4, "forward": {"median": "20 ms"},
                  "backward": {"median": "40 ms"}, "update": {"median": "10 ms"}}
        path = os.path.join(self.folder, "job.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"gradient_bytes": "1 MB", "compute": [sample]}, file)
        pace = {"STINT_PACE": path, "STINT_PACE_DEVICE": "T4", "STINT_PACE_SPEED": "2"}
        first, second, third = self.workers(3, **pace)
        train([first, second], 1, [6, 2], micro_batch=3)
        for number in range(2, 5):
            # Two micro-batches of 3 samples: half of 2 · 60 · 3/4 + 10 ms.
            self.assertGreater(first.hear("step", number=number)["time_s"], 0.0498)
        second.kill()
        first.hear("lost_peer")
        train([third, first], 2, [0, 8])
        self.assert_trained(self.finish([third, first]))

    def silent(self):
        """Stands for a worker that died before it heard of anything."""
        return types.SimpleNamespace(order=lambda *_, **__: None)


class Checkpoints(Base):
    """Names are sentences."""

    def restored(self, place, step, shards, **more):
        """The parameters that a new worker comes to from a checkpoint."""
        one = self.worker(SEED="9")
        train([one], 7, [8], {"step": step, "shards": shards, "place": place, **more})
        self.assertEqual(one.hear("training")["step"], step)
        return self.finish([one])

    def test_a_checkpoint_brings_everything_back_after_all_died(self):
        receivers = [FakeReceiver(SECRET) for _ in range(2)]
        tier = {"receivers": [["127.0.0.1", one.port] for one in receivers], "secret": SECRET,
                "run": "test"}
        for place in ({"folder": os.path.join(self.folder, "kept")}, tier):
            with self.subTest(place=sorted(place)[0]):
                workers = self.workers(3, PAUSE="0.01")
                train(workers, 1, [4, 3, 1])
                saved = save(workers, 1, 12, place)
                self.assertEqual({(one["step"], one["of"], one["whole"], one["layout"])
                                  for one in saved},
                                 {(12, 3, saved[0]["whole"], saved[0]["layout"])})
                self.assertEqual([one["shard"] for one in saved], [0, 1, 2])
                self.assertEqual(sum(one["bytes"] for one in saved), saved[0]["whole"])
                for one in workers:
                    one.kill()
                self.assert_trained(self.restored(place, 12, 3, checksums=[
                    one["checksum"] for one in saved]))
        # Shard k is with receiver k mod 2.
        self.assertEqual([sorted(number for _, number, _ in one.shards) for one in receivers],
                         [[0, 2], [1]])
        for one in receivers:
            one.close()

    def test_newcomers_restore_together_and_survivors_go_before_older_checkpoints(self):
        place = {"folder": self.folder}
        first, second, third = self.workers(3)
        train([first], 1, [8])
        save([first], 1, 5, place)
        first.hear("finished")
        checkpoint = {"step": 5, "shards": 1, "place": place}
        train([second, third], 1, [4, 4], checkpoint)
        self.assertEqual(third.hear("training")["step"], 5)
        self.assert_trained(self.finish([second, third]))
        train([first], 2, [8], checkpoint)
        self.assertEqual(first.hear("training", attempt=2)["step"], STEPS)

    def test_an_order_that_comes_late_or_beyond_the_end_saves_what_there_is(self):
        one = self.worker()
        train([one], 1, [8])
        one.hear("finished")
        for step in (STEPS + 1, 3):
            self.assertEqual(save([one], 1, step, {"folder": self.folder})[0]["step"], STEPS)
        one.order("save", attempt=9, step=3, place={"folder": self.folder})
        self.assertIn("other workers", one.hear("save_failed", attempt=9)["reason"])

    def test_a_kill_at_any_point_of_a_save_leaves_the_one_before_whole(self):
        for point in ("copy", "send", "rename", "kept"):
            with self.subTest(point=point):
                place = {"folder": os.path.join(self.folder, point)}
                once = os.path.join(self.folder, point + ".once")
                calm = self.worker(PAUSE="0.01")
                struck = self.worker(PAUSE="0.01")
                train([calm, struck], 1, [4, 4])
                save([calm, struck], 1, 5, place)
                crashing = self.worker(PAUSE="0.01", STINT_CRASH_AT=point, STINT_CRASH_ONCE=once)
                train([calm, crashing], 2, [4, 4])
                crashing.hear("step")
                for one in (calm, crashing):
                    one.order("save", attempt=2, step=0, place=place)
                self.assertEqual(crashing.process.wait(), -signal.SIGKILL)
                calm.hear("lost_peer")
                self.assert_trained(self.restored(place, 5, 2))
                train([calm], 3, [8])
                self.assert_trained(self.finish([calm]))

    def test_a_kill_while_a_state_is_restored_or_shared_is_survived(self):
        place = {"folder": self.folder}
        first = self.worker()
        train([first], 1, [8])
        save([first], 1, 5, place)
        first.kill()
        checkpoint = {"step": 5, "shards": 1, "place": place}
        for point in ("restore", "share"):
            with self.subTest(point=point):
                crashing, other = self.worker(STINT_CRASH_AT=point), self.worker()
                train([crashing, other], 2, [4, 4], checkpoint)
                self.assertEqual(crashing.process.wait(), -signal.SIGKILL)
                other.hear("lost_peer")
                train([other], 3, [8], checkpoint)
                self.assertEqual(other.hear("training")["step"], 5)
                self.assert_trained(self.finish([other]))

    def test_a_damaged_checkpoint_is_refused_with_the_reason(self):
        place = {"folder": self.folder}
        one = self.worker()
        train([one], 1, [8])
        save([one], 1, 5, place)
        path = os.path.join(self.folder, "step-5", "shard-0-of-1")
        with open(path, "r+b") as file:
            file.seek(5000)
            file.write(b"damage")
        for step, reason in ((5, "checksum is wrong"), (6, "No such file")):
            other = self.worker()
            train([other], 2, [8], {"step": step, "shards": 1, "place": place})
            self.assertIn(reason, other.hear("restore_failed")["reason"])
            self.assertEqual(other.process.wait(), 4)

    def test_a_receiver_of_another_run_keeps_nothing_and_training_goes_on(self):
        receiver = FakeReceiver("cd" * 32)
        one = self.worker(PAUSE="0.01")
        train([one], 1, [8])
        one.order("save", attempt=1, step=3, place={
            "receivers": [["127.0.0.1", receiver.port]], "secret": SECRET, "run": "test"})
        self.assertIn("the secret is wrong", one.hear("save_failed")["reason"])
        self.assertEqual(receiver.shards, {})
        self.assert_trained(self.finish([one]))
        receiver.close()

    def test_an_impostor_keeps_nothing_and_its_word_does_not_count(self):
        impostor = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(impostor.close)
        heard = []

        def serve():
            connection, _ = impostor.accept()
            with connection:
                connection.sendall(b"stint.receiver/2 " + b"0" * 32 + b"\nkept\nkept\n")
                with contextlib.suppress(ConnectionResetError):  # Of a worker that hangs up.
                    while data := connection.recv(1 << 16):
                        heard.append(data)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        one = self.worker(PAUSE="0.01")
        train([one], 1, [8])
        one.order("save", attempt=1, step=3, place={
            "receivers": [["127.0.0.1", impostor.getsockname()[1]]], "secret": SECRET,
            "run": "test"})
        self.assertIn("does not know the secret", one.hear("save_failed")["reason"])
        thread.join()
        self.assertEqual(len(b"".join(heard).splitlines()), 1)  # The proof, and no shard.
        self.assert_trained(self.finish([one]))

    def test_a_full_disk_is_told_leaves_nothing_and_training_goes_on(self):
        place = {"folder": os.path.join(self.folder, "full")}
        script = SCRIPT.replace("job = ", "import resource\n"
                                "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\njob = ")
        one = self.worker(PAUSE="0.01", script=script)
        train([one], 1, [8])
        one.order("save", attempt=1, step=3, place=place)
        failed = one.hear("save_failed")
        self.assertEqual((failed["attempt"], failed["step"]), (1, 3))
        self.assertIn("File too large", failed["reason"])
        self.assertEqual(os.listdir(place["folder"]), [])
        one.reach(STEPS)

    def test_a_receiver_that_hangs_stalls_no_training_and_no_regrouping(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        place = {"receivers": [["127.0.0.1", silent.getsockname()[1]]], "secret": SECRET,
                 "run": "test"}
        first, second = self.workers(2)
        train([first, second], 1, [4, 4])
        for one in (first, second):
            for step in (2, 5, 8):
                one.order("save", attempt=1, step=step, place=place)
                one.reach(step + 1)
        # Two are on their way; there is no buffer for a third.
        self.assertIn("still being sent", first.hear("save_failed")["reason"])
        train([second, first], 2, [4, 4])
        second.hear("finished")


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("ip"), "needs root and ip")
class MachinesVanish(Base):
    """A network namespace stands for each machine. Names are sentences."""

    def setUp(self):
        super().setUp()
        self.names = [f"sjt{os.getpid()}{side}" for side in "ab"]
        for name in self.names:
            self.ip("netns", "add", name)
            self.addCleanup(self.ip, "netns", "del", name)
        self.ip("-n", self.names[0], "link", "add", "eth0", "type", "veth", "peer", "name", "eth0",
                "netns", self.names[1])
        for number, name in enumerate(self.names):
            self.ip("-n", name, "addr", "add", f"10.9.9.{number + 1}/24", "dev", "eth0")
            for link in ("lo", "eth0"):
                self.ip("-n", name, "link", "set", link, "up")

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True)

    def test_a_worker_whose_peer_vanished_without_a_word_takes_new_orders(self):
        for cut in ("in a step", "while it is joined"):
            with self.subTest(cut=cut):
                first, second = (self.worker(net=name, GLOO_SOCKET_IFNAME="eth0", PAUSE="0.01",
                                             STINT_PEER_TIMEOUT="100000") for name in self.names)
                if cut == "in a step":
                    train([second, first], 1, [4, 4], master="10.9.9.2")
                    first.reach(3)
                self.ip("-n", self.names[1], "link", "set", "eth0", "down")
                if cut != "in a step":
                    train([second, first], 1, [4, 4], master="10.9.9.2")
                time.sleep(0.5)
                second.kill()  # Its connections are reset, but nobody can hear that.
                train([first], 2, [8])
                first.hear("training", attempt=2)
                self.assert_trained(self.finish([first]))
                self.ip("-n", self.names[1], "link", "set", "eth0", "up")


if __name__ == "__main__":
    unittest.main()
