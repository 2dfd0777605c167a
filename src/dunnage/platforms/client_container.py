"""A container on the client's host that acts as a host, so that a generator need not know."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import requests
from docker import DockerClient
from docker.errors import APIError, NotFound
from docker.models.containers import Container
from docker.types import Mount, Ulimit

from dunnage.contracts.host import Completed, Host
from dunnage.contracts.software import Tree
from dunnage.docker_api import translated
from dunnage.errors import RunError
from dunnage.model.choices import ClientKind
from dunnage.model.layout import ENGINE_PROGRAM
from dunnage.model.study import Limits
from dunnage.platforms.containers import limit_arguments
from dunnage.platforms.execute import converse
from dunnage.platforms.guest import Networked
from dunnage.platforms.image_of_tree import image_of
from dunnage.platforms.stay_names import StayNames

_ENDED = ("exited", "dead")


@dataclass(frozen=True)
class ContainerProcess:
    """A program that is a container's first process."""

    container: Container

    @property
    def pid(self) -> int:
        self.container.reload()
        return int(self.container.attrs["State"]["Pid"])

    def poll(self) -> int | None:
        self.container.reload()
        state = self.container.attrs["State"]
        return int(state["ExitCode"]) if state["Status"] in _ENDED else None

    def wait(self, timeout: float) -> int:
        try:
            return int(self.container.wait(timeout=timeout)["StatusCode"])
        except (requests.ReadTimeout, requests.ConnectionError) as error:
            if (code := self.poll()) is not None:
                return code
            raise TimeoutError(
                f"container {self.container.name} still runs after {timeout:g} s"
            ) from error

    def signal(self, name: str) -> None:
        with contextlib.suppress(NotFound):
            if self.poll() is None:
                with contextlib.suppress(APIError):  # it may end between the two
                    self.container.kill(f"SIG{name}")


class ClientContainer(Networked):
    """Each program gets a container of its own, in the unit's control group of the client's host.

    They share the network of one that rests, so that all have the address that the first was given.
    Their image holds the engine and nothing else. The scratch directory is mounted at its own path,
    so files are put and fetched as on the host.
    """

    client_kind: ClassVar[ClientKind] = ClientKind.CONTAINERS

    def __init__(
        self,
        host: Host,
        client: DockerClient,
        *,
        tree: Tree,
        network: str,
        stay: StayNames,
        ulimits: list[Ulimit],
    ) -> None:
        super().__init__(host)
        self.engine = f"{tree.prefix}/{ENGINE_PROGRAM}"
        self._client = client
        self._image = image_of(tree)
        self._ulimits = ulimits
        self._stay = stay
        self._logs: dict[str, Container] = {}
        self._resting = self._rest(network)

    @property
    def pid(self) -> int:
        """A process of the host, as the host sees it, that has this container's network."""
        with self._spoken("a client's container cannot be inspected"):
            return ContainerProcess(self._resting).pid

    @property
    def sandbox(self) -> str:
        """The file by which the daemon holds this container's network, as it told when last asked
        for `pid`."""
        return str(self._resting.attrs["NetworkSettings"].get("SandboxKey") or "")

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        timeout: float = 60.0,
        unit: str = "command",
    ) -> Completed:
        """Run a program to its end in a container; raises RunError after `timeout` seconds."""
        options = {"stdin_open": bool(stdin)}
        container = self._create(argv, unit, {}, None, options)
        attach = {"stdin": int(bool(stdin)), "stdout": 1, "stderr": 1, "stream": 1}
        try:
            with self._spoken("a client's container cannot run"):
                stream = self._client.api.attach_socket(str(container.id), params=attach)
                container.start()
            try:
                stdout, stderr = converse(stream, stdin, timeout)
                code = ContainerProcess(container).wait(timeout)
            except TimeoutError as error:
                raise RunError(
                    f"`{' '.join(argv)}` did not end within {timeout:g} s", where=self.name
                ) from error
            finally:
                stream.close()
            return Completed(code, stdout, stderr)
        finally:
            container.remove(force=True)

    def start(
        self,
        argv: Sequence[str],
        *,
        unit: str,
        log: str,
        env: Mapping[str, str] | None = None,
        limits: Limits | None = None,
    ) -> ContainerProcess:
        """Start a program in a container of its own; `log` is its name for what it writes."""
        container = self._create(argv, unit, env or {}, limits, {})
        with self._spoken("a client's container cannot start"):
            container.start()
        self._logs[log] = container
        return ContainerProcess(container)

    def get(self, path: str) -> bytes:
        """Read a file below the scratch directory, or the log of what was started."""
        if path in self._logs:
            with self._spoken("a client's log cannot be read"):
                return bytes(self._logs[path].logs())
        return self._host.get(path)

    def remove(self, path: str) -> None:
        """Remove files, and the containers whose logs lay there."""
        for log in [log for log in self._logs if f"{log}/".startswith(f"{path}/")]:
            with self._spoken("a client's container cannot be removed"):
                self._logs.pop(log).remove(force=True)
        self._host.remove(path)

    def _rest(self, network: str) -> Container:
        with self._spoken("a client's container cannot be started"):
            resting = self._client.containers.create(
                image=self._image,
                entrypoint=[self.engine],
                command=["rest"],
                labels=self._stay.labels,
                cgroup_parent="/" + self._host.control_group("command").strip("/"),
                network=network,
            )
            resting.start()
            return resting

    def _create(
        self,
        argv: Sequence[str],
        unit: str,
        env: Mapping[str, str],
        limits: Limits | None,
        options: Mapping[str, Any],
    ) -> Container:
        with self._spoken("a client's container cannot be created"):
            return self._client.containers.create(
                image=self._image,
                entrypoint=[argv[0]],
                command=list(argv[1:]),
                labels=self._stay.labels,
                environment=dict(env),
                user="0:0",
                working_dir="/",
                cgroup_parent="/" + self._host.control_group(unit).strip("/"),
                ulimits=self._ulimits,
                mounts=[Mount(self.scratch, self.scratch, type="bind")],
                network_mode=f"container:{self._resting.id}",
                **limit_arguments(limits or Limits()),
                **options,
            )

    def _spoken(self, what: str) -> contextlib.AbstractContextManager[None]:
        return translated(RunError, what, where=self.name, hint="dunnage doctor")
