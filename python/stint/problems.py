"""What an exception of PyTorch means."""

import torch

# What PyTorch says when it was not able to reach other workers.
NETWORK_WORDS = ("gloo", "connection reset by peer", "connection closed by peer", "broken pipe",
                 "socket timeout")
# And when there was no memory for a tensor, on a GPU or elsewhere.
MEMORY_WORDS = ("out of memory", "can't allocate memory")
HINT_UNUSED = ("stint: if the model has parameters that not every step uses, hand stint.Job "
               "ddp={\"find_unused_parameters\": True}")


def is_of_network(problem):
    """Whether an exception says that other workers were not reached."""
    return any(word in str(problem).lower() for word in NETWORK_WORDS)


def is_of_memory(problem):
    """Whether an exception says that there was not enough memory."""
    if isinstance(problem, (MemoryError, getattr(torch.cuda, "OutOfMemoryError", MemoryError))):
        return True
    text = str(problem).lower()
    return isinstance(problem, RuntimeError) and any(word in text for word in MEMORY_WORDS)
