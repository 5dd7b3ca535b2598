# SPDX-License-Identifier: Apache-2.0
"""A reader of profile.proto of its own, so that the tests do not trust the
writer under test. Field numbers: github.com/google/pprof, proto/profile.proto."""
import collections
import gzip

Frame = collections.namedtuple("Frame", "function system file line start_line address mapping")
Mapping = collections.namedtuple("Mapping", "start limit offset file build_id")


def fields(data):
    """(number, value) of one message: ints, and bytes for length-delimited ones."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
        elif kind == 2:
            size = varint()
            if at + size > len(data):
                raise ValueError("a field reaches beyond the message")
            yield key >> 3, data[at:at + size]
            at += size
        elif kind in (1, 5):
            size = 8 if kind == 1 else 4
            yield key >> 3, int.from_bytes(data[at:at + size], "little")
            at += size
        else:
            raise ValueError(f"wire type {kind}")


def message(data):
    found = collections.defaultdict(list)
    for number, value in fields(data):
        found[number].append(value)
    return found


def integers(values):
    """Repeated integers, packed or not."""
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(value)
        else:
            at = 0
            while at < len(value):
                number = shift = 0
                while True:
                    byte = value[at]
                    at += 1
                    number |= (byte & 0x7F) << shift
                    shift += 7
                    if byte < 0x80:
                        break
                out.append(number)
    return out


def one(found, number, default=0):
    return found[number][-1] if found[number] else default


class Sample:
    def __init__(self, values, frames, labels):
        self.values, self.frames, self.labels = values, frames, labels  # frames: leaf first


class Profile:
    @classmethod
    def load(cls, path):
        with open(path, "rb") as f:
            return cls(gzip.decompress(f.read()))

    def __init__(self, data):
        top = message(data)
        self.strings = [s.decode("utf-8", "replace") for s in top[6]]
        self.size = len(data)
        self.private = sorted(n for n in top if n >= 1000)
        text = self.strings.__getitem__
        self.types = [(text(one(m, 1)), text(one(m, 2))) for m in map(message, top[1])]
        self.comments = [text(i) for i in integers(top[13])]
        self.time_nanos, self.duration_nanos, self.period = one(top, 9), one(top, 10), one(top, 12)
        self.mappings = {}
        for m in map(message, top[3]):
            self.mappings[one(m, 1)] = Mapping(one(m, 2), one(m, 3), one(m, 4), text(one(m, 5)), text(one(m, 6)))
        functions = {}
        for m in map(message, top[5]):
            functions[one(m, 1)] = (text(one(m, 2)), text(one(m, 3)), text(one(m, 4)), one(m, 5))
        locations = {}
        for m in map(message, top[4]):
            mapping = self.mappings.get(one(m, 2))
            lines = [message(line) for line in m[4]]
            locations[one(m, 1)] = [
                Frame(*functions[one(l, 1)][:3], one(l, 2), functions[one(l, 1)][3], one(m, 3), mapping)
                for l in lines] or [Frame("", "", "", 0, 0, one(m, 3), mapping)]
        # Private field 1007, user/profile/pprof_fields.h: the accounts of the recording.
        self.counters = {text(one(m, 1)): one(m, 4) for m in map(message, top[1007])}
        self.samples = []
        for m in map(message, top[2]):
            labels = {}
            for label in map(message, m[3]):
                labels[text(one(label, 1))] = text(one(label, 2)) if label[2] else one(label, 3)
            frames = [frame for i in integers(m[1]) for frame in locations[i]]
            self.samples.append(Sample(integers(m[2]), frames, labels))

    def total(self, value=0, keep=lambda sample: True):
        return sum(s.values[value] for s in self.samples if keep(s))

    def flat(self, key, value=0):
        """Sum of the values by key(leaf frame)."""
        sums = collections.Counter()
        for s in self.samples:
            if s.frames:
                sums[key(s.frames[0])] += s.values[value]
        return sums

    def cum(self, key, value=0):
        """Sum by key(frame), each key once per sample."""
        sums = collections.Counter()
        for s in self.samples:
            for k in {key(frame) for frame in s.frames}:
                sums[k] += s.values[value]
        return sums

    def flat_lines(self, value=0):
        return self.flat(line_key, value)

    def cum_lines(self, value=0):
        return self.cum(line_key, value)


def line_key(frame):
    return f"{frame.file.rsplit('/', 1)[-1]}:{frame.line}"


def function_key(frame):
    return frame.function


def in_kernel(frame):
    return frame.address >> 63 == 1
