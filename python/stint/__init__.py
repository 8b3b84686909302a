"""Measures a PyTorch training script for Stint.

`stint profile -- /usr/bin/python3 train.py` needs no change to the script. Who prefers to say what
is to be measured writes two lines after the model and its optimizer are made:

    import stint
    stint.watch(model, optimizer)

Outside of `stint profile` both lines do nothing.

A script whose training is to go on when `stint run` loses machines uses stint.Job: see training.py.
One that splits its model over workers asks stint.layout() for its place: see layouts.py.
"""

import os

__all__ = ["Job", "batch_size", "global_batch", "job", "layout", "watch"]


def __getattr__(name):
    """stint.Job needs torch, which takes seconds to import: it comes when it is asked for."""
    if name == "Job":
        from stint.training import Job
        return Job
    raise AttributeError(f"module 'stint' has no attribute '{name}'")


def watch(model, optimizer):
    """Measures the training of `model` by `optimizer`, and no other modules and optimizers."""
    from stint import patches
    patches.watch(model, optimizer)


_own_batches = []  # The defaults that batch_size() was given.


def batch_size(default):
    """Returns the batch per worker that `stint profile --batches` asks for, or `default`."""
    _own_batches[:] = [int(default)]
    batch = int(os.environ.get("STINT_BATCH_SIZE", default))
    return min(batch, int(os.environ.get("STINT_PROFILE_BATCH_MAX", batch)))


def own_batch():
    """Returns the batch that the script would take, or None if it did not call batch_size()."""
    return _own_batches[0] if _own_batches else None


def global_batch(per_worker):
    """Returns the batch of all workers together: what `stint run` asks for, or so many samples for
    each of the workers that there are."""
    asked = os.environ.get("STINT_GLOBAL_BATCH")
    return int(asked or batch_size(per_worker) * int(os.environ.get("WORLD_SIZE", 1)))


def layout(default=None):
    """Returns how the model is split over the workers, with the place of this one; see layouts.py.
    Without `stint run --layout` that is `default`, or data parallelism over all workers."""
    from stint import layouts
    return layouts.layout(default)


def job(model, optimizer, scheduler=None, *, batch, steps, seed=1):
    """The first name of stint.Job, for scripts that have it."""
    from stint.training import Job
    return Job(model, optimizer, scheduler, batch=batch, steps=steps, seed=seed)
