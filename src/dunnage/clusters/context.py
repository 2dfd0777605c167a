"""A context of the user's kubeconfig: which file, what to type about it, and its errors as ours."""

from __future__ import annotations

import os
import shlex
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx2
from lightkube import ApiError, ConfigError

from dunnage.contracts.kubernetes import ApiServer
from dunnage.errors import UnavailableError
from dunnage.kubernetes_api import UNAUTHORIZED, certificate_ends, explanation

VARIABLE = "KUBECONFIG"
_WHERE = "kubernetes"


@dataclass(frozen=True)
class Context:
    """One context; `file` is the kubeconfig that was named for it, where one was."""

    name: str
    file: Path | None = None

    @property
    def api(self) -> ApiServer:
        """Where it leads. Raises UnavailableError where it is not clear which file has it."""
        return ApiServer(self.file or kubeconfig(), None, self.name)

    def asking(self, words: str) -> str:
        """A `kubectl` command about its cluster."""
        return f"{self._kubectl('--context', self.name)} {words}"

    def ours(self, verb: str) -> str:
        """A command of ours about its cluster, such as `dunnage doctor --context NAME`."""
        named = ("--kubeconfig", str(self.file)) if self.file is not None else ()
        return shlex.join(["dunnage", verb, "--context", self.name, *named])

    @property
    def listing(self) -> str:
        """The command that lists the contexts that there are."""
        return f"{self._kubectl()} config get-contexts"

    @contextmanager
    def spoken(self) -> Iterator[None]:
        """Say what went wrong: the kubeconfig, certificates, what the cluster allows, or the way
        there."""
        try:
            yield
        except (httpx2.HTTPStatusError, ApiError) as refusal:
            said = f"the cluster of context `{self.name}` refuses: {explanation(refusal)}"
            what = f"{said}{self._over(refusal)}"
            raise _unavailable(what, self.asking("auth whoami")) from refusal
        except httpx2.HTTPError as lost:
            told = _distrusted(lost)
            what = (
                f"the certificate of the cluster of context `{self.name}` is not valid: {told}"
                if told
                else f"the cluster of context `{self.name}` does not answer: {explanation(lost)}"
            )
            raise _unavailable(what, self.asking("cluster-info")) from lost
        except ConfigError as error:
            what = f"the kubeconfig of context `{self.name}` cannot be used: {explanation(error)}"
            raise _unavailable(what, self.listing) from error

    def _kubectl(self, *words: str) -> str:
        named = ("--kubeconfig", str(self.file)) if self.file is not None else ()
        return shlex.join(["kubectl", *named, *words])

    def _over(self, refusal: httpx2.HTTPStatusError | ApiError) -> str:
        """Say so where a user is not known because of a certificate that is over."""
        if refusal.response.status_code != UNAUTHORIZED:
            return ""
        try:
            ends = certificate_ends(self.api)
        except ConfigError:  # what the cluster said is worth more
            return ""
        if ends is None or ends > datetime.now(UTC):
            return ""
        return f"; the certificate of its user was valid until {ends:%Y-%m-%d %H:%M} UTC"


def kubeconfig() -> Path:
    """The file that `kubectl` would read; it reads several as one, which Dunnage does not."""
    files = [each for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]
    if len(files) > 1:
        raise _unavailable(
            f"`{VARIABLE}` names several files: {', '.join(f'`{each}`' for each in files)}; "
            "Dunnage reads one",
            "(umask 077; kubectl config view --flatten > one)  # then export KUBECONFIG=one",
        )
    return Path(files[0]) if files else Path.home() / ".kube" / "config"


def _distrusted(lost: BaseException | None) -> str:
    """Why a server's certificate is not believed; empty where that is not what went wrong."""
    while lost is not None:
        if isinstance(lost, ssl.SSLCertVerificationError):
            return str(lost.verify_message)
        lost = lost.__cause__ or lost.__context__
    return ""


def _unavailable(what: str, hint: str) -> UnavailableError:
    return UnavailableError(what, where=_WHERE, hint=hint)
