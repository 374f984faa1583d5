"""Reads every manifest of a folder with PyIceberg, as its scan planning does, and prints the time in JSON."""

import json
import sys
import time
from pathlib import Path

import pyiceberg
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.manifest import ManifestContent, ManifestFile

files = sorted(Path(sys.argv[1]).glob("*.avro"))
io = PyArrowFileIO()
start = time.process_time()
entries = 0
for file in files:
    manifest = ManifestFile.from_args(
        manifest_path=str(file),
        manifest_length=file.stat().st_size,
        partition_spec_id=0,
        content=ManifestContent.DATA,
        sequence_number=1,
        min_sequence_number=1,
        added_snapshot_id=1,
    )
    entries += len(manifest.fetch_manifest_entry(io, discard_deleted=True))
seconds = time.process_time() - start
print(json.dumps({"pyiceberg": pyiceberg.__version__, "entries": entries, "seconds": seconds}))
