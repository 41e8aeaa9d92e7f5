#!/bin/sh
# Pack the extension with the library that it needs, as a file that editors install: `sh pack.sh [FILE]`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-mdmem.vsix}
for needed in npm zip; do
  command -v $needed > /dev/null || { echo "pack.sh: $needed is needed to pack the extension" >&2; exit 1; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/extension"
cp "$here/package.json" "$here/extension.js" "$folder/extension"
npm install --prefix "$folder/extension" --ignore-scripts --no-audit --no-fund --no-package-lock --silent
(cd "$folder" && zip -qr mdmem.vsix extension)
mv "$folder/mdmem.vsix" "$out"
