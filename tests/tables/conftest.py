"""A real PostgreSQL, started on loopback for the tests and stopped after them."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def programs():
    """The folder of `initdb`, if PostgreSQL is installed."""
    found = shutil.which("initdb")
    return Path(found).parent if found else next(iter(PLACES), None)


def as_somebody():
    """How a command is run as a user that is not root, as PostgreSQL asks; and who that is."""
    if os.geteuid() != 0:
        return [], None
    import pwd

    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    ids = (user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={ids[0]}", f"--regid={ids[1]}", "--clear-groups"], ids


def free_port():
    """A port of loopback that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Server:
    """A server with one user, whose password is asked for."""

    def __init__(self, folder, programs):
        self.folder, self.programs, self.port = folder, programs, free_port()
        self.prefix, ids = as_somebody()
        if ids is not None:
            os.chown(folder, *ids)
        secret = folder / "password"
        secret.write_text("s3cret-Pw\n", encoding="utf-8")
        secret.chmod(0o644)
        self.run(
            "initdb", "-U", "tester", "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8",
            "--locale=C.UTF-8", "-N",
        )  # fmt: skip
        self.start()

    def run(self, program, *more):
        """A program of PostgreSQL on this server's data."""
        command = [*self.prefix, str(self.programs / program), "-D", str(self.folder / "db"), *more]
        subprocess.run(command, check=True, cwd=self.folder, stdout=subprocess.DEVNULL)

    def start(self):
        """Begin to listen."""
        said = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories='' "
        said += "-c fsync=off"
        self.run("pg_ctl", "-w", "-s", "-l", str(self.folder / "log"), "-o", said, "start")

    def stop(self):
        """End at once, whoever is connected."""
        self.run("pg_ctl", "-w", "-s", "-m", "immediate", "stop")

    def at(self, asked, *, password="s3cret-Pw", user="tester"):
        """The address of a table."""
        login = f"{user}:{password}" if password else user
        return f"postgresql://{login}@127.0.0.1:{self.port}/postgres#{asked}"

    def do(self, *statements):
        """Run statements, and commit; the rows of the last one."""
        from adbc_driver_postgresql import dbapi

        address = self.at("x").partition("#")[0]
        with dbapi.connect(address) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            rows = cursor.fetchall() if cursor.description else []
            connection.commit()
        return rows


@pytest.fixture(scope="session")
def postgresql():
    """The server, or a reason why there is none."""
    pytest.importorskip("adbc_driver_postgresql", reason="the extra `sql` is not installed")
    where = programs()
    if where is None:
        pytest.skip("PostgreSQL is not installed: .ci/system does that")
    folder = Path(tempfile.mkdtemp(prefix="bistochastic-postgresql-"))
    folder.chmod(0o755)
    try:
        server = Server(folder, where)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
