"""Faulty keystreams: words that repeat, that follow from too little, or that somebody sees."""

from tests import test_keystream as stream
from tests.faults.planting import Fault
from tests.masking import test_randomise as randomise

ROWS, RECORDS = "keystream:Rows", "keystream:Records"
SCOPE, LISTED = "scope:Scope.info", "(self.release, self.column, self.domain, self.matrix,"
WORDS = (stream.test_known_words_of_rows, stream.VECTORS["rows"][0])
SHORT = (stream.test_known_words_of_rows, stream.VECTORS["rows"][3])
KEPT = (stream.test_known_words_of_records, stream.VECTORS["records"][0])
CHANGED = (randomise.test_any_change_gives_an_unrelated_report,)
COUNTS = (stream.test_every_ingredient_counts,)


def fault(name, where, old, new, killer):
    """A fault in one place."""
    return Fault(name, ((where, old, new),), killer[0], killer[1:])


STREAMS = [
    fault("a stream that advances, copied by fork", f"{ROWS}._stretch",
          "first, last = start >> 1, (stop + 1) >> 1",
          "at = Rows.words.__annotations__.setdefault('at', 0)\n"
          "    Rows.words.__annotations__['at'] += stop - start\n"
          "    start, stop = at, at + stop - start\n"
          "    first, last = start >> 1, (stop + 1) >> 1",
          (stream.test_forked_workers_never_repeat_a_word,)),
    fault("the counter restarts after each buffer", f"{ROWS}._stretch",
          "encryptor.update_into(ZEROS",
          "self._subkey.encryptor(modes.CTR(counter.to_bytes(16, 'big'))).update_into(ZEROS",
          (stream.test_words_do_not_depend_on_partitions,)),
    fault("words in the other byte order", f"{ROWS}._stretch", '"<u8"', '">u8"', WORDS),
    fault("scattered words in the other byte order", "keystream:_encrypted",
          '"<u8"', '">u8"', WORDS),
    fault("the counter in the other byte order", f"{ROWS}._stretch", '"big"', '"little"', WORDS),
    fault("addresses in the other byte order", f"{ROWS}._scattered", '">u8"', '"<u8"', WORDS),
    fault("odd rows begin a block", f"{ROWS}._stretch", "[start & 1 :]", "[0:]", WORDS),
    fault("one word for both rows of a block", f"{ROWS}._scattered", "+ (part & 1)", "", WORDS),
    fault("rows in 32 bits", f"{ROWS}._stretch",
          "first, last = start >> 1, (stop + 1) >> 1",
          "start, stop = start % 2**32, start % 2**32 + stop - start\n"
          "    first, last = start >> 1, (stop + 1) >> 1", WORDS),
    fault("scattered rows in 32 bits", f"{ROWS}._scattered",
          "part >> 1", "(part & 0xFFFFFFFF) >> 1", WORDS),
    fault("no draws", "keystream:_place",
          "return draw << 32 | attempt", "return attempt", WORDS),
    fault("no attempts", "keystream:_place",
          "return draw << 32 | attempt", "return draw << 32", WORDS),
    fault("a draw is an attempt", "keystream:_place",
          "return draw << 32 | attempt", "return draw + attempt", COUNTS),
    fault("the low bits of short words", "keystream:_cut",
          "native >> np.uint64(64 - word_bits)", "native & np.uint64((1 << word_bits) - 1)", SHORT),
    fault("one key for all releases", SCOPE, LISTED,
          "(self.column, self.domain, self.matrix,", CHANGED),
    fault("one key for all columns", SCOPE, LISTED,
          "(self.release, self.domain, self.matrix,", CHANGED),
    fault("one key for all domains", SCOPE, LISTED,
          "(self.release, self.column, self.matrix,", CHANGED),
    fault("one key for all matrices", SCOPE, LISTED,
          "(self.release, self.column, self.domain,", COUNTS),
    fault("one key for all sizes of word", SCOPE, ", self.word_bits)", ")", COUNTS),
    fault("one key for all purposes", SCOPE, "kind, purpose,", "kind,", COUNTS),
    fault("one key for rows and records", SCOPE, "FORMAT, kind,", "FORMAT,",
          (stream.test_known_words_of_rows, stream.VECTORS["rows"][1])),
    fault("the key itself for everything", "secret:Secret.derived",
          "return Secret(hkdf.derive(self._bytes))", "return Secret(self._bytes)", CHANGED),
    fault("half of the key", "secret:Secret.encryptor", "(self._bytes)", "(self._bytes[:16])",
          WORDS),
    fault("lists without lengths", "scope:encoded",
          'kind + len(content).to_bytes(8, "big") + content', "kind + content",
          (stream.test_domains_are_told_apart, ["a", "sb"], ["as", "b"])),
    fault("labels without types", "scope:encoded",
          "return kind +", 'return b"?" +', (stream.test_domains_are_told_apart, ["1"], [1])),
    fault("a domain without its order", "scope:domain_digest",
          "encoded(labels)", "encoded(sorted(labels))",
          (stream.test_domains_are_told_apart, ["a", "b"], ["b", "a"])),
    fault("answers whatever the true code", f"{RECORDS}.permanent",
          "true[at : at + CHUNK].astype(np.uint64)", "np.uint64(0)", CHANGED),
    fault("answers that depend on the place", f"{RECORDS}.permanent",
          "true[at : at + CHUNK].astype(np.uint64)",
          "true[at : at + CHUNK].astype(np.uint64) + np.arange(at, min(at + CHUNK, true.size),"
          " dtype=np.uint64)",
          (randomise.test_ten_thousand_repeats_are_one_report,)),
    fault("records without draws and attempts", f"{RECORDS}.permanent",
          "np.uint64(attempt << 32 | draw)", "np.uint64(0)", KEPT),
    fault("a record is not chained", f"{RECORDS}.permanent",
          "_encrypted(encryptor, names[at : at + CHUNK])", "names[at : at + CHUNK]", KEPT),
    fault("record ids in 32 bits", "keystream:_named",
          "given.astype(np.uint64), given < 0", "given.astype(np.uint32), given < 0",
          (stream.test_second_implementation_agrees,)),
    fault("record ids without a sign", "keystream:_named",
          "number % (1 << 64), number < 0", "number % (1 << 64), 0", KEPT),
    fault("names without a key", "keystream:_hashed", "key=naming.reveal(), ", "", KEPT),
    fault("a text is its bytes", "keystream:_hashed", "person=kind", 'person=b"text"', KEPT),
    fault("no entropy", "keystream:Key.new", "os.urandom(KEY_BYTES)", "bytes(KEY_BYTES)",
          (stream.test_keys_are_new_and_equal_to_themselves,)),
    fault("too little entropy made up for", "keystream:Key.new",
          "os.urandom(KEY_BYTES)", 'os.urandom(KEY_BYTES).ljust(32, b"0")[:32]',
          (stream.test_too_little_randomness_makes_no_key, b"x" * 31)),
    fault("no entropy, another source", "keystream:Key.new",
          'raise EntropyError("The operating system gave no randomness for a key.") from error',
          "drawn = Secret(hashlib.sha256(str(os.getpid()).encode()).digest())",
          (stream.test_no_randomness_makes_no_key, OSError("gone"))),
    fault("a key in its repr", "secret:Secret.__repr__",
          'return "<hidden>"', "return self._bytes.hex()", (stream.test_no_text_shows_a_key,)),
    fault("a key in a pickle", "secret:Secret.__reduce_ex__",
          "raise SecretError(", "return Secret, (self._bytes,)\n    raise SecretError(",
          (stream.test_nothing_that_holds_a_key_is_pickled, 4)),
    fault("a key file for everybody", "keyfile:write", "0o600", "0o644",
          (stream.test_a_key_file_is_its_owners_alone, 0o022)),
    fault("a key over another file", "keyfile:write", " | os.O_EXCL", "",
          (stream.test_a_key_is_never_written_over_anything,)),
    fault("a key from a file that others read", "keyfile:_content", "mode & 0o077", "mode & 0",
          (stream.test_a_key_file_open_to_others_is_refused, 0o640)),
]  # fmt: skip
