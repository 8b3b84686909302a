"""Jobs of several models, optimizers and schedulers, with a gradient scaler, objects of their own,
arguments for DistributedDataParallel and processes that load samples, driven as `stint run` drives
them. Skips without torch."""

import os
import signal
import subprocess
import sys
import time
import unittest

from fake_runner import save, train
from ports import free_port

try:
    import torch
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

from test_job import SCRIPT, Base

torch.set_num_threads(1)

STEPS = 12

# Its noise is part of the samples, so that it is the same on any cluster.
GAN = """
import os, sys, time
import torch, stint
from torch import nn
steps, pause = int(sys.argv[2]), float(os.environ.get("PAUSE", 0))
torch.manual_seed(int(os.environ.get("SEED", 3)))
drawn = torch.Generator().manual_seed(1)
data = torch.utils.data.TensorDataset(torch.randn(64, 8, generator=drawn) + 1,
                                      torch.randn(64, 4, generator=drawn))
generator = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 8))
discriminator = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizers = {"g": torch.optim.Adam(generator.parameters(), lr=0.01),
              "d": torch.optim.SGD(discriminator.parameters(), lr=0.05, momentum=0.9)}
schedulers = [torch.optim.lr_scheduler.StepLR(one, 4, 0.8) for one in optimizers.values()]

class Average:
    def __init__(self, network):
        self.values = {name: one.clone() for name, one in network.state_dict().items()}
        self.updates = 0
    def update(self, network):
        self.updates += 1
        for name, one in network.state_dict().items():
            self.values[name].lerp_(one, 0.1)
    def state_dict(self):
        return {"values": self.values, "updates": self.updates, "name": "average"}
    def load_state_dict(self, state):
        self.values, self.updates = state["values"], state["updates"]

average = Average(generator)
job = stint.Job({"generator": generator, "discriminator": discriminator}, optimizers, schedulers,
                extra={"average": average}, batch=8, steps=steps)
make, judge = job.models["generator"], job.models["discriminator"]
loss = nn.functional.binary_cross_entropy_with_logits
for step in job.steps(data):
    with step:
        for real, noise in step.micro_batches():
            of_real, of_fake = judge(real), judge(make(noise).detach())
            step.backward(loss(of_real, torch.ones_like(of_real))
                          + loss(of_fake, torch.zeros_like(of_fake)))
        optimizers["d"].step()
        schedulers[1].step()
        if os.environ.get("DIE") == str(step.number):
            os.kill(os.getpid(), 9)
        for real, noise in step.micro_batches():
            of_fake = judge(make(noise))
            step.backward(loss(of_fake, torch.ones_like(of_fake)))
        optimizers["g"].step()
        schedulers[0].step()
        average.update(generator)
    time.sleep(pause)
torch.save({**{"g." + name: one for name, one in generator.state_dict().items()},
            **{"d." + name: one for name, one in discriminator.state_dict().items()},
            **{"average." + name: one for name, one in average.values.items()},
            "updates": torch.tensor(average.updates)}, sys.argv[1])
"""

# Works without a GPU as the GradScaler of PyTorch does with one.
SCALED = SCRIPT.replace("job = stint.job(model, optimizer, scheduler, batch=8, steps=steps)", """
class Scaler:
    def __init__(self):
        self.by, self.steps = 1024.0, 0
    def scale(self, loss):
        return loss * self.by
    def get_scale(self):
        return self.by
    def step(self, optimizer):
        for group in optimizer.param_groups:
            for one in group["params"]:
                one.grad.div_(self.by)
        optimizer.step()
    def update(self):
        self.steps += 1
        self.by = self.by * 2 if self.steps % 5 == 0 else self.by
    def state_dict(self):
        return {"scale": self.by, "steps": self.steps}
    def load_state_dict(self, state):
        self.by, self.steps = state["scale"], state["steps"]
scaler = Scaler()
job = stint.Job(model, optimizer, scheduler, batch=8, steps=steps, scaler=scaler)
""").replace("step.backward(loss)", "step.backward(scaler.scale(loss))").replace(
    "        optimizer.step()\n        sch", "        scaler.step(optimizer)\n"
    "        scaler.update()\n        sch").replace(
    "torch.save(model.state_dict(), sys.argv[1])",
    "torch.save({**model.state_dict(), 'scale': torch.tensor(scaler.by)}, sys.argv[1])")

UNUSED = SCRIPT.replace("model = nn.Sequential(", """
class Part(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = nn.Linear(16, 2), nn.Linear(16, 2)
    def forward(self, inputs):
        return self.used(inputs)
model = nn.Sequential(""").replace("nn.Linear(16, 2))\nopt", "Part())\nopt")

# Draws at random for each sample, which must not depend on who loads it.
LOADED = SCRIPT.replace("model = nn", """
class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        if pause:
            time.sleep(pause / 20)
        return points[index] + 0.1 * torch.randn(8), (points[index].sum() > 0).long()
data = Noisy()
model = nn""", 1)


def using(script, more):
    """A script whose job has more arguments."""
    script = script.replace("stint.job(", "stint.Job(")
    return script.replace("steps=steps)", f"steps=steps, {more})")


class SeveralBase(Base):
    """What scripts come to alone."""

    results = {}

    def alone(self, script, steps=STEPS):
        """The result of a script that nothing disturbs."""
        if script not in self.results:
            one = self.worker(steps=steps, script=script)
            train([one], 1, [8], micro_batch=0)
            self.results[script] = self.finish([one], steps)
        return self.results[script]

    def several(self, count, script, **variables):
        """Workers of a script."""
        return self.workers(count, steps=STEPS, script=script, **variables)

    def assert_same(self, found, wanted, tolerance=1e-5):
        """Results are equal but for the order of additions."""
        self.assertEqual(set(found), set(wanted))
        for name, value in wanted.items():
            self.assertTrue(torch.allclose(value, found[name], rtol=0, atol=tolerance), name)

    def error_of(self, script, shares=(4, 4), steps=STEPS):
        """What the first worker of a script that fails writes."""
        workers = self.workers(len(shares), steps=steps, script=script)
        train(workers, 1, list(shares))
        self.assertEqual(workers[0].process.wait(), 1)
        return workers[0].process.errors()


class SeveralModels(SeveralBase):
    """Names are sentences."""

    def test_two_models_and_optimizers_in_one_step_train_as_alone_with_any_shares(self):
        for shares in ([5, 2, 1], [0, 8]):
            with self.subTest(shares=shares):
                workers = self.several(len(shares), GAN)
                train(workers, 1, shares, micro_batch=3)
                steps = [one.reach(STEPS) for one in workers]
                self.assertEqual([step["samples"] for step in steps], shares)
                self.assert_same(self.finish(workers, STEPS), self.alone(GAN))

    def test_survivors_give_all_of_the_state_to_newcomers(self):
        first, second, third = self.several(3, GAN, PAUSE="0.02")
        train([first, second], 1, [6, 2])
        first.reach(4)
        second.kill()
        first.hear("lost_peer")
        train([third, first], 2, [3, 5])
        self.assert_same(self.finish([third, first], STEPS), self.alone(GAN))

    def test_a_step_that_breaks_between_two_updates_is_taken_back_as_a_whole(self):
        first, third = self.several(2, GAN)
        [second] = self.several(1, GAN, DIE="6")
        train([first, third, second], 1, [4, 2, 2])
        for one in (first, third):
            self.assertEqual(one.hear("lost_peer")["step"], 5)
        train([third, first], 2, [4, 4])
        self.assert_same(self.finish([third, first], STEPS), self.alone(GAN))

    def test_a_checkpoint_has_all_of_the_state(self):
        place = {"folder": os.path.join(self.folder, "kept")}
        workers = self.several(2, GAN, PAUSE="0.02")
        train(workers, 1, [4, 4])
        save(workers, 1, 7, place)
        for one in workers:
            one.kill()
        [other] = self.several(1, GAN, SEED="9")
        train([other], 2, [8], {"step": 7, "shards": 2, "place": place})
        self.assertEqual(other.hear("training")["step"], 7)
        self.assert_same(self.finish([other], STEPS), self.alone(GAN))

    def test_a_checkpoint_of_an_older_script_is_refused_with_what_it_lacks(self):
        place = {"folder": os.path.join(self.folder, "kept")}
        older = self.worker()
        train([older], 1, [8])
        save([older], 1, 5, place)
        for script, words in (
                (GAN, "one model without a name where this script has the models generator, "
                      "discriminator"),
                (using(SCRIPT, "extra={'x': torch.nn.Linear(1, 1)}"),
                 "no object where this script has the object extra.x")):
            [one] = self.several(1, script)
            train([one], 2, [8], {"step": 5, "shards": 1, "place": place})
            reason = one.hear("restore_failed")["reason"]
            self.assertIn(words, reason)
            self.assertIn("saved by an older script", reason)

    def test_a_gradient_scaler_is_saved_and_losses_are_told_without_its_scale(self):
        place = {"folder": os.path.join(self.folder, "kept")}
        first, second, plain = self.workers(3, steps=STEPS, script=SCALED, PAUSE="0.02")[:2] \
            + [self.worker(steps=STEPS)]
        train([first, second], 1, [6, 2])
        train([plain], 1, [8])
        for number in (1, 6):
            parts = [one.hear("step", number=number)["loss"] for one in (first, second)]
            self.assertAlmostEqual(sum(parts), plain.hear("step", number=number)["loss"], 4)
        save([first, second], 1, 8, place)
        for one in (first, second):
            one.kill()
        third = self.worker(steps=STEPS, script=SCALED, SEED="9")
        train([third], 2, [8], {"step": 8, "shards": 2, "place": place})
        found = self.finish([third], STEPS)
        self.assertEqual(float(found.pop("scale")), 4096)
        self.assert_same(found, self.finish([plain], STEPS))


class Distributed(SeveralBase):
    """Arguments for DistributedDataParallel. Names are sentences."""

    def test_a_model_with_unused_parameters_trains_with_any_shares(self):
        script = using(UNUSED, "ddp={'find_unused_parameters': True}")
        for shares in ([5, 3], [0, 8]):
            with self.subTest(shares=shares):
                workers = self.several(2, script)
                train(workers, 1, shares, micro_batch=3)
                self.assert_same(self.finish(workers, STEPS), self.alone(script))

    def test_unused_parameters_without_the_argument_end_the_script_with_it(self):
        self.assertIn('hand stint.Job ddp={"find_unused_parameters": True}', self.error_of(UNUSED))

    def test_other_arguments_train_to_the_same(self):
        for argument in ("gradient_as_bucket_view", "static_graph"):
            with self.subTest(argument=argument):
                first, second, third = self.several(
                    3, using(SCRIPT, f"ddp={{'{argument}': True, 'broadcast_buffers': False}}"))
                train([first, second], 1, [5, 3], micro_batch=0)
                first.reach(4)
                train([third, first], 2, [4, 4], micro_batch=0)
                self.assert_same(self.finish([third, first], STEPS), self.alone(SCRIPT))

    def test_an_argument_that_does_not_exist_ends_the_script_at_once(self):
        [one] = self.several(1, using(SCRIPT, "ddp={'find_unused': True}"))
        self.assertEqual(one.process.wait(), 1)
        self.assertIn("no argument 'find_unused'; known: device_ids", one.process.errors())


def children(worker):
    """The processes that a worker started."""
    pid = worker.process.pid
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
            return [int(one) for one in file.read().split()]
    except FileNotFoundError:
        return []


def sockets_of(pid):
    """The sockets that a process holds."""
    folder = f"/proc/{pid}/fd"
    held = {os.readlink(f"{folder}/{one}") for one in os.listdir(folder)}
    return {one for one in held if one.startswith("socket:")}


def is_alive(pid):
    """Whether a process runs."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Loading(SeveralBase):
    """Samples that other processes load. Names are sentences."""

    def assert_gone(self, processes):
        """They end, soon."""
        deadline = time.monotonic() + 60
        while any(is_alive(one) for one in processes):
            self.assertLess(time.monotonic(), deadline, processes)
            time.sleep(0.02)

    def script(self, workers):
        return LOADED.replace("job.steps(data)", f"job.steps(data, workers={workers})")

    def test_the_same_samples_come_on_any_cluster_and_with_any_number_of_processes(self):
        wanted = self.alone(self.script(1))
        workers = self.several(2, self.script(2))
        train(workers, 1, [5, 3], micro_batch=2)
        self.assert_same(self.finish(workers, STEPS), wanted)

    def test_without_random_numbers_they_train_as_no_processes_do(self):
        script = SCRIPT.replace("job.steps(data)",
                                "job.steps(torch.utils.data.DataLoader(data, num_workers=2))")
        [one] = self.several(1, script)
        train([one], 1, [8], micro_batch=3)
        self.assert_same(self.finish([one], STEPS), self.alone(SCRIPT))

    def test_no_process_is_left_after_a_regrouping_a_kill_or_the_end(self):
        first, second, third = self.several(3, self.script(2), PAUSE="0.05")
        train([first, second], 1, [4, 4], micro_batch=2)
        first.reach(2)
        of_first, of_second = children(first), children(second)
        self.assertEqual((len(of_first), len(of_second)), (2, 2))
        for one in of_first:  # Peers notice the end of a worker by that of its connections.
            self.assertFalse(sockets_of(one) & sockets_of(first.process.pid))
        second.kill()
        first.hear("lost_peer")
        self.assert_gone(of_second)
        train([third, first], 2, [2, 6], micro_batch=2)
        first.hear("step", attempt=2)
        self.assertEqual(children(first), of_first)
        of_third = children(third)
        self.assert_same(self.finish([third, first], STEPS), self.alone(self.script(1)))
        self.assertFalse([one for one in of_first + of_third if is_alive(one)])

    def test_orders_that_end_the_script_and_mistakes_of_a_data_set_leave_no_process(self):
        one = self.worker(steps=1000, script=self.script(2), PAUSE="0.02")
        train([one], 1, [8])
        one.reach(2)
        processes = children(one)
        one.order("end")
        self.assertEqual(one.process.wait(), 0)
        self.assertFalse([each for each in processes if is_alive(each)])
        wrong = self.script(2).replace("if pause:", "if index == 7: raise ValueError('seventh')\n"
                                       "        if pause:")
        [other] = self.several(1, wrong)
        train([other], 1, [8])
        self.assertEqual(other.process.wait(), 1)
        self.assertIn("seventh", other.process.errors())

    def test_a_data_set_without_an_order_or_a_sampler_of_its_own_is_refused(self):
        for loader, words in (
                ("torch.utils.data.DataLoader(data, sampler=torch.utils.data."
                 "WeightedRandomSampler([1.0] * 64, 64))", "a WeightedRandomSampler of its own"),
                ("type('Stream', (torch.utils.data.IterableDataset,), {})()",
                 "Stream has no order of samples")):
            error = self.error_of(SCRIPT.replace("job.steps(data)", f"job.steps({loader})"), (8,))
            self.assertIn(words, error)


class Replicas(SeveralBase):
    """What would train differently on each worker. Names are sentences."""

    def head(self, before, use):
        """A script with a second network, its optimizer, and where they are used."""
        return SCRIPT.replace("job = ", before + "\njob = ").replace("net(inputs)", use)

    def test_a_module_of_an_optimizer_that_is_none_of_the_models_ends_the_run_with_its_name(self):
        script = self.head("head = nn.Linear(2, 2)\n"
                           "optimizer.add_param_group({'params': head.parameters()})",
                           "head(net(inputs))").replace(
            "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 7, 0.9)\n", "").replace(
            "optimizer, scheduler,", "optimizer,").replace("        scheduler.step()\n", "")
        for shares in ((4, 4), (8,)):
            error = self.error_of(script, shares)
            self.assertIn("head (Linear) is trained, but it belongs to none of the job's models",
                          error)
            self.assertIn("parameters weight, bias are not saved", error)

    def test_a_module_with_an_optimizer_of_its_own_ends_the_run_too(self):
        script = self.head("head = nn.Sequential(nn.Linear(2, 2))\n"
                           "own = torch.optim.SGD(head.parameters(), lr=0.1)",
                           "head(net(inputs))").replace(
            "        optimizer.step()\n",
            "        optimizer.step()\n        own.step()\n        own.zero_grad()\n")
        self.assertIn("head (Sequential) is trained", self.error_of(script))

    def test_a_parameter_of_no_module_is_named_by_its_shape(self):
        script = self.head("scale = torch.ones(2, requires_grad=True)\n"
                           "own = torch.optim.SGD([scale], lr=0.1)",
                           "net(inputs) * scale").replace(
            "        optimizer.step()\n", "        optimizer.step()\n        own.step()\n")
        self.assertIn("a parameter outside of all modules (2) is trained", self.error_of(script))

    def test_modules_that_only_follow_or_only_pass_gradients_on_are_no_matter(self):
        script = self.head("import copy\nfollower = copy.deepcopy(model)\nfixed = nn.Linear(2, 2)\n"
                           "nn.init.eye_(fixed.weight)\nnn.init.zeros_(fixed.bias)",
                           "fixed(net(inputs))").replace(
            "        optimizer.step()\n", """        optimizer.step()
        with torch.no_grad():
            for one, other in zip(follower.parameters(), model.parameters()):
                one.lerp_(other, 0.1)
""")
        workers = self.several(2, script)
        train(workers, 1, [4, 4])
        self.assert_same(self.finish(workers, STEPS), self.alone(SCRIPT))

    def test_parameters_that_are_frozen_for_a_while_are_averaged_afterwards(self):
        script = SCRIPT.replace(
            "optimizer = ", "model[2].requires_grad_(False)\noptimizer = ").replace(
            "    with step:", "    model[2].requires_grad_(step.number > 6)\n    with step:")
        workers = self.several(2, script)
        train(workers, 1, [5, 3])
        self.assert_same(self.finish(workers, STEPS), self.alone(script))

    def test_replicas_that_differ_end_the_run_with_the_name_of_the_tensor(self):
        script = using(SCRIPT, "check_every=5").replace(
            "    with step:", "    if step.number == 7 and job.rank == 1:\n"
            "        model[2].weight.data.mul_(1.01)\n    with step:")
        self.assertIn("the workers have different values of 2.weight after step 10",
                      self.error_of(script, steps=30))

    def test_an_update_before_the_last_micro_batch_ends_the_script(self):
        script = SCRIPT.replace("            step.backward(loss)\n",
                                "            step.backward(loss)\n            optimizer.step()\n")
        workers = self.several(1, script)
        train(workers, 1, [8], micro_batch=4)
        self.assertEqual(workers[0].process.wait(), 1)
        self.assertIn("before the last micro-batch", workers[0].process.errors())


class WithoutRunner(SeveralBase):
    """As torchrun starts scripts. Names are sentences."""

    def started(self, script, world):
        """The exit codes, what was written to standard error, and the result of the first rank."""
        out, path = os.path.join(self.folder, "out"), os.path.join(self.folder, "script.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        here = os.path.dirname(os.path.abspath(__file__))
        port, processes = free_port(), []
        for rank in range(world):
            variables = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(world), SEED=str(3 + rank),
                             MASTER_ADDR="127.0.0.1", MASTER_PORT=port, GLOO_SOCKET_IFNAME="lo",
                             PYTHONPATH=os.path.dirname(here))
            processes.append(subprocess.Popen(
                [sys.executable, path, out + str(rank), str(STEPS)], env=variables,
                stderr=subprocess.PIPE, text=True))
        errors = [one.communicate(timeout=300)[1] for one in processes]
        codes = [one.returncode for one in processes]
        return codes, errors, torch.load(out + "0") if codes[0] == 0 else None

    def test_several_models_train_as_alone(self):
        codes, errors, found = self.started(GAN, 2)
        self.assertEqual(codes, [0, 0], errors)
        self.assert_same(found, self.alone(GAN))

    def test_a_module_of_its_own_ends_several_workers_and_warns_one(self):
        script = SCRIPT.replace("job = ", "head = nn.Linear(2, 2)\n"
                                "own = torch.optim.SGD(head.parameters(), lr=0.1)\njob = ").replace(
            "net(inputs)", "head(net(inputs))").replace(
            "        optimizer.step()\n", "        optimizer.step()\n        own.step()\n")
        for world, code in ((2, 1), (1, 0)):
            codes, errors, _ = self.started(script, world)
            self.assertEqual(codes, [code] * world, errors)
            self.assertEqual(errors[0].count("head (Linear) is trained"), 1, errors[0])


class Signals(SeveralBase):
    """Names are sentences."""

    def test_a_peer_that_stops_while_replicas_are_compared_is_lost_as_any_other(self):
        script = using(SCRIPT, "check_every=1")
        first, second = self.several(2, script, PAUSE="0.01")
        train([first, second], 1, [4, 4])
        first.reach(3)
        second.process.signal(signal.SIGSTOP)
        time.sleep(0.2)
        second.kill()
        first.hear("lost_peer")
        train([first], 2, [8])
        self.assert_same(self.finish([first], STEPS), self.alone(SCRIPT))


if __name__ == "__main__":
    unittest.main()
