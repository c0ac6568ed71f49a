"""OpenCV's StereoSGBM as the stereo bench's peer.

Usage: opencv_sgbm.py WIDTH HEIGHT DISPARITIES THREADS ROUNDS MODE LEFT RIGHT OUT. LEFT and RIGHT are raw grey
bytes; OUT gets float32 disparities (NaN unknown). Prints JSON: median CPU and least wall milliseconds.
"""

import json
import statistics
import sys
import time

import cv2
import numpy as np

MODES = {"hh": cv2.STEREO_SGBM_MODE_HH, "3way": cv2.STEREO_SGBM_MODE_SGBM_3WAY}


def main(arguments: list[str]) -> None:
    width, height, disparities, threads, rounds = (int(text) for text in arguments[:5])
    mode, left_path, right_path, out_path = arguments[5:]
    left, right = (np.fromfile(path, np.uint8).reshape(height, width) for path in (left_path, right_path))
    cv2.setNumThreads(threads)
    block = 5
    matcher = cv2.StereoSGBM_create(
        minDisparity=0,
        numDisparities=disparities,
        blockSize=block,
        P1=8 * block * block,
        P2=32 * block * block,
        disp12MaxDiff=1,
        uniquenessRatio=10,
        speckleWindowSize=100,
        speckleRange=2,
        mode=MODES[mode],
    )
    cpu: list[float] = []
    wall: list[float] = []
    for _ in range(rounds):
        cpu_start, wall_start = time.process_time(), time.perf_counter()
        matcher.compute(left, right)
        cpu.append(time.process_time() - cpu_start)
        wall.append(time.perf_counter() - wall_start)
    # Its left columns are blind for want of candidates: padding gives it the same chance as ours has.
    padded = [
        cv2.copyMakeBorder(image, 0, 0, disparities, 0, cv2.BORDER_REPLICATE) for image in (left, right)
    ]
    found = matcher.compute(*padded)[:, disparities:].astype(np.float32) / 16
    found[found < 0] = np.nan
    found.tofile(out_path)
    print(
        json.dumps(
            {"cpu_ms": 1000 * statistics.median(cpu), "wall_ms": 1000 * min(wall), "version": cv2.__version__}
        )
    )


if __name__ == "__main__":
    main(sys.argv[1:])
