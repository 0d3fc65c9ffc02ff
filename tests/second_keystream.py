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


def staged_mixture(code, word, n, truth, bits):
    """The first word decides whether to lie, a second one which lie."""
    if word(0, 0) < truth:
        return code
    other, _ = uniform(word, n - 1, bits, draw=1)
    return other + (other >= code)


def uniform(word, size, bits, draw=0):
    """A whole number below size, and how many words were rejected."""
    attempt, share = 0, (1 << bits) // size
    while word(draw, attempt) // share >= size:
        attempt += 1
    return word(draw, attempt) // share, attempt


def blocks(code, word, sizes, bits):
    """A uniform member of the block that the code lies in."""
    start = 0
    for size in sizes:
        if code < start + size:
            return start + (uniform(word, size, bits)[0] if size > 1 else 0)
        start += size
    raise IndexError(code)


def circulant(code, word, weights, bits):
    """A step drawn from one distribution for all codes, around the circle."""
    return (code + dense(0, word, [weights], bits)) % len(weights)


def tridiagonal(code, word, weights):
    """The lowest words step down, the next ones up, the others stay."""
    first = word(0, 0)
    down = weights[code - 1] if code else 0
    up = weights[code] if code < len(weights) else 0
    return code - 1 if first < down else code + 1 if first < down + up else code


def kronecker(code, word, factors):
    """Each digit through its own factor, which goes on where the words of the last one ended."""
    digits, used, reported = [], 0, 0
    for size, _, _ in reversed(factors):
        code, digit = divmod(code, size)
        digits.insert(0, digit)
    for digit, (size, draws, report) in zip(digits, factors, strict=True):

        def later(draw, attempt, used=used):
            return word(used + draw, attempt)

        reported = reported * size + report(digit, later)
        used += draws
    return reported


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
STEPS = [7378697629483820851, 5534023222112865126, 3689348814741910426, 1844674407370955213]
EXCHANGES = [4611686018427387904, 9223372036854775808, 3689348814741910528]
SPLIT = [40000, 1, 30000]


def digest(kind, size, bits, *ingredients):
    """SHA-256 of an integer channel: its name, its size and what determines it."""
    state = hashlib.sha256()
    for part in (kind, size, bits, *ingredients):
        listed = isinstance(part, list)
        data = str(part).encode()
        if listed:
            data = b"".join((number % (1 << 64)).to_bytes(8, "little") for number in part)
        state.update((b"array:" if listed else b"word:") + b"%d:" % len(data) + data)
    return state.hexdigest()


MATRICES = {
    "mixture": digest("MixtureForm", 5, 64, 11068046444225730560, 1844674407370955264),
    "staged": digest("MixtureForm", 300, 16, 299 * 32768, 32768),
    "dense": digest("TableForm", 3, 64, [weight for row in DENSE for weight in row], [-1, -1, -1]),
    "circulant": digest("CirculantForm", 4, 64, STEPS, -1),
    "tridiagonal": digest("TridiagonalForm", 4, 64, EXCHANGES, [0, 0, 0]),
    "blocks": digest("BlocksForm", sum(SPLIT), 16, SPLIT),
    "secrecy16": digest("BlocksForm", 40000, 16, [40000]),
    "secrecy64": digest("BlocksForm", (1 << 62) + 1, 64, [(1 << 62) + 1]),
}
MATRICES["joint"] = digest(
    "KroneckerForm", 48, 64, *(MATRICES[name] for name in ("dense", "tridiagonal", "circulant"))
)
MATRICES["joint16"] = digest(
    "KroneckerForm", 40000 * sum(SPLIT), 16, MATRICES["secrecy16"], MATRICES["blocks"]
)
SHORT = {"staged", "blocks", "secrecy16", "joint16"}  # 16-bit words, many of which are rejected


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


TRUTH, LIE = 11068046444225730560, 1844674407370955264
REPORTERS = {
    "mixture": lambda code, word: mixture(code, word, 5, TRUTH, LIE),
    "staged": lambda code, word: staged_mixture(code, word, 300, 32768, 16),
    "dense": lambda code, word: dense(code, word, DENSE, 64),
    "circulant": lambda code, word: circulant(code, word, STEPS, 64),
    "tridiagonal": lambda code, word: tridiagonal(code, word, EXCHANGES),
    "blocks": lambda code, word: blocks(code, word, SPLIT, 16),
    "secrecy16": lambda code, word: uniform(word, 40000, 16)[0],
    "secrecy64": lambda code, word: uniform(word, (1 << 62) + 1, 64)[0],
}
THREE = [(3, 1, REPORTERS["dense"]), (4, 1, REPORTERS["tridiagonal"])]
THREE.append((4, 1, REPORTERS["circulant"]))
TWO = [(40000, 1, REPORTERS["secrecy16"]), (sum(SPLIT), 1, REPORTERS["blocks"])]
REPORTERS["joint"] = lambda code, word: kronecker(code, word, THREE)
REPORTERS["joint16"] = lambda code, word: kronecker(code, word, TWO)


def codes_of(name, count):
    """Some true codes for a channel, with all of its kinds among them."""
    split = [(row * 12347) % sum(SPLIT) if row % 6 else 40000 for row in range(count)]
    if name == "blocks":
        return split
    if name == "joint16":
        return [(row * 971) % 40000 * sum(SPLIT) + code for row, code in enumerate(split)]
    sizes = {"mixture": 5, "staged": 300, "dense": 3, "circulant": 4, "tridiagonal": 4, "joint": 48}
    return [row * 7 % sizes.get(name, 1) for row in range(count)]


def reports_of(name, codes, secret=SECRET, start=0):
    """What rows from `start` on report through a channel under its own subkey."""
    source = RowWords(secret, scope_of(name, word_bits=16 if name in SHORT else 64))

    def word_of(row):
        return lambda draw, attempt: source.word(row, draw, attempt)

    return [REPORTERS[name](code, word_of(start + at)) for at, code in enumerate(codes)]


def rejections(name, size, count):
    """How many words each row rejects."""
    bits = 16 if name in SHORT else 64
    source = RowWords(SECRET, scope_of(name, word_bits=bits))
    return [
        uniform(lambda draw, attempt, row=row: source.word(row, draw, attempt), size, bits)[1]
        for row in range(count)
    ]


def permanent_case(count):
    """Reports that follow their records."""
    codes, source = codes_of("mixture", count), RecordWords(SECRET, scope_of("mixture"))

    def reports(ids):
        def word_of(record, code):
            return lambda draw, attempt: source.word(record, code, draw, attempt)

        pairs = zip(ids, codes, strict=True)
        return [REPORTERS["mixture"](code, word_of(record, code)) for record, code in pairs]

    ids, texts = [10 * i for i in range(count)], [f"r{i}" for i in range(count)]
    return {
        "ids": ids,
        "texts": texts,
        "codes": codes,
        "reports": reports(ids),
        "reports_of_texts": reports(texts),
    }


def report_cases(count=60):
    """Reports of rows, and of records, through channels with and without rejection."""
    cases = {}
    for name in MATRICES:
        codes = codes_of(name, count)
        cases[name] = {"codes": codes, "reports": reports_of(name, codes)}
    cases["dense"]["weights"] = [list(map(str, row)) for row in DENSE]
    cases["circulant"]["weights"] = list(map(str, STEPS))
    cases["tridiagonal"]["weights"] = list(map(str, EXCHANGES))
    cases["blocks"]["sizes"] = SPLIT
    cases["secrecy64"]["reports"] = list(map(str, cases["secrecy64"]["reports"]))
    cases["secrecy16"]["rejections"] = rejections("secrecy16", 40000, count)
    cases["secrecy64"]["rejections"] = rejections("secrecy64", (1 << 62) + 1, count)
    return {**cases, "permanent": permanent_case(count)}


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
