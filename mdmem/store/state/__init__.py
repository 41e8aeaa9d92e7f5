"""The folders of derived and local files, and the safe reading and writing of files."""
