"""The keystream a second time, from its description alone: plain Python, no package, no library.

Slow and direct where the package is fast, so that the two share nothing but the specification in
the docstring of `bistochastic.keystream`. Run as a program it prints the known answers that
`tests/vectors/keystream.json` holds:

    python tests/second_keystream.py > tests/vectors/keystream.json
"""

import hashlib
import hmac
import json
import re

# AES-256, as in FIPS 197.


def times_x(byte):
    """Twice a byte in the field of AES."""
    return (byte << 1) ^ (0x11B if byte & 0x80 else 0)


def substitution():
    """The S-box: inverses in the field, by powers of 3 and of its inverse, then affine."""
    box, p, q = [0x63] * 256, 1, 1
    while True:
        p ^= times_x(p)
        for shift in (1, 2, 4):
            q ^= q << shift
        q = (q & 0xFF) ^ (0x09 if q & 0x80 else 0)
        box[p] = 0x63
        for turn in range(5):
            box[p] ^= ((q << turn) | (q >> (8 - turn))) & 0xFF
        if p == 1:
            return box


BOX = substitution()


def round_keys(key):
    """Sixty columns of four bytes from the 32 of the key."""
    columns = [list(key[at : at + 4]) for at in range(0, 32, 4)]
    power = 1
    for i in range(8, 60):
        column = list(columns[-1])
        if i % 8 == 0:
            column = [BOX[byte] for byte in column[1:] + column[:1]]
            column[0] ^= power
            power = times_x(power)
        elif i % 8 == 4:
            column = [BOX[byte] for byte in column]
        columns.append([a ^ b for a, b in zip(columns[i - 8], column, strict=True)])
    flat = [byte for column in columns for byte in column]
    return [flat[at : at + 16] for at in range(0, 240, 16)]


SHIFTED = [(i + 4 * (i % 4)) % 16 for i in range(16)]  # row r of the state turns by r columns


def encrypt(keys, block):
    """One block of 16 bytes under expanded keys."""
    state = [a ^ b for a, b in zip(block, keys[0], strict=True)]
    for number in range(1, 15):
        state = [BOX[state[i]] for i in SHIFTED]
        if number < 14:
            mixed = []
            for at in range(0, 16, 4):
                a, b, c, d = state[at : at + 4]
                every = a ^ b ^ c ^ d
                mixed += [
                    a ^ every ^ times_x(a ^ b),
                    b ^ every ^ times_x(b ^ c),
                    c ^ every ^ times_x(c ^ d),
                    d ^ every ^ times_x(d ^ a),
                ]
            state = mixed
        state = [a ^ b for a, b in zip(state, keys[number], strict=True)]
    return bytes(state)


def counter_mode(key, counter, text):
    """AES-256 in counter mode (NIST SP 800-38A)."""
    keys, result = round_keys(key), b""
    for at in range(0, len(text), 16):
        pad = encrypt(keys, ((counter + at // 16) % (1 << 128)).to_bytes(16, "big"))
        result += bytes(a ^ b for a, b in zip(text[at : at + 16], pad, strict=False))
    return result


# Subkeys.


def hkdf(secret, info, *, salt=b"", length=32):
    """HKDF-SHA256 (RFC 5869)."""
    extracted = hmac.new(salt or bytes(32), secret, hashlib.sha256).digest()
    result, last, number = b"", b"", 1
    while len(result) < length:
        last = hmac.new(extracted, last + info + bytes([number]), hashlib.sha256).digest()
        result, number = result + last, number + 1
    return result[:length]


def encoding(value):
    """A value as kind, length and spelling."""
    if value is None:
        kind, content = b"n", b""
    elif isinstance(value, bool):
        kind, content = b"b", b"1" if value else b"0"
    elif isinstance(value, int):
        kind, content = b"i", b"%d" % value
    elif isinstance(value, float):
        kind, content = b"f", value.hex().encode()
    elif isinstance(value, str):
        kind, content = b"s", value.encode()
    else:
        kind, content = b"l", b"".join(encoding(item) for item in value)
    return kind + len(content).to_bytes(8, "big") + content


def scope_info(scope, kind, purpose):
    """What a subkey is derived over."""
    fields = ("release", "column", "domain", "matrix", "word_bits")
    return encoding([1, kind, purpose, *(scope[field] for field in fields)])


# Words.


class RowWords:
    """Words by row number."""

    def __init__(self, secret, scope, purpose="rows"):
        self.subkey = hkdf(secret, scope_info(scope, "rows", purpose))
        self.keys, self.bits = round_keys(self.subkey), scope["word_bits"]

    def word(self, row, draw=0, attempt=0):
        """The word of one row."""
        block = encrypt(
            self.keys,
            draw.to_bytes(4, "big") + attempt.to_bytes(4, "big") + (row // 2).to_bytes(8, "big"),
        )
        half = block[8:] if row % 2 else block[:8]
        return int.from_bytes(half, "little") >> (64 - self.bits)


class RecordWords:
    """Words by record id and true code."""

    def __init__(self, secret, scope, purpose="records"):
        self.subkey = hkdf(secret, scope_info(scope, "records", purpose))
        self.naming = hkdf(secret, encoding([1, "names"]))
        self.keys, self.bits = round_keys(self.subkey), scope["word_bits"]

    def name(self, record):
        """The first block of a record."""
        if isinstance(record, int):
            return (record % (1 << 64)).to_bytes(8, "little") + bytes([record < 0]) + bytes(7)
        text = isinstance(record, str)
        return hashlib.blake2b(
            record.encode() if text else record,
            digest_size=16,
            key=self.naming,
            person=b"text" if text else b"bytes",
        ).digest()

    def word(self, record, code, draw=0, attempt=0):
        """The word of one record with one true code."""
        chained = encrypt(self.keys, self.name(record))
        second = code.to_bytes(8, "little") + draw.to_bytes(4, "little")
        second += attempt.to_bytes(4, "little")
        block = encrypt(self.keys, bytes(a ^ b for a, b in zip(chained, second, strict=True)))
        return int.from_bytes(block[:8], "little") >> (64 - self.bits)


# Reports: `word` is a function of draw and attempt.


def mixture(code, word, n, truth, lie):
    """Words below `truth` tell it; the others fall into runs of `lie`, one for each other code."""
    first = word(0, 0)
    if first < truth:
        return code
    other = (first - truth) // lie
    return other + (other >= code)


def uniform(word, size, bits):
    """A whole number below size, and how many words were rejected."""
    attempt, share = 0, (1 << bits) // size
    while word(0, attempt) // share >= size:
        attempt += 1
    return word(0, attempt) // share, attempt


def alias(weights, bits):
    """Thresholds and aliases: light columns filled by heavy ones, both in order."""
    k = max(1, (len(weights) - 1).bit_length())
    cap = 1 << (bits - k)
    kept = list(weights) + [0] * ((1 << k) - len(weights))
    heavy = [j for j, weight in enumerate(kept) if weight >= cap]
    fills = list(range(1 << k))
    at, spare = 0, kept[heavy[0]] - cap
    for j in [j for j, weight in enumerate(kept) if weight < cap]:
        fills[j] = heavy[at]
        spare -= cap - kept[j]
        while spare < 0:
            kept[heavy[at]] = cap + spare
            fills[heavy[at]] = heavy[at + 1]
            at += 1
            spare += weights[heavy[at]] - cap
    kept[heavy[at]] = cap
    for j in heavy[at:]:
        kept[j] = cap
    return kept, fills, k


def dense(code, word, rows, bits):
    """The top bits choose a slot; the others, whether it is left for its alias."""
    kept, fills, k = alias(rows[code], bits)
    first = word(0, 0)
    slot, rest = first >> (bits - k), first & ((1 << (bits - k)) - 1)
    return slot if rest < kept[slot] else fills[slot]


# The known answers.

SECRET = bytes(range(32))
DOMAIN = ["north", "east", "south", "west", None]
ROWS = [0, 1, 2, 3, 7, 1000, 65535, 65536, 4294967296, 1099511627775]
NUMBERS = [0, 1, 18446744073709551615, -1, -9223372036854775808]
RECORDS = [*NUMBERS, "0", "record-17", "Łódź", "", b"0", b"\xff\x00"]
PLACES = [(0, 0), (0, 1), (1, 0), (2, 3), (4095, 0)]
DENSE = [
    [12912720851596685670, 3689348814741910631, 1844674407370955315],
    [1844674407370955315, 12912720851596685670, 3689348814741910631],
    [3689348814741910631, 1844674407370955315, 12912720851596685670],
]
MATRICES = {
    "mixture": "993e1069a186298745f438b91987506cea205f95f0ee8a89a303a21e49763c60",
    "dense": "37ee302a07911e88683277c65d0f06be88305ac2e30ea1bc5da79a3a7cab73e2",
    "secrecy16": "9f3eabd1d89806b6b8fe7a545f1f7fc2f3b56019314d8b94a337327c93edb63f",
    "secrecy64": "d5478f80b60077180069021fb86c6bb1a0823f735aebdb4c1b8a0050acbef7c3",
}


def digits(word):
    """A word as text: JSON numbers end at 2^53 in some languages."""
    return f"{word:016x}"


def spelled(record):
    """A record id and its kind as text."""
    if isinstance(record, bytes):
        return ["bytes", record.hex()]
    return ["number" if isinstance(record, int) else "text", str(record)]


def scope_of(matrix, *, column="region", word_bits=64):
    """A scope with the domain of the vectors."""
    return {
        "release": "2026-11",
        "column": column,
        "domain": hashlib.sha256(encoding(DOMAIN)).hexdigest(),
        "matrix": MATRICES[matrix],
        "word_bits": word_bits,
    }


def row_case(scope, purpose="rows"):
    """Words of some rows at some draws and attempts."""
    source = RowWords(SECRET, scope, purpose)
    words = [
        [row, draw, attempt, digits(source.word(row, draw, attempt))]
        for draw, attempt in PLACES
        for row in ROWS
        if (draw + 1) * (row // 2 + 1) <= 1 << 40
    ]
    return {
        "scope": scope,
        "purpose": purpose,
        "info": scope_info(scope, "rows", purpose).hex(),
        "subkey": source.subkey.hex(),
        "words": words,
    }


def record_case(scope):
    """Words of some records at some codes, draws and attempts."""
    source = RecordWords(SECRET, scope)
    words = [
        [*spelled(record), code, draw, attempt, digits(source.word(record, code, draw, attempt))]
        for draw, attempt in PLACES
        for code in (0, 3, 1 << 40)
        for record in RECORDS
    ]
    return {
        "scope": scope,
        "info": scope_info(scope, "records", "records").hex(),
        "subkey": source.subkey.hex(),
        "naming": source.naming.hex(),
        "words": words,
    }


def report_cases(count=60):
    """Reports of rows, and of records, through channels with and without rejection."""
    five = [row % 5 for row in range(count)]
    three = [row % 3 for row in range(count)]
    truth, lie = 11068046444225730560, 1844674407370955264
    sources = {
        name: RowWords(SECRET, scope_of(name, word_bits=16 if name == "secrecy16" else 64))
        for name in MATRICES
    }

    def at(source, *place):
        return lambda draw, attempt: source.word(*place, draw, attempt)

    mixed = [mixture(c, at(sources["mixture"], i), 5, truth, lie) for i, c in enumerate(five)]
    tabled = [dense(c, at(sources["dense"], i), DENSE, 64) for i, c in enumerate(three)]
    short = [uniform(at(sources["secrecy16"], i), 40000, 16) for i in range(count)]
    long = [uniform(at(sources["secrecy64"], i), (1 << 62) + 1, 64) for i in range(count)]
    permanent = RecordWords(SECRET, scope_of("mixture"))
    kept = [mixture(c, at(permanent, 10 * i, c), 5, truth, lie) for i, c in enumerate(five)]
    named = [mixture(c, at(permanent, f"r{i}", c), 5, truth, lie) for i, c in enumerate(five)]
    return {
        "mixture": {"codes": five, "reports": mixed},
        "dense": {"codes": three, "reports": tabled, "weights": [list(map(str, r)) for r in DENSE]},
        "secrecy16": {"reports": [r for r, _ in short], "rejections": [a for _, a in short]},
        "secrecy64": {"reports": [str(r) for r, _ in long], "rejections": [a for _, a in long]},
        "permanent": {
            "ids": [10 * i for i in range(count)],
            "texts": [f"r{i}" for i in range(count)],
            "codes": five,
            "reports": kept,
            "reports_of_texts": named,
        },
    }


def vectors():
    """All known answers."""
    scope = scope_of("mixture")
    return {
        "format": 1,
        "secret": SECRET.hex(),
        "domain": DOMAIN,
        "rows": [
            row_case(scope),
            row_case(scope, "shuffle"),
            row_case(scope_of("mixture", column=["region", "Größe"])),
            row_case(scope_of("mixture", word_bits=16)),
            row_case({**scope, "matrix": None}, "noise"),
        ],
        "records": [record_case(scope), record_case(scope_of("mixture", word_bits=16))],
        "reports": report_cases(),
    }


if __name__ == "__main__":
    text = json.dumps(vectors(), indent=1, ensure_ascii=False)
    innermost = re.compile(r"\[[^][{}]*\]")
    print(innermost.sub(lambda found: re.sub(r"\s*\n\s*", " ", found[0]), text))
