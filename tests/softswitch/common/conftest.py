# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A fixture that compiles the lateness and spacing measures of softswitch/src/common."""

import ctypes
import subprocess
from pathlib import Path

import pytest

from softswitch.build import SOURCE_DIR


@pytest.fixture(scope="session")
def face(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    library = tmp_path_factory.mktemp("common") / "face.so"
    source = Path(__file__).with_name("face.c")
    flags = ["-std=gnu11", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE_DIR}"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.face_record.argtypes = [ctypes.c_int64]
    loaded.face_percentile_ns.restype = ctypes.c_int64
    loaded.face_depart.argtypes = [ctypes.c_uint32, ctypes.c_int64, ctypes.c_int64, ctypes.c_uint64]
    loaded.face_off_ns.restype = ctypes.c_int64
    loaded.face_pairs.restype = loaded.face_ideal_ns.restype = ctypes.c_uint64
    return loaded
