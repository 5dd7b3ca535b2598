# SPDX-License-Identifier: Apache-2.0
"""Floyd-Steinberg dithering with Numba: turns a grey image into black and
white, and hands the rounding error of each pixel on to its neighbours.

    everline annotate -- python3 examples/dither.py
"""
import time

import numpy as np
from numba import njit

SECONDS = 4


@njit
def dither(image):
    """The image in black and white."""
    result = image.astype(np.int16)
    height, width = result.shape
    for y in range(height):
        for x in range(width):
            old_value = min(max(result[y, x], 0), 255)
            new_value = np.uint8(np.round(old_value / 255.0)) * 255
            result[y, x] = new_value
            error = old_value - new_value
            if x + 1 < width:
                result[y, x + 1] += error * 7 // 16
            if y + 1 < height:
                if x > 0:
                    result[y + 1, x - 1] += error * 3 // 16
                result[y + 1, x] += error * 5 // 16
                if x + 1 < width:
                    result[y + 1, x + 1] += error // 16
    return result.astype(np.uint8)


def gradient(size):
    """A grey image: dark at the top left, bright at the bottom right."""
    ramp = np.linspace(0, 255, size)
    return ((ramp[:, np.newaxis] + ramp) / 2).astype(np.uint8)


image = gradient(512)
dither(image)  # compiles it
start = time.perf_counter()
images = 0
while time.perf_counter() - start < SECONDS:
    dither(image)
    images += 1
print(f"{images / (time.perf_counter() - start):.0f} images/sec")
