# SPDX-License-Identifier: Apache-2.0
"""Two lines of one Numba function whose CPU shares are measured by running
each alone, in the same process. Prints {"first": s, "second": s}.
Usage: python3 numba_lines.py SECONDS"""
import json
import sys
import time

import numpy as np
from numba import njit


@njit
def work(values, n_first, n_second):
    total = 0.0
    for i in range(n_first):
        total = total * 0.999999 + values[i & 1023] / (total + 1.5)  # first
    for i in range(n_second):
        total = total * 0.999998 + values[i & 1023] / (total + 2.5)  # second
    return total


def cpu(*counts):
    began = time.thread_time()
    work(values, *counts)
    return time.thread_time() - began


values = np.ones(1024)
work(values, 1, 1)
end = time.monotonic() + float(sys.argv[1])
first = second = 0.0
while time.monotonic() < end:
    first += cpu(3000000, 0)
    second += cpu(0, 1000000)
print(json.dumps({"first": first, "second": second, "process": time.process_time()}))
