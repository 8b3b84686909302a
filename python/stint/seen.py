"""What a script's training consists of: precision, clipping, compilation and the like.

Each of these is noticed where the script calls PyTorch for it. Nothing is changed.
"""

import functools

import torch
import torch.utils.checkpoint

from stint.steps import scaler_classes


class Seen:
    """What was noticed so far."""

    def __init__(self):
        self.autocast = None  # The name of a type of numbers.
        self.autocast_wanted = None  # The same where the script asks for a GPU that is not there.
        self.scaler = None    # The gradient scaler that is enabled.
        self.clipping = []    # "norm", "value".
        self.compiled = False
        self.checkpointing = False

    def clips(self, what):
        if what not in self.clipping:
            self.clipping.append(what)

    def scale(self):
        """Returns what gradients are multiplied by before a step."""
        return float(self.scaler.get_scale()) if self.scaler is not None else 1.0

    def facts(self, parameters, device):
        """Returns what is known of training with these parameters, by name."""
        found = {"parameters": sorted({dtype_name(one.dtype) for one in parameters}),
                 "autocast": self.autocast, "tf32": tf32_switches(device),
                 "gradient_scaler": self.scaler is not None, "clipping": self.clipping,
                 "compiled": self.compiled, "activation_checkpointing": self.checkpointing}
        return {name: value for name, value in found.items() if value not in (None, [])}


def dtype_name(dtype):
    return str(dtype).removeprefix("torch.")


def tf32_switches(device):
    """Returns where TensorFloat-32 is allowed: matmul only if the script switched it on, since that
    is not PyTorch's default; convolutions where there are any on a GPU."""
    found = []
    if torch.backends.cuda.matmul.allow_tf32:
        found.append("matmul")
    if device.type == "cuda" and torch.backends.cudnn.allow_tf32:
        found.append("convolution")
    return found


def install(seen):
    """Notices from now on."""
    watch_autocast(seen)
    watch_scalers(seen)
    watch_clipping(seen)
    watch_compilation(seen, torch)
    noting(torch.utils.checkpoint, "checkpoint", lambda: setattr(seen, "checkpointing", True))


def noting(place, name, note):
    """Replaces a function of a module or class by one that notes its call."""
    original = getattr(place, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def call(*arguments, **keywords):
        note()
        return original(*arguments, **keywords)

    setattr(place, name, call)


def watch_autocast(seen):
    original = torch.autocast.__enter__

    @functools.wraps(original)
    def enter(self):
        # One around an evaluation says nothing about training.
        if not torch.is_grad_enabled():
            return original(self)
        kind = dtype_name(getattr(self, "fast_dtype", "unknown"))
        if getattr(self, "_enabled", True):
            seen.autocast = kind
        if getattr(self, "_stint_wanted", False):
            seen.autocast_wanted = kind
        return original(self)

    create = torch.autocast.__init__

    @functools.wraps(create)
    def initialise(self, *arguments, **keywords):
        # PyTorch switches autocast for CUDA off where there is no GPU.
        given = arguments[2] if len(arguments) > 2 else keywords.get("enabled", True)
        self._stint_wanted = bool(given)
        create(self, *arguments, **keywords)

    torch.autocast.__enter__ = enter
    torch.autocast.__init__ = initialise


def watch_scalers(seen):
    for kind in scaler_classes():
        kind.step = with_note(kind.step, seen)


def with_note(original, seen):
    @functools.wraps(original)
    def step(self, *arguments, **keywords):
        if self.is_enabled():
            seen.scaler = self
        return original(self, *arguments, **keywords)
    return step


def watch_clipping(seen):
    for name, what in (("clip_grad_norm_", "norm"), ("clip_grad_value_", "value")):
        for place in (torch.nn.utils.clip_grad, torch.nn.utils):
            noting(place, name, functools.partial(seen.clips, what))


def watch_compilation(seen, torch_module):
    """torch.compile and Module.compile, which PyTorch has had since version 2."""
    def note():
        seen.compiled = True
    noting(torch_module, "compile", note)
    noting(torch_module.nn.Module, "compile", note)
