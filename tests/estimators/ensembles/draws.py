"""The random draws of members of ensembles, in plain Python."""

import math

BITS = 2**64 - 1


def uniforms(state):
    """Yield numbers in [0, 1) from a state of 64 bits (SplitMix64)."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & BITS
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & BITS
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
        yield ((z ^ (z >> 31)) >> 11) / 2**53


class PoissonDraws:
    """Poisson numbers of members in turn, each from its own state, called as River calls its own function."""

    def __init__(self, states):
        self.streams = [uniforms(int(state)) for state in states]
        self.n_drawn = 0

    def __call__(self, rate, rng=None):
        member = self.n_drawn % len(self.streams)
        self.n_drawn += 1
        return self.draw(member, rate)

    def draw(self, member, rate):
        u, times = next(self.streams[member]), 0
        while u >= math.fsum(math.exp(-rate) * rate**k / math.factorial(k) for k in range(times + 1)):
            times += 1
        return times
