"""Packs the data of the catalogue and the models smaller than Go's gzip does: the command
and the functions carry them. make catalog runs it; what it reads is the same as before."""

import gzip
import pathlib
import sys
from concurrent.futures import ProcessPoolExecutor

import zopfli.gzip


def pack(file):
    """Packs a file again, if that makes it smaller."""
    before = file.read_bytes()
    after = zopfli.gzip.compress(gzip.decompress(before), numiterations=15)
    if len(after) < len(before):
        file.write_bytes(after)


if __name__ == "__main__":
    files = [file for folder in sys.argv[1:] for file in sorted(pathlib.Path(folder).glob("*.gz"))]
    with ProcessPoolExecutor() as workers:
        list(workers.map(pack, files))
