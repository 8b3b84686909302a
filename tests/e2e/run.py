#!/usr/bin/python3
"""Tests `stint run`: spot interruptions, kills, crashes, unauthorised clients, limits.

Usage: run.py STINT_BINARY smoke|trained|kills|crashes|safety|limits

Where namespaces are not allowed or torch is missing, it says so and exits 77.

The model has no BatchNorm and no dropout, and is trained in double precision, so that a run on
machines that are launched and lost does the same sums as one on a single machine, in another order.
That changes the last bits (1e-16) of its parameters, which are below 1; a hundred steps with
momentum add up to some 1e-14. In a transformer, whose normalisations magnify them, 1.2e-11 was
seen. A step that is lost or done twice changes parameters by 1e-3.
"""

import argparse
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_cloud import EXIT_SKIPPED, SECONDS_MAX, Failure, World, expect  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
PYTHON = "/usr/bin/python3"
BATCH = 24
RELATIVE, ABSOLUTE = 1e-9, 1e-9  # Tolerance of parameters; see above.
TRAINER = [PYTHON, str(ROOT / "tools/in_double.py"), str(ROOT / "python/examples/mlp.py"),
           "--width", "64", "--samples", "480", "--batch", str(BATCH)]
PARAMETERS = 8 * (256 * 64 + 64 + 2 * (64 * 64 + 64) + 64 * 20 + 20)  # Bytes.
LOOK = 0.1  # Polling interval in seconds.


class Runs(World):
    """A world with a small job to run."""

    def __init__(self, binary, folder):
        super().__init__(binary, folder)
        self.job = self.write_job("tiny", 100)
        self.started = []

    def write_job(self, name, milliseconds, file="tiny.json", batches=(8,)):
        """Writes the profile of the trainer at some pace per eight samples, timed at `batches`."""
        times = {"forward": 0.3, "backward": 0.65, "update": 0.05}
        samples = []
        for batch in batches:
            sample = {"device": "Local-1x", "batch_per_worker": batch, "peak_memory": "100 MB"}
            for part, share in times.items():
                passes = 1 if part == "update" else batch / 8
                sample[part] = {"median": f"{share * milliseconds * passes} ms", "spread": "1 ms",
                                "count": 20}
            samples.append(sample)
        job = {"schema": "stint.job/1", "name": name, "gradient_bytes": f"{PARAMETERS} B",
               "parameter_bytes": f"{PARAMETERS} B", "optimizer_bytes": f"{PARAMETERS} B",
               "buckets": [{"bytes": f"{PARAMETERS} B", "ready": 1.0}], "compute": samples,
               "samples_per_epoch": 480, "checkpoint": {"bytes": f"{2 * PARAMETERS} B"}}
        path = Path(self.folder, file)
        path.write_text(json.dumps(job))
        return str(path)

    def trainer(self, name, steps, brake=None):
        """The training command. From step `brake` on it is slow until release() is called, so that
        it does not end before a test has acted on it."""
        command = [*TRAINER, "--steps", str(steps), "--save", self.parameters_of(name)]
        if brake is None:
            return command
        return [PYTHON, str(ROOT / "tests/e2e/braked.py"), self.gate(name), str(brake),
                *command[1:]]

    def gate(self, name):
        """The file that releases a braked training."""
        return f"{self.folder}/{name}.go"

    def release(self, name):
        """Releases a braked training."""
        Path(self.gate(name)).touch()

    def words(self, name, cluster, steps, *more, command=None, brake=None):
        """The arguments of stint."""
        command = command or self.trainer(name, steps, brake)
        return ["run", "--cluster", cluster, "--job", self.job, "--name", name, "--steps",
                str(steps), "--batch", str(BATCH), *more, "--", *command]

    def ask(self, *words):
        """Runs stint to its end; returns its exit code and its whole output."""
        process = self.start(*words)
        out, err = process.communicate(timeout=SECONDS_MAX)
        return process.returncode, out + err

    def begin(self, *words, **variables):
        """Starts `stint run` with its output in a file, so that it never waits for a reader."""
        log = open(Path(self.folder, f"run-{len(self.started)}.out"), "w+", encoding="utf-8")
        process = subprocess.Popen([self.binary, *words], env=self.environment | variables,
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   cwd=self.folder)
        process.log = log
        self.started.append(process)
        return process

    def end(self, process, code, seconds=SECONDS_MAX):
        """Waits for its end, and returns its output."""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{said_by(process)}\nstint run has not ended in {seconds} s") from None
        said = said_by(process)
        expect(process.returncode == code, f"{said}\nexit {process.returncode}, not {code}")
        return said

    def parameters_of(self, name):
        """The file of the parameters of a run."""
        return f"{self.folder}/{name}.pt"

    def run_folder(self, name):
        """The folder of a run."""
        return Path(self.folder, "stint/runs", name)

    def events(self, name):
        """The journal of a run."""
        path = self.run_folder(name) / "journal.jsonl"
        lines = path.read_text().split("\n") if path.exists() else []
        return [json.loads(line) for line in lines[:-1]]

    def wait_for(self, process, name, kind, after=0, **facts):
        """Waits for an event of a kind after `after` others; returns its position in the
        journal."""
        end = time.monotonic() + SECONDS_MAX
        while True:
            for place, event in enumerate(self.events(name)[after:], after):
                if event["kind"] == kind and all(event.get(k) == v for k, v in facts.items()):
                    return place + 1
            expect(time.monotonic() < end and process.poll() is None,
                   f"{said_by(process)}\nno event {kind} {facts} came")
            time.sleep(LOOK)

    def report(self, name):
        """The status of a run."""
        return json.loads(self.run("report", name, "-o", "json"))

    def reference(self, steps):
        """The parameters of an uninterrupted training on one machine."""
        path = self.parameters_of(f"reference-{steps}")
        if not Path(path).exists():
            subprocess.run([*TRAINER, "--steps", str(steps), "--save", path], check=True,
                           stdout=subprocess.DEVNULL, env=self.environment | {
                               "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"})
        return path

    def workers(self, name):
        """The processes that train for a run."""
        wanted = {"STINT_RUN=" + name, "STINT_GLOBAL_BATCH=" + str(BATCH)}
        return [pid for pid in self.processes()
                if wanted <= set(read(f"/proc/{pid}/environ").decode(errors="replace").split("\0"))]

    def receivers(self, name):
        """The processes that keep checkpoints of a run."""
        folder = str(self.run_folder(name))
        return [pid for pid in self.processes()
                if b"\0receive\0" in read(f"/proc/{pid}/cmdline")
                and folder.encode() in read(f"/proc/{pid}/cmdline")]

    def expect_trained(self, name, steps):
        """Fails unless a run is trained as if undisturbed, and the bill is right."""
        report = self.report(name)
        expect(report["state"] == "trained" and report["saved"] == steps == report["reached"],
               f"{name}: {report['state']} ({report['reason']}) after {report['reached']}")
        expect_nothing_lost(name, self.events(name))
        expect_bill(report)
        expect_same(name, self.parameters_of(name), self.reference(steps))
        return report

    def clean(self):
        """Ends the remains of a failure."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
        super().clean()
        for line in Path("/proc/mounts").read_text().splitlines():
            if line.split()[1].startswith(self.folder + "/"):
                subprocess.run(["umount", line.split()[1]], check=False)


def read(path):
    """The bytes of a file that may not exist."""
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def said_by(process):
    """The whole output of a run."""
    process.log.flush()
    return Path(process.log.name).read_text(encoding="utf-8")


def prices():
    """USD per second of the emulated machines, by type and market."""
    catalog = json.loads((ROOT / "data/catalog/local.json").read_text())
    found = {}
    for kind in catalog["types"]:
        for market, key in (("on-demand", "on_demand"), ("spot", "spot")):
            price = kind["offers"][0][key]["price"]
            found[kind["name"], market] = float(price.split()[0]) / 3600
    return found


def expect_bill(report, more=None):
    """Fails unless VM-seconds x price is the bill, and the parts are the whole. `more` has prices
    of other machines than the bundled ones."""
    price = prices() | (more or {})
    total = 0.0
    for vm in report["vms"]:
        amount = vm["billed_s"] * price[vm["type"], vm["market"]]
        expect(abs(amount - vm["cost_usd"]) < 1e-6, f"{vm}: not {amount} USD")
        total += amount
    expect(abs(total - report["cost_usd"]) < 1e-6, f"{report['cost_usd']} USD, not {total}")
    for key in ("time_s", "cost_usd"):
        parts = sum(part[key] for part in report["parts"])
        expect(abs(parts - report[key]) < 1e-6, f"the parts' {key} is {parts}: {report[key]}")


def expect_nothing_lost(name, events):
    """Fails if an acknowledged step was ever trained again."""
    saved = 0
    for event in events:
        if event["kind"] == "saved":
            expect(event["step"] > saved, f"{name}: saved {event['step']} after {saved}")
            saved = event["step"]
        if event["kind"] in ("workers-up", "resumed"):
            expect(event["step"] >= saved, f"{name}: {event} though {saved} steps were saved")


def expect_same(name, path, reference):
    """Fails unless two sets of parameters are equal except for the order of sums."""
    import torch  # The import takes a second, which earlier failures do not need.
    ours, theirs = torch.load(path), torch.load(reference)
    expect(ours.keys() == theirs.keys(), f"{name}: other parameters")
    furthest = 0.0
    for key, one in ours.items():
        furthest = max(furthest, (one - theirs[key]).abs().max().item())
        expect(torch.allclose(one, theirs[key], rtol=RELATIVE, atol=ABSOLUTE),
               f"{name}: {key} differs by up to {furthest:.2g} from an uninterrupted training")
    print(f"{name}: parameters differ by {furthest:.1g} at most")


def smoke(world, _options):
    """A machine is interrupted; the training is the same."""
    steps = 40
    world.write_job("tiny", 20)
    run = world.begin(*world.words("smoke", "2x local.large:spot", steps, brake=5))
    at = world.wait_for(run, "smoke", "step-done")
    world.run("local", "preempt", "vm2", "--notice", "0s", "--name", "run-smoke")
    at = world.wait_for(run, "smoke", "vm-lost", at)
    world.wait_for(run, "smoke", "step-done", at)
    world.release("smoke")
    world.end(run, 0)
    expect(world.expect_trained("smoke", steps)["losses"] == 1, "one machine was lost")


def trained(world, _options):
    """Machines are interrupted with and without replacement; the training is the same."""
    steps = 120
    trace = Path(world.folder, "trace.json")
    counts = [3] * 7 + [2] * 2 + [3] * 3 + [1] * 2 + [3] * 3 + [2] * 2 + [3] * 60
    trace.write_text(json.dumps({"metadata": {"gap_seconds": 1}, "data": counts}))
    run = world.begin(*world.words("trained", "3x local.large:spot", steps, "--life",
                                   f"trace:{trace}", "--notice", "2s"))
    world.reference(steps)
    world.end(run, 0)
    report = world.expect_trained("trained", steps)
    taken = sum(vm["taken_back"] for vm in report["vms"])
    expect(report["losses"] >= 2, f"only {report['losses']} machines were lost")
    expect(report["losses"] >= taken, f"{taken} machines were taken back: {report['losses']}")
    expect(all(vm["market"] == "spot" for vm in report["vms"]), report["vms"])
    expect(report["forecast"]["cost_usd"]["p10"] <= report["forecast"]["cost_usd"]["p90"], report)
    done = [line["iteration"]["number"]
            for line in lines_of(world.run_folder("trained") / "measurements.jsonl")
            if "iteration" in line]
    # Steps of survivors while the next attempt begins are not in the record.
    expect(done and set(done) <= set(range(1, steps + 1)),
           f"of {steps} steps {len(set(done))} are in the record")
    page = Path(world.folder, "page.html")
    world.run("report", "trained", "--html", str(page))
    text = page.read_text()
    expect("<svg" in text and "http://" not in text.replace("http://www.w3.org/", "")
           and "https://" not in text and "<script src" not in text, "a page of its own")
    print(f"{report['losses']} losses, {report['redone']} steps redone, "
          f"{report['time_s']:.1f} s, {report['cost_usd']:.5f} USD")


def lines_of(path):
    """The JSON lines of a file."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def kills(world, _options):
    """A worker, a VM, a receiver, the anchor and the supervisor are killed, in one run."""
    steps = 220
    name = "kills"
    world.write_job("tiny", 50)
    run = world.begin(*world.words(name, "2x local.large:spot", steps, "--checkpoints", "anchor",
                                   "--save-every", "1s", brake=30))
    at = world.wait_for(run, name, "saved")
    cluster = "run-kills"

    os.kill(world.workers(name)[0], signal.SIGKILL)
    at = world.wait_for(run, name, "worker-lost", at)
    at = world.wait_for(run, name, "saved", world.wait_for(run, name, "workers-up", at))

    [anchor] = [vm for vm in world.report(name)["vms"] if vm["type"] == "local.cpu"]
    [receiver] = world.receivers(name)
    os.kill(receiver, signal.SIGKILL)
    world.run("local", "preempt", "vm2", "--notice", "0s", "--name", cluster)
    at = world.wait_for(run, name, "vm-lost", at, vm=1)
    at = world.wait_for(run, name, "saved", world.wait_for(run, name, "workers-up", at))
    expect([receiver] != world.receivers(name) != [], "there is another receiver")

    world.run("local", "release", anchor["name"], "--name", cluster)
    at = world.wait_for(run, name, "vm-lost", at, vm=int(anchor["name"][2:]) - 1)
    at = world.wait_for(run, name, "saved", at)

    run.kill()
    run.wait()
    saved = max(event["step"] for event in world.events(name) if event["kind"] == "saved")
    expect("--resume" in world.ask("watch", name)[1], "watch says how to go on")
    run = world.begin("run", "--resume", name)
    at = world.wait_for(run, name, "workers-up", world.wait_for(run, name, "resumed", at))
    begun = world.events(name)[at - 1]["step"]
    expect(begun == saved, f"goes on after step {begun}, though {saved} steps were saved")
    world.release(name)
    world.end(run, 0)
    report = world.expect_trained(name, steps)
    print(f"{report['losses']} losses, {report['redone']} steps redone, {report['time_s']:.1f} s")


WORKER_POINTS = ["copy", "send", "rename", "kept", "share"]
# A worker restores the checkpoint when the supervisor is resumed.
RUNNER_POINTS = ["acknowledge-begin", "acknowledge-written", "acknowledge-renamed", "prune"]
RESTORE_POINTS = ["restore"]
RECEIVER_POINTS = ["put-received", "put-written", "put-renamed"]


def crash_until_trained(world, runs):
    """Resumes runs whenever their supervisors were killed; returns the number of times, by name."""
    resumed = dict.fromkeys(runs, 0)
    waiting = dict(runs)
    end = time.monotonic() + SECONDS_MAX
    while waiting and time.monotonic() < end:
        for name, (process, variables) in list(waiting.items()):
            if process.poll() == -signal.SIGKILL:
                resumed[name] += 1
                waiting[name] = (world.begin("run", "--resume", name, **variables), variables)
            elif process.poll() is not None:
                world.end(process, 0)
                del waiting[name]
        time.sleep(LOOK)
    expect(not waiting, "\n".join(said_by(process) for process, _ in waiting.values()))
    return resumed


def crashes(world, _options):
    """Workers, supervisor and receiver are killed once at each named step of a checkpoint or
    restore."""
    steps = 50
    plan = {"workers": (WORKER_POINTS, "2x local.large", []),
            "supervisor": (RUNNER_POINTS + RESTORE_POINTS, "1x local.fast", []),
            "receiver": (RECEIVER_POINTS, "1x local.fast:spot", ["--checkpoints", "anchor"])}
    runs = {}
    for name, (points, cluster, more) in plan.items():
        variables = {"STINT_CRASH_AT": ",".join(points),
                     "STINT_CRASH_ONCE": f"{world.folder}/{name}"}
        runs[name] = (world.begin(*world.words(name, cluster, steps, "--save-every", "1s", *more),
                                  **variables), variables)
    world.reference(steps)
    resumed = crash_until_trained(world, runs)
    for name, (points, _, _) in plan.items():
        missing = [point for point in points if not Path(f"{world.folder}/{name}.{point}").exists()]
        expect(not missing, f"{name}: never came to {missing}")
        wanted = len(RUNNER_POINTS) if name == "supervisor" else 0
        expect(resumed[name] == wanted, f"{name}: resumed {resumed[name]} times, not {wanted}")
        report = world.expect_trained(name, steps)
        print(f"{name}: killed at {', '.join(points)}; {report['redone']} steps redone, "
              f"{report['time_s']:.1f} s")


HOSTILE = ["a b", "a'b", 'a"b', "a\nb", "..", "../x", "a/../b", "-x", "--plan", ".hidden", "a/b",
           "$(touch x)", "x" * 65, "ä"]

# Requests everything from the receiver at an address, with several proofs; prints its answers.
STRANGER = """
import hashlib, hmac, json, socket, struct, sys
address, right = sys.argv[1:]
def ask(secret):
    def derived(role, purpose):
        text = f"stint.receiver/2 {role} {purpose} {nonce} {'0' * 32}"
        return hmac.new(bytes.fromhex(secret or "11" * 32), text.encode(), hashlib.sha256)
    with socket.create_connection((address, 29400), timeout=5) as it:
        lines = it.makefile("rb")
        nonce = lines.readline().decode().split()[1]
        proof = derived("client", "proof").hexdigest()
        it.sendall(f"stint.receiver/2 {'0' * 32} {proof}\\n".encode())
        for number, data in enumerate((b"get 999999 0 1\\n", b"put 999999 0 1 4 0\\n", b"abcd")):
            head = struct.pack(">QI", number, len(data))
            tag = hmac.new(derived("client", "key").digest(), head + data, hashlib.sha256).digest()
            try:
                it.sendall(head[8:] + data + tag)
            except OSError:
                return ""
        try:
            it.shutdown(socket.SHUT_WR)
            return lines.read().decode(errors="replace")
        except OSError:
            return ""
print(json.dumps([ask(secret) for secret in ("", "00" * 32, right[::-1], right)]))
"""


def expect_names_refused(world):
    """Invalid names are refused, and nothing is created."""
    for name in HOSTILE:
        words = world.words("x", "1x local.fast", 2)
        words[words.index("x")] = name
        others = [["report", name], ["stop", name], ["status", name]]
        for asked in [words, ["run", "--resume", name]] + (others if "." in name else []):
            code, said = world.ask(*asked)
            expect(code == 2, f"{asked} exits {code}: {said}")
    left = [str(path) for path in Path(world.folder, "stint").rglob("*")]
    expect(not left and not Path(world.folder, "x").exists(), f"made for names: {left}")


def expect_private(folder):
    """Fails if other users may read the folder of a run, or its contents."""
    for path in (folder.parent, folder, folder / "checkpoints", folder / "log"):
        mode = stat.S_IMODE(path.stat().st_mode)
        expect(mode == 0o700, f"{path} has mode {mode:o}")


def expect_strangers_refused(world, name):
    """A machine of the same network without the secret neither gets nor puts anything."""
    cluster = f"run-{name}"
    status = json.loads(world.run("local", "list", "-o", "json"))["clusters"]
    [anchor] = [vm for one in status if one["name"] == cluster for vm in one["vms"]
                if vm["type"] == "local.cpu"]
    world.run("local", "add", "stranger", "local.small", "--name", cluster)
    secret = json.loads((world.run_folder(name) / "run.json").read_text())["secret"]
    out = world.run("local", "exec", "--name", cluster, "--vms", "stranger", "--", PYTHON, "-c",
                    STRANGER, anchor["address"], secret)
    answers = json.loads(out.removeprefix("stranger: "))
    expect(answers[:3] == ["", "", ""], f"a stranger is told {answers[:3]}")
    expect("missing\n" in answers[3] and "refused" in answers[3], f"with the secret: {answers[3]}")
    expect(not (world.run_folder(name) / "checkpoints/step-999999/shard-0-of-1").exists(),
           "a stranger's shard is kept")
    world.run("local", "release", "stranger", "--name", cluster)


def expect_plans_refused(world):
    """A plan file whose names lead elsewhere is refused or harmless; nothing is written there."""
    job = json.loads(Path(world.job).read_text())
    job |= {"goal": {"epochs": 1}, "batch": {"reference": BATCH}}
    Path(world.folder, "planned.json").write_text(json.dumps(job))
    plan = Path(world.folder, "plan.json")
    world.run("plan", "--job", f"{world.folder}/planned.json", "--deadline", "1h", "--providers",
              "local", "--max-vms", "2", "-n", "1", "--save", str(plan))
    shutil.rmtree(Path(world.folder, "stint"), ignore_errors=True)
    before = sorted(str(path) for path in Path(world.folder).rglob("*"))
    text = plan.read_text()
    for old, new in (("local.small", "../../../x"), ("1x local.small", "1x local.small\\n../x"),
                     ('"job": "tiny"', '"job": "../../../x"'), ("tiny", "$(touch x)")):
        expect(old in text, f"the plan does not name {old}: {text}")
        plan.write_text(text.replace(old, new))
        code, said = world.ask("run", "--plan", str(plan), "--", "true")
        expect(code in (2, 4), f"{old} is {new}: exit {code}: {said}")
    plan.write_text(text)
    after = sorted(str(path) for path in Path(world.folder).rglob("*"))
    expect(before == after, f"written: {set(after) - set(before)}")


def safety(world, _options):
    """Malicious names, words and clients have no effect."""
    expect_names_refused(world)
    expect_plans_refused(world)
    # An invalid folder name, and a script whose name a shell would run.
    world.write_job("../../x $(touch pwned) 'q'", 100)
    script = Path(world.folder, "$(touch pwned); 'train'\n.py")
    shutil.copy(TRAINER[2], script)
    steps = 80
    command = [script.name if word == TRAINER[2] else word
               for word in world.trainer("safety", steps, brake=15)]
    words = world.words("safety", "1x local.fast:spot", steps, "--checkpoints", "anchor",
                        "--save-every", "1s", command=command)
    code, said = world.ask(*[word for word in words[:-len(command) - 1]
                             if word not in ("--name", "safety")], "--dry-run", "--", *command)
    expect(code == 0, said)
    print(said.strip())
    run = world.begin(*words, PYTHONPATH=str(ROOT / "python"))
    world.wait_for(run, "safety", "saved")
    expect_private(world.run_folder("safety"))
    expect_strangers_refused(world, "safety")
    world.release("safety")
    world.end(run, 0)
    world.expect_trained("safety", steps)
    for folder in (world.folder, ROOT, os.getcwd(), world.run_folder("safety")):
        expect(not Path(folder, "pwned").exists(), f"a shell ran in {folder}")


# Trains on less than its share, or with its own batch.
DISOBEDIENT = """
import sys, torch, stint
batch, most = map(int, sys.argv[1:])
data = torch.utils.data.TensorDataset(torch.randn(96, 4), torch.randn(96, 1))
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
job = stint.job(model, optimizer, batch=batch, steps=10)
for step in job.steps(data):
    with step:
        for inputs, labels in step.micro_batches():
            step.backward((job.model(inputs[:most]) - labels[:most]).square().mean())
        optimizer.step()
"""


def disobey(world, name, batch, most):
    """Starts a script that ignores its orders."""
    script = Path(world.folder, "disobedient.py")
    script.write_text(DISOBEDIENT)
    return world.begin(*world.words(name, "1x local.fast", 10, command=[
        PYTHON, str(script), str(batch), str(most)]))


def newest(folder):
    """The steps of the checkpoints that are whole, the newest first."""
    steps = [int(path.parent.name.split("-")[1]) for path in folder.glob("step-*/whole.json")]
    return sorted(steps, reverse=True)


def damage(world, name):
    """Flips a bit of the newest checkpoint; returns its step and that of the previous one."""
    folder = world.run_folder(name) / "checkpoints"
    last, before = newest(folder)
    path = folder / f"step-{last}" / "shard-0-of-1"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    return last, before


def interrupt(world, run, name, saves):
    """Stops a run by Ctrl-C after some checkpoints; returns its output."""
    at = 0
    for _ in range(saves):
        at = world.wait_for(run, name, "saved", at)
    run.send_signal(signal.SIGINT)
    said = world.end(run, 130)
    expect("--resume" in said, said)
    report = world.report(name)
    expect(report["state"] == "stopped" and report["saved"] == report["reached"],
           f"{report['state']}: {report['saved']} saved of {report['reached']}")
    return said


def limits(world, _options):
    """Runs twice, finished, damaged, stopped, without room, and with scripts that do not obey."""
    steps = 100
    run = world.begin(*world.words("one", "1x local.fast", steps, "--save-every", "1s", brake=20))
    full = world.begin(*world.words("full", "1x local.fast", steps, "--save-every", "1s", brake=20))
    wrong = disobey(world, "batch", BATCH // 2, BATCH)
    less = disobey(world, "less", BATCH, 2)
    full_folder = fill_up(world, full)
    world.release("full")
    full = world.begin("run", "--resume", "full")

    at = world.wait_for(run, "one", "step-done")
    code, said = world.ask(*world.words("one", "1x local.fast", steps))
    expect(code == 2 and "exists" in said, f"a second run called one exits {code}: {said}")
    code, said = world.ask("run", "--resume", "one")
    expect(code != 0 and f"process {run.pid}" in said, f"resumed while it runs: {code}: {said}")
    interrupt(world, run, "one", 2)
    last, before = damage(world, "one")
    run = world.begin("run", "--resume", "one")
    at = world.wait_for(run, "one", "resumed", at)
    expect(world.events("one")[at - 1]["step"] == before, f"{world.events('one')[at - 1]}")
    world.wait_for(run, "one", "step-done", world.wait_for(run, "one", "workers-up", at))
    world.run("stop", "one")
    said = world.end(run, 130)
    expect(f"step {last} is damaged" in said and f"using that of step {before}" in said, said)
    world.release("one")
    world.end(world.begin("run", "--resume", "one"), 0)
    expect_trained_again(world, "one", steps, last)
    code, said = world.ask("run", "--resume", "one")
    expect(code == 2 and "is complete" in said, f"{code}: {said}")

    said = world.end(wrong, 1)
    expect(f"batch of {BATCH // 2}" in said, f"a wrong batch is not noticed: {said}")
    said = world.end(less, 0)
    expect("samples per step instead of" in said, f"2 samples are not noticed: {said}")
    empty_out(world, full, full_folder, steps)


def expect_trained_again(world, name, steps, damaged):
    """As expect_trained, but damaged steps may be trained again."""
    for event in world.events(name):
        if event["kind"] == "resumed" and event["step"] < damaged:
            events = world.events(name)
            expect_nothing_lost(name, events[events.index(event) + 1:])
    report = world.report(name)
    expect(report["state"] == "trained" and report["saved"] == steps, report["state"])
    expect_bill(report)
    expect_same(name, world.parameters_of(name), world.reference(steps))


def fill_up(world, run):
    """Stops a run and moves its checkpoints to a disk with space for only one."""
    interrupt(world, run, "full", 1)
    folder = world.run_folder("full") / "checkpoints"
    aside = Path(world.folder, "aside")
    os.rename(folder, aside)
    folder.mkdir(mode=0o700)
    size = sum(path.stat().st_size for path in aside.glob(f"step-{newest(aside)[0]}/*"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=700,size={int(1.4 * size)}", "full",
                    str(folder)], check=True)
    shutil.copytree(aside / f"step-{newest(aside)[0]}", folder / f"step-{newest(aside)[0]}")
    return folder


def empty_out(world, run, folder, steps):
    """The run without disk space has given up, with a reason; with space it continues."""
    try:
        said = world.end(run, 1)
        expect("No space left" in said, f"why it gave up is not said: {said}")
        [before] = newest(folder)
        kept = Path(world.folder, "kept")
        shutil.copytree(folder, kept)
    finally:
        subprocess.run(["umount", str(folder)], check=True)
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    events = len(world.events("full"))
    run = world.begin("run", "--resume", "full")
    at = world.wait_for(run, "full", "resumed", events)
    expect(world.events("full")[at - 1]["step"] == before, "the last that had room counts")
    world.end(run, 0)
    world.expect_trained("full", steps)


MODES = {"smoke": smoke, "trained": trained, "kills": kills, "crashes": crashes, "safety": safety,
         "limits": limits}


def skip_reason(world):
    """The reason why nothing can be tested here, if any."""
    report = world.start("doctor", "-o", "json").communicate(timeout=SECONDS_MAX)[0]
    for finding in json.loads(report)["findings"]:
        if finding["feature"] == "local cloud" and finding["level"] != "ok":
            return finding["detail"]
    if os.geteuid() != 0:
        return "it needs root"
    if subprocess.run([PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL,
                      check=False).returncode:
        return f"{PYTHON} has no torch"
    return None


def main(text, modes, kind, add_options=lambda parser: None):
    """The command: tests one of the modes in a world of this kind."""
    parser = argparse.ArgumentParser(description=text.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("what", choices=modes)
    parser.add_argument("--keep", action="store_true", help="copy what a failed one left to kept/")
    add_options(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stint-e2e-") as folder:
        world = kind(os.path.abspath(options.binary), folder)
        if reason := skip_reason(world):
            print(f"SKIP: {reason}")
            sys.exit(EXIT_SKIPPED)
        begin = time.monotonic()
        try:
            modes[options.what](world, options)
            world.expect_nothing_left("at the end")
        except BaseException as failure:
            world.clean()
            if options.keep:
                shutil.copytree(folder, "kept", dirs_exist_ok=True)
            if not isinstance(failure, Failure):
                raise
            print(f"FAILED: {failure}")
            sys.exit(1)
        print(f"{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main(__doc__, MODES, Runs)
