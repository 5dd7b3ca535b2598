# SPDX-License-Identifier: Apache-2.0
"""A Numba service without line information: compiles, says "ready", works
until it is killed. Usage: python3 numba_service.py"""
import numpy as np
from numba import njit


@njit
def smooth_service(values, rounds):
    for _ in range(rounds):
        for i in range(1, values.size - 1):
            values[i] = (values[i - 1] + values[i] * 2.0 + values[i + 1]) / 4.0
    return values[1]


values = np.ones(100000)
smooth_service(values, 1)
print("ready", flush=True)
while True:
    smooth_service(values, 200)
