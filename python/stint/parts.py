"""What a job is made of: models, optimizers, schedulers and other objects with a state, by name."""

import torch

ALONE = ""  # The name of a part that was handed over by itself.


def named(value, what, wanted):
    """Parts by name: those of a list by their number, one alone as ALONE. `wanted` are attributes
    that each must have."""
    if value is None:
        return {}
    if isinstance(value, dict):
        parts = {str(name): one for name, one in value.items()}
    elif isinstance(value, (list, tuple)):
        parts = {str(number): one for number, one in enumerate(value)}
    else:
        parts = {ALONE: value}
    for name, one in parts.items():
        missing = [each for each in wanted if not hasattr(one, each)]
        if missing:
            label = f"{what} '{name}'" if name != ALONE else f"the {what}"
            raise TypeError(f"stint.Job: {label} is a {type(one).__name__}, which has no "
                            f"{missing[0]}")
    if len({id(one) for one in parts.values()}) < len(parts):
        raise ValueError(f"stint.Job: the same {what} is there twice")
    return parts


def as_handed(parts, value):
    """Parts in the shape in which they were handed over: a dictionary or else a list."""
    return parts if isinstance(value, dict) else list(parts.values())


class Parts:
    """All of them."""

    def __init__(self, model, optimizer, scheduler=None, scaler=None, extra=None):
        self.networks = named(model, "model", ("parameters", "buffers", "forward"))
        self.optimizers = named(optimizer, "optimizer", ("param_groups", "step", "state_dict"))
        self.schedulers = named(scheduler, "scheduler", ("step", "state_dict", "load_state_dict"))
        for what, found in (("model", self.networks), ("optimizer", self.optimizers)):
            if not found:
                raise ValueError(f"stint.Job needs at least one {what}")
        self.scaler = scaler
        state = ("state_dict", "load_state_dict")
        self.objects = {}
        if scaler is not None:
            self.objects["scaler"] = named(scaler, "scaler", ("scale", *state))[ALONE]
        if extra is not None and not isinstance(extra, dict):
            raise TypeError("stint.Job: extra is a dictionary of objects by name, such as "
                            "extra={\"ema\": ema}")
        for name, one in named(extra, "extra", state).items():
            self.objects[f"extra.{name}"] = one

    def parameters(self):
        """(name, parameter) of all models."""
        for model, network in self.networks.items():
            for name, one in network.named_parameters():
                yield f"{model}.{name}" if model != ALONE else name, one

    def buffers(self):
        """Of all models."""
        return [one for network in self.networks.values() for one in network.buffers()]


def marks_unscaled(scaler):
    """Lets a loss that the scaler scales remember what it was: the loss that is told."""
    scale = scaler.scale

    def remembering(outputs):
        scaled = scale(outputs)
        if isinstance(outputs, torch.Tensor):
            scaled.stint_unscaled = outputs.detach()
        return scaled

    scaler.scale = remembering


def scale_of(scaler):
    """What gradients are multiplied by before they are unscaled."""
    if scaler is None or not getattr(scaler, "is_enabled", lambda: True)():
        return 1.0
    return float(getattr(scaler, "get_scale", lambda: 1.0)())
