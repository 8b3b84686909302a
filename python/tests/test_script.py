"""The hook that supervises ordinary scripts under `stint run`. Skips without torch."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

PYTHON = Path(__file__).resolve().parent.parent
SECONDS_MAX = 300

try:
    import torch  # noqa: F401
except ImportError:
    print("skipped: this interpreter has no torch")
    sys.exit(77)

TRAINING = """
import torch
torch.set_num_threads(1)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
"""


class ScriptTest(unittest.TestCase):
    """Names are sentences."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.notes = os.path.join(self.folder, "notes.jsonl")

    def run_script(self, text, **variables):
        """Runs a script as `stint run` does; returns its exit code and what the hook said."""
        ours, theirs = socket.socketpair()
        environment = dict(os.environ, PYTHONPATH=f"{PYTHON}/stint_site:{PYTHON}",
                           STINT_CONTROL=str(theirs.fileno()), STINT_ATTEMPT="3",
                           STINT_SCRIPT_NOTES=self.notes, PYTHONDONTWRITEBYTECODE="1", **variables)
        path = os.path.join(self.folder, "train.py")
        Path(path).write_text(TRAINING + textwrap.dedent(text))
        with theirs:
            process = subprocess.run([sys.executable, path], env=environment, cwd=self.folder,
                                     pass_fds=[theirs.fileno()], capture_output=True, text=True,
                                     timeout=SECONDS_MAX, check=False)
        self.errors = process.stderr
        with ours, ours.makefile("r", encoding="utf-8") as lines:
            said = [next(iter(json.loads(line).items())) for line in lines]
        return process.returncode, said

    def of_kind(self, said, kind):
        return [facts for name, facts in said if name == kind]

    def test_steps_are_counted_to_the_last(self):
        code, said = self.run_script("train(70)")
        self.assertEqual(code, 0, self.errors)
        counts = self.of_kind(said, "counted")
        self.assertEqual(counts[0]["steps"], 1)
        self.assertNotIn("time_s", counts[0])
        self.assertEqual({one["attempt"] for one in counts}, {3})
        self.assertEqual((counts[-1]["steps"], counts[-1]["base"]), (70, 0))
        self.assertGreater(counts[-1]["time_s"], 0)
        self.assertLess(len(counts), 20)  # Not one by one.

    def test_a_restarted_script_continues_counting_where_its_checkpoint_was_made(self):
        code, said = self.run_script("""
            train(12)
            torch.save(model.state_dict(), "a.tmp")
            import os
            os.replace("a.tmp", "a.pt")
            train(3)
            """)
        self.assertEqual(code, 0, self.errors)
        [checkpoint] = self.of_kind(said, "wrote_checkpoint")
        self.assertEqual(checkpoint["step"], 12)
        code, said = self.run_script("""
            model.load_state_dict(torch.load("a.pt"))
            train(5)
            torch.load("a.pt")
            with open("b.pt", "wb") as file:
                torch.save(model.state_dict(), file)
            """)
        self.assertEqual(code, 0, self.errors)
        last = self.of_kind(said, "counted")[-1]
        self.assertEqual((last["base"], last["steps"]), (12, 5))
        [checkpoint] = self.of_kind(said, "wrote_checkpoint")
        self.assertEqual(checkpoint["step"], 17)

    def test_weights_from_elsewhere_are_no_steps(self):
        code, said = self.run_script("""
            torch.save(model.state_dict(), "pretrained.pt")
            torch.load("pretrained.pt")
            train(2)
            """)
        self.assertEqual(code, 0, self.errors)
        self.assertEqual(self.of_kind(said, "counted")[-1]["base"], 0)
        self.assertEqual(self.of_kind(said, "wrote_checkpoint"), [])

    def test_an_exception_is_reported_with_its_traceback(self):
        code, said = self.run_script("""
            train(2)
            raise ValueError("bad sample")
            """)
        self.assertEqual(code, 1)
        [failure] = self.of_kind(said, "failed")
        self.assertTrue(failure["text"].endswith("ValueError: bad sample"), failure)
        self.assertIn("Traceback", failure["text"])
        # Of the clock that nobody sets, which all workers of the computer share.
        self.assertGreater(failure["time"], 0)
        self.assertLessEqual(failure["time"], time.clock_gettime(time.CLOCK_BOOTTIME))
        self.assertIn("ValueError: bad sample", self.errors)
        self.assertEqual(self.of_kind(said, "counted")[-1]["steps"], 2)

    def test_files_that_were_written_are_noted(self):
        code, _said = self.run_script("""
            import json
            with open("metrics.json", "w") as file:
                json.dump({}, file)
            with open("/dev/null", "w") as file:
                file.write("x")
            train(1)
            torch.save(model.state_dict(), "model.pt")
            """)
        self.assertEqual(code, 0, self.errors)
        notes = [json.loads(line) for line in Path(self.notes).read_text().splitlines()]
        wrote = {os.path.basename(one["wrote"]) for one in notes if "wrote" in one}
        self.assertEqual(wrote, {"metrics.json", "model.pt"})

    def test_a_script_that_uses_job_speaks_for_itself(self):
        code, said = self.run_script("""
            import os
            os.environ.pop("STINT_CONTROL")  # As stint.Job does.
            train(5)
            """)
        self.assertEqual(code, 0, self.errors)
        self.assertEqual(self.of_kind(said, "counted"), [])

    def test_another_file_in_place_of_the_channel_is_left_alone(self):
        environment = dict(os.environ, PYTHONPATH=f"{PYTHON}/stint_site:{PYTHON}",
                           STINT_CONTROL="1")
        process = subprocess.run([sys.executable, "-c", TRAINING + "train(3)"], env=environment,
                                 capture_output=True, text=True, timeout=SECONDS_MAX, check=False)
        self.assertEqual((process.returncode, process.stdout), (0, ""), process.stderr)


if __name__ == "__main__":
    unittest.main()
