"""The floor under Bootstrap Elo: whole shuffles in C, exact in double precision, several of them in each vector.

Built by the benchmark that uses it, with whatever compiler there is; without one the comparison is left out.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

_SOURCE = r"""
#include <stdint.h>
#include <stdlib.h>
#define BYTES (8 * LANES)
typedef double reals __attribute__((vector_size(BYTES)));
typedef int64_t whole __attribute__((vector_size(BYTES)));

static uint64_t state[4];
static inline uint64_t rotate(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
static inline uint64_t draw(void) { /* xoshiro256** */
  uint64_t result = rotate(state[1] * 5, 7) * 9, t = state[1] << 17;
  state[2] ^= state[0]; state[3] ^= state[1]; state[1] ^= state[2]; state[0] ^= state[3];
  state[2] ^= t; state[3] = rotate(state[3], 45);
  return result;
}

/* exp to the last bit or two: exponent and fraction split, Taylor series of degree 13 on |r| < ln(2)/2 */
#define EXP(x, out) do { \
  reals t_ = (x) * 1.4426950408889634074 + 6755399441055744.0, k_ = t_ - 6755399441055744.0; \
  reals r_ = (x) - k_ * 6.93147180369123816490e-01 - k_ * 1.90821492927058770002e-10; \
  reals p_ = r_ * (1.0 / 6227020800.0) + 1.0 / 479001600.0; \
  p_ = p_ * r_ + 1.0 / 39916800.0; p_ = p_ * r_ + 1.0 / 3628800.0; p_ = p_ * r_ + 1.0 / 362880.0; \
  p_ = p_ * r_ + 1.0 / 40320.0; p_ = p_ * r_ + 1.0 / 5040.0; p_ = p_ * r_ + 1.0 / 720.0; \
  p_ = p_ * r_ + 1.0 / 120.0; p_ = p_ * r_ + 1.0 / 24.0; p_ = p_ * r_ + 1.0 / 6.0; \
  p_ = p_ * r_ + 0.5; p_ = p_ * r_ + 1.0; p_ = p_ * r_ + 1.0; \
  (out) = (reals)((whole)p_ + ((whole)t_ << 52)); } while (0)

static void play(const uint16_t *codes, int64_t n, const int32_t *first, const int32_t *second, const double *score,
                 int players, double k, double scale, double initial, double *rating) {
  double alpha = 2.302585092994045684 / scale;
  for (int i = 0; i < players * LANES; i++) rating[i] = initial;
  for (int64_t g = 0; g < n; g++) {
    const uint16_t *code = codes + g * LANES;
    int32_t here[LANES], there[LANES];
    reals a, b, s, grown;
    for (int l = 0; l < LANES; l++) {
      here[l] = first[code[l]] * LANES + l;
      there[l] = second[code[l]] * LANES + l;
    }
    for (int l = 0; l < LANES; l++) { a[l] = rating[here[l]]; b[l] = rating[there[l]]; s[l] = score[code[l]]; }
    EXP((b - a) * alpha, grown);
    reals change = k * (s - 1.0 / (1.0 + grown));
    a += change; b -= change;
    for (int l = 0; l < LANES; l++) rating[here[l]] = a[l];
    for (int l = 0; l < LANES; l++) rating[there[l]] = b[l];
  }
}

/* reshuffle = 0 plays the first LANES shuffles again and again: what playing alone costs */
void bootstrap(const uint16_t *code, int64_t n, const int32_t *first, const int32_t *second, const double *score,
               int players, int64_t shuffles, uint64_t seed, double k, double scale, double initial, int reshuffle,
               double *out) {
  for (int i = 0; i < 4; i++) state[i] = seed * 0x9E3779B97F4A7C15ULL + i * 0xBF58476D1CE4E5B9ULL + 1;
  uint16_t *deck = malloc(n * 2), *hands = aligned_alloc(64, (n * LANES * 2 + 63) / 64 * 64);
  double *rating = aligned_alloc(256, (players * BYTES + 255) / 256 * 256);
  for (int64_t i = 0; i < n; i++) deck[i] = code[i];
  for (int64_t b = 0; b < shuffles; b += LANES) {
    if (reshuffle || b == 0)
      for (int l = 0; l < LANES; l++) {
        for (int64_t i = n - 1; i > 0; i--) {
          uint64_t j = ((draw() >> 32) * (uint64_t)(i + 1)) >> 32;
          uint16_t t = deck[i]; deck[i] = deck[j]; deck[j] = t;
        }
        for (int64_t i = 0; i < n; i++) hands[i * LANES + l] = deck[i];
      }
    play(hands, n, first, second, score, players, k, scale, initial, rating);
    for (int i = 0; i < players; i++)
      for (int l = 0; l < LANES && b + l < shuffles; l++) out[i * shuffles + b + l] = rating[i * LANES + l];
  }
  free(deck); free(hands); free(rating);
}
"""

Floor = Callable[..., np.ndarray]


def build_floor(lanes: int) -> Floor | None:
    """Compile the floor and return it as a function, or None where there is no C compiler."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as directory:
        source, library = Path(directory) / "floor.c", Path(directory) / "floor.so"
        source.write_text(_SOURCE)
        flags = ["-O3", "-march=native", "-w", f"-DLANES={lanes}", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
        bootstrap = ctypes.CDLL(str(library)).bootstrap
    pointer, real, number = ctypes.c_void_p, ctypes.c_double, ctypes.c_int64
    bootstrap.argtypes = [
        *(pointer, number, pointer, pointer, pointer, ctypes.c_int, number, ctypes.c_uint64),
        *(real, real, real, ctypes.c_int, pointer),
    ]
    bootstrap.restype = None

    def floor(
        codes: np.ndarray, first: np.ndarray, second: np.ndarray, n_players: int, shuffles: int, *, reshuffle: bool
    ) -> np.ndarray:
        """Final ratings, shape [n_players, shuffles], of comparison types 3 * pair + result (uint16)."""
        players = [np.repeat(side, 3).astype(np.int32) for side in (first, second)]
        score = np.tile([1.0, 0.5, 0.0], len(first))
        out = np.empty((n_players, shuffles))
        bootstrap(
            *(codes.ctypes.data, len(codes), players[0].ctypes.data, players[1].ctypes.data, score.ctypes.data),
            *(n_players, shuffles, 1, 32.0, 400.0, 1000.0, int(reshuffle), out.ctypes.data),
        )
        return out

    return floor
