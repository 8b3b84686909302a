#!/usr/bin/python3
"""Tries that a user is told the truth about runs: logs, watch, status, doctor, and before a command.

Usage: truth.py STINT_BINARY smoke|resume|shared|consent

smoke: the process of a run is killed; status, doctor and stop say which machines are left, and what
was followed ends by itself. resume: the command that status prints resumes the run. shared: the same
for two runs on the same machines. consent: commands of files are asked for at a terminal.

Where namespaces are not allowed or torch is missing, it says so and exits 77.
"""

import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from local_cloud import SECONDS_MAX, expect, wait_until  # noqa: E402
from run import BATCH, LOOK, PYTHON, ROOT, Runs, expect_bill, main  # noqa: E402

# Says something in each step, and at first something that would wipe a terminal.
TALKER = """
import os, sys, torch, stint
data = torch.utils.data.TensorDataset(torch.randn(96, 4), torch.randn(96, 1))
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
job = stint.job(model, optimizer, batch=stint.global_batch({batch}), steps=int(sys.argv[1]))
sys.stdout.buffer.write(b"begin \\x1b[2J\\xff\\a 10 %\\r 20 %\\n")
for step in job.steps(data):
    with step:
        for inputs, labels in step.micro_batches():
            step.backward((job.model(inputs) - labels).square().mean())
        optimizer.step()
    print("I am", os.environ["RANK"], "after step", job.done, flush=True)
"""


class Truth(Runs):
    """A world with a job that talks."""

    def talker(self, name, steps, brake=5):
        """The command that trains and talks."""
        script = Path(self.folder, "talker.py")
        script.write_text(TALKER.format(batch=BATCH))
        return [PYTHON, str(ROOT / "tests/e2e/braked.py"), self.gate(name), str(brake), str(script),
                str(steps)]

    def talk(self, name, steps, *more):
        """Starts a run that talks, and waits until it trains."""
        run = self.begin(*self.words(name, "2x local.large", steps, "--save-every", "1s", *more,
                                     command=self.talker(name, steps)))
        self.wait_for(run, name, "step-done", self.wait_for(run, name, "saved"))
        return run

    def status(self, name):
        """What stint says where the run stands."""
        return json.loads(self.run("status", name, "-o", "json"))

    def findings(self, feature):
        """What doctor says of a feature."""
        process = self.start("doctor", "-o", "json")
        out, err = process.communicate(timeout=SECONDS_MAX)
        expect(process.returncode in (0, 1), err)
        return [it for it in json.loads(out)["findings"] if it["feature"] == feature]


def kill(run):
    """Ends the process of a run without a chance to do anything."""
    run.kill()
    run.wait()


def said(process):
    """What a followed verb has printed so far."""
    process.log.flush()
    return Path(process.log.name).read_bytes()


def expect_logs(world, name):
    """Fails unless the output is there, by rank, and harmless."""
    lines = world.run("logs", name).splitlines()
    expect({line.split(" ")[0] for line in lines} == {"[rank0]:", "[rank1]:"}, lines)
    for line in lines:
        found = re.fullmatch(r"\[rank(\d)\]: I am (\d) after step \d+", line)
        expect(found is None or found[1] == found[2], f"another rank's: {line}")
    expect("[rank0]:  20 %" in lines, f"what a terminal would leave of the first line: {lines}")
    only = world.run("logs", name, "--rank", "1").splitlines()
    expect(only and all(line.startswith("[rank1]: ") for line in only), only)
    last = world.run("logs", name, "-n", "1", "--rank", "0").splitlines()
    expect(len(last) == 1 and "I am 0 after step" in last[0], last)
    code, error = world.ask("logs", name, "--rank", "2")
    expect(code == 2 and "ranks 0 to 1" in error, error)
    code, error = world.ask("logs", "nobody")
    expect(code == 2 and "there is no run nobody" in error, error)


def expect_unattended(world, name, machines):
    """Fails unless status and doctor tell of machines that cost, and what to do about them."""
    before = world.status(name)
    expect(before["state"] == "unattended", before["state"])
    left = before["left"]
    expect(left["vms"] == machines and left["rate_usd_per_h"] > 0, left)
    expect(left["release"] == f"stint stop {name}", left)
    expect(left["resume"] == f"stint run --resume {name}", left)
    expect_bill(before)
    wait_until(lambda: world.status(name)["cost_usd"] > before["cost_usd"], "the cost grows")
    text = world.run("status", name)
    every = world.run("status")
    for words in (left["release"], left["resume"], "still up", "unattended"):
        expect(words in text and words in every, f"no '{words}' in {text}{every}")
    expect("halted" not in text + every, text + every)
    [line] = [it for it in json.loads(world.run("status", "-o", "json"))["runs"]
              if it["name"] == name]
    expect(line["state"] == "unattended" and line["left"]["vms"] == machines, line)
    advice = [it for it in world.findings("runs") if f"conducts {name}," in it["detail"]]
    expect(len(advice) == 1 and advice[0]["level"] == "advice"
           and advice[0]["fix"] == left["release"] and left["resume"] in advice[0]["detail"],
           advice)


def expect_released(world, name):
    """Fails unless the run is stopped, with the whole bill and nothing left."""
    report = world.status(name)
    expect(report["state"] == "stopped" and "left" not in report, report)
    expect(all("until_s" in vm and not vm["taken_back"] for vm in report["vms"]), report["vms"])
    expect_bill(report)
    expect(world.findings("runs")[0]["level"] == "ok", world.findings("runs"))
    code, error = world.ask("stop", name)
    expect(code == 2 and "not running" in error, error)
    return report


def smoke(world, _options):
    """The process of a run is killed: what is left is told, and released."""
    run = world.talk("truth", 400)
    follow = world.begin("logs", "-f", "--rank", "0")
    watch = world.begin("watch", "truth")
    wait_until(lambda: b"after step" in said(follow), "logs are followed")
    step = max(int(it) for it in re.findall(rb"after step (\d+)", said(follow)))
    wait_until(lambda: f"after step {step + 1}\n".encode() in said(follow), "and go on")
    wait_until(lambda: re.search(rb"\n\d\d:\d\d:\d\d\.\d  checkpoint of step", said(watch)),
               "events are watched")
    expect(watch.poll() is None and follow.poll() is None, "both go on with the run")
    expect_logs(world, "truth")
    kill(run)
    world.end(follow, 0)
    text = world.end(watch, 0)
    expect("\x1b" not in text and "stint run --resume truth" in text, text)
    expect(all(line.startswith(b"[rank0]: ") for line in said(follow).splitlines()), said(follow))
    expect_unattended(world, "truth", ["vm1", "vm2"])
    cost = world.status("truth")["cost_usd"]
    code, text = world.ask("stop", "truth")
    expect(code == 0 and "Released 2 machines: vm1, vm2; final cost $" in text, text)
    report = expect_released(world, "truth")
    expect(report["cost_usd"] >= cost, f"{report['cost_usd']} is less than {cost}")
    follow = world.begin("logs", "-f", "truth")
    world.end(follow, 0)


def resume(world, _options):
    """What status prints goes on with the run, and the bill is whole; Ctrl-C ends a follower."""
    steps = 60
    run = world.talk("again", steps)
    follow = world.begin("logs", "-f", "again")
    wait_until(lambda: b"after step" in said(follow), "logs are followed")
    follow.send_signal(signal.SIGINT)
    world.end(follow, 130)
    kill(run)
    expect_unattended(world, "again", ["vm1", "vm2"])
    paid = world.status("again")["cost_usd"]
    words = shlex.split(world.status("again")["left"]["resume"])[1:]
    run = world.begin(*words)
    world.wait_for(run, "again", "workers-up", world.wait_for(run, "again", "resumed"))
    expect(world.status("again")["state"] == "running", "somebody runs it again")
    follow = world.begin("logs", "-f", "again", "--rank", "0")
    world.release("again")
    world.end(run, 0)
    world.end(follow, 0)
    expect(f"after step {steps}\n".encode() in said(follow), "the last line is not missed")
    report = world.report("again")
    expect(report["state"] == "trained" and report["cost_usd"] >= paid, report["state"])
    expect_bill(report)
    # Released from outside, and resumed afterwards.
    run = world.talk("later", steps)
    kill(run)
    world.run("stop", "later")
    stopped = expect_released(world, "later")
    world.release("later")
    world.end(world.begin("run", "--resume", "later"), 0)
    report = world.report("later")
    expect(report["state"] == "trained" and report["cost_usd"] > stopped["cost_usd"], report)
    expect_bill(report)
    # A runner that is killed before it has rented anything leaves nothing to pay for.
    code, text = world.ask("status", "later")
    machines = any(line.split()[:1] == ["machines"] for line in text.splitlines())
    expect(code == 0 and not machines, text)  # An event may speak of machines.


def shared(world, _options):
    """Two runs share machines, and all processes of both are killed."""
    jobs = []
    for letter in "ab":
        path = Path(world.write_job(f"pair-{letter}", 24, f"{letter}.json"))
        jobs.append(str(path))
    run = world.begin("run", "--cluster", "2x local.large", "--interleave", *jobs, "--name", "pair",
                      "--steps", "400", "--batch", str(BATCH), "--save-every", "1s", "--mode",
                      "whole", "--", *world.talker("pair", 400))
    for name in ("pair-a", "pair-b"):
        world.wait_for(run, name, "step-done", world.wait_for(run, name, "saved"))
    runners = [int(Path(world.run_folder(name), "lock").read_text())
               for name in ("pair-a", "pair-b")]
    os.kill(runners[0], signal.SIGKILL)
    wait_until(lambda: world.status("pair-a")["state"] != "running", "its process is gone")
    expect("left" not in world.status("pair-a"), "its partner has the machines")
    code, error = world.ask("stop", "pair-a")
    expect(code == 2 and "its machines train pair-b" in error, error)
    # Whoever is stopped releases nothing when the last one is killed.
    run.send_signal(signal.SIGSTOP)
    os.kill(runners[1], signal.SIGKILL)
    wait_until(lambda: world.status("pair-b")["state"] == "unattended", "both processes are gone")
    kill(run)
    expect(world.status("pair-b")["left"]["vms"] == ["vm1", "vm2"], world.status("pair-b"))
    code, text = world.ask("stop", "pair-b")
    expect(code == 0 and "Released 2 machines" in text, text)
    for name in ("pair-a", "pair-b"):
        report = world.status(name)
        expect(report["state"] == "stopped" and "left" not in report, report["state"])


def at_terminal(world, answer, *words):
    """Runs stint at a terminal that answers the question; its exit code and all it said."""
    terminal, theirs = pty.openpty()
    process = subprocess.Popen([world.binary, *words], env=world.environment, stdin=theirs,
                               stdout=theirs, stderr=theirs, cwd=world.folder, close_fds=True,
                               start_new_session=True)
    world.started.append(process)
    os.close(theirs)
    text, asked = b"", False
    end = time.monotonic() + SECONDS_MAX
    while time.monotonic() < end:
        if select.select([terminal], [], [], LOOK)[0]:
            try:
                text += os.read(terminal, 1 << 16)
            except OSError:  # All ends on the other side are closed.
                break
        if not asked and b"[y/N]" in text:
            asked = True
            os.write(terminal, answer.encode() + b"\n")
    os.close(terminal)
    return process.wait(SECONDS_MAX), text.decode(errors="replace")


def consent(world, _options):
    """A command that comes from a file is shown, and asked for at a terminal."""
    mark = Path(world.folder, "it ran")
    job = json.loads(Path(world.job).read_text()) | {"command": ["touch", str(mark)],
                                                     "goal": {"epochs": 1},
                                                     "batch": {"reference": BATCH}}
    profile = Path(world.folder, "mine.json")
    profile.write_text(json.dumps(job))
    plan = Path(world.folder, "mine.plan")
    world.run("plan", "--job", str(profile), "--deadline", "1h", "--providers", "local",
              "--max-vms", "1", "-n", "1", "--save", str(plan))
    words = ["run", "--cluster", "1x local.fast", "--job", str(profile), "--steps", "2"]
    shown = f"touch {shlex.quote(str(mark))}"
    for asked in (words, ["run", "--plan", str(plan)], ["run", "--plan", "1"],
                  ["search", "--job", str(profile), "--target", "steps=9"],
                  ["run", "--cluster", "2x local.fast", "--interleave", str(profile), str(profile),
                   "--steps", "2"]):
        code, text = world.ask(*asked)
        expect(code == 2 and shown in text and "--yes" in text, f"{asked}: {code}: {text}")
        for answer in ("n", "", "nonsense"):
            code, text = at_terminal(world, answer, *asked)
            expect(code == 2 and shown in text.replace("\r\n", "") and "[y/N]" in text,
                   f"{asked}: {code}: {text}")
        code, text = world.ask(*asked, "--dry-run")
        expect(code == 0 and shown in text, f"{asked}: {code}: {text}")
    foreign = json.loads(plan.read_text())
    expect(foreign["made_by"] == os.geteuid() and foreign["made_on"], foreign)
    plan.write_text(json.dumps(foreign | {"made_on": "elsewhere"}))
    code, text = at_terminal(world, "n", "run", "--plan", str(plan))
    expect(code == 2 and "made on another computer, elsewhere" in text, text)
    expect(not mark.exists(), "a command ran that nobody agreed to")
    expect(not Path(world.folder, "stint/runs").exists(), "a run was begun")
    # It takes no orders, so that the run may end as it likes; here it is about that it begins.
    at_terminal(world, "y", *words, "--name", "agreed", "--budget", "1 USD")
    expect(mark.exists(), "a command that was agreed to did not run")
    mark.unlink()
    run = world.begin(*words, "--name", "yes", "--yes")
    wait_until(mark.exists, "with --yes it runs")
    run.send_signal(signal.SIGINT)
    run.wait(SECONDS_MAX)


MODES = {"smoke": smoke, "resume": resume, "shared": shared, "consent": consent}

if __name__ == "__main__":
    main(__doc__, MODES, Truth)
