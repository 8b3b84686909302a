"""Python imports this first when `stint` starts a script; it waits for torch."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class TorchFinder(importlib.abc.MetaPathFinder):
    """Installs the recorder as soon as torch has been imported."""

    def find_spec(self, name, path, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_install(module):
                load(module)
                install()

            spec.loader.exec_module = load_and_install
        return spec


def install():
    """Begins what the environment asks for."""
    if os.environ.get("STINT_PROFILE_OUT"):
        measure()
        return
    if os.environ.get("STINT_CONTROL"):
        supervise()
    if os.environ.get("STINT_TURNSTILE"):
        take_turns()


def measure():
    """A version of PyTorch that cannot be measured must still train."""
    try:
        from stint import patches
        patches.install()
    except Exception as error:
        print(f"stint: this script is not measured: {error!r}", file=sys.stderr)


def supervise():
    """A script whose steps cannot be counted is supervised by its processes alone."""
    try:
        from stint import script
        script.install()
    except Exception as error:
        print(f"stint: the steps of this script are not counted: {error!r}", file=sys.stderr)


def take_turns():
    """What cannot take turns must not train: another job computes on the same accelerator."""
    from stint import turns_ddp
    try:
        turns_ddp.install()
    except Exception as error:
        sys.exit(f"stint: this script cannot take turns: {error}")


def run_other_sitecustomize():
    """Runs the sitecustomize that this one hides, if there is one."""
    paths = [path for path in sys.path if os.path.abspath(path) != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", paths)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if any(os.environ.get(f"STINT_{name}") for name in ("PROFILE_OUT", "CONTROL", "TURNSTILE")):
    sys.meta_path.insert(0, TorchFinder())
if os.environ.get("STINT_CONTROL"):
    try:
        from stint import script as its_script
        its_script.begin()
    except Exception as its_error:
        print(f"stint: this script is supervised by its processes alone: {its_error!r}",
              file=sys.stderr)
run_other_sitecustomize()
