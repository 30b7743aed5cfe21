"""A MessagePack codec as a filter: python msgpack_filter.py LIBRARY

One line of hex in, the hex of what was decoded and encoded again out, or ERR and why. LIBRARY is msgpack, umsgpack or
ormsgpack, each with its own defaults, but for keys of maps, which may be of any type where a library lets one say so.
"""

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "kits" / "python"))
import kit

HERE = Path(__file__).resolve().parent
"""Where the folder msgpack stands, which is no library and must not be taken for the one of its name."""


def codec(name: str):
    """Decode and encode functions of a library."""
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != HERE]
    try:
        library = importlib.import_module(name)
    except ImportError as error:
        sys.exit(f"{error}: pip install {'u-msgpack-python' if name == 'umsgpack' else name}")
    if name == "msgpack":
        return lambda octets: library.unpackb(octets, strict_map_key=False), library.packb
    if name == "ormsgpack":
        option = library.OPT_NON_STR_KEYS

        def carried(code: int, data: bytes):
            return library.Ext(code, data)

        return (
            lambda octets: library.unpackb(octets, ext_hook=carried, option=option),
            lambda value: library.packb(value, option=option),
        )
    return library.unpackb, library.packb


if __name__ == "__main__":
    decode, encode = codec(sys.argv[1])
    kit.serve_filter(lambda octets: encode(decode(octets)))
