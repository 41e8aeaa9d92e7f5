"""Digests without OpenSSL, which takes longer to load than to digest a few files; Python has these itself."""

try:
    from _blake2 import blake2b
    from _sha1 import sha1  # type: ignore[import-not-found]  # of Python, though not told of
except ImportError:
    # Python may be built without its own.
    from hashlib import blake2b, sha1

__all__ = ["blake2b", "sha1"]
