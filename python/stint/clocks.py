"""Marks moments of a device's work, cheaply."""

import resource
import time

import torch


class ProcessorClock:
    """Time of a processor, which has done what it was asked when the call returns."""

    mark = staticmethod(time.perf_counter)

    @staticmethod
    def seconds(begin, end):
        return end - begin

    @staticmethod
    def passed(_mark):
        return True

    @staticmethod
    def wait():
        """Nothing is ever outstanding."""

    @staticmethod
    def peak_bytes():
        """Returns the most memory that the process held."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class CudaClock:
    """Time of a GPU, by events in its current stream. Not yet run on a GPU."""

    @staticmethod
    def mark():
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    @staticmethod
    def seconds(begin, end):
        return begin.elapsed_time(end) / 1e3

    @staticmethod
    def passed(mark):
        return mark.query()

    @staticmethod
    def wait():
        torch.cuda.synchronize()

    @staticmethod
    def peak_bytes():
        """Returns the most memory that PyTorch's allocator held."""
        return torch.cuda.max_memory_allocated()


def clock_of(device):
    """Returns the clock of a torch.device."""
    return CudaClock if device.type == "cuda" else ProcessorClock
