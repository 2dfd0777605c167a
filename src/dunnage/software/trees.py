"""Software trees from the cache, made of Debian's packages when they are not there yet."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from dunnage.contracts.docker import DockerBinaries
from dunnage.contracts.kubernetes import KubernetesBinaries
from dunnage.contracts.software import Tree
from dunnage.errors import UnavailableError
from dunnage.kernel_modules import how_to_load
from dunnage.model.layout import ENGINE_TREE, Software
from dunnage.model.offer import Support
from dunnage.model.value import Scalar
from dunnage.software import apparmor, debian, docker, iptables, kubernetes, maven
from dunnage.software.cache import Cache
from dunnage.software.cassandra import CASSANDRA_4_1, CASSANDRA_5_0
from dunnage.software.engine import engine_tree
from dunnage.software.image import write_image
from dunnage.software.java_tree import make_java_tree
from dunnage.software.recipe import JavaRecipe, Recipe
from dunnage.software.redis import REDIS
from dunnage.software.tree import Patchelf, make_tree

PREFIX = "/run/dunnage/software"
"""Directory that holds every tree, on every host and in every image."""

RECIPES: Mapping[tuple[str, str], Recipe | JavaRecipe] = {
    (recipe.name, recipe.version): recipe for recipe in (REDIS, CASSANDRA_5_0, CASSANDRA_4_1)
}
"""Every tree that can be made."""

_PATCHELF = Recipe("patchelf", "debian", 1, ("patchelf",), {"patchelf": "usr/bin/patchelf"})


class DebianSoftware:
    """A SoftwareStore whose trees are made of Debian's packages and, where a server is written in
    Java, of the jars of Maven Central; and Docker's daemon and Kubernetes besides.

    Once a tree is in the cache it is used for ever, so that all stays of a study, and two studies
    on one machine, run the same bytes; remove the cache to move on to newer packages.
    """

    def __init__(self, cache: Cache | None = None) -> None:
        self._cache = cache or Cache()

    def tree(self, software: Software) -> Tree:
        if software == ENGINE_TREE:
            return engine_tree(self._cache, PREFIX)
        recipe = _recipe(software)
        entry = self._cache.obtain(_request(recipe), partial(self._make, recipe))
        return _tree(software, recipe, entry)

    def dockerd(self) -> DockerBinaries:
        """Docker's daemon with all it calls: what PATH has, else Debian's, unpacked.

        Raises UnavailableError with the reason.
        """
        return docker.on_path() or docker.unpacked(self._cache)

    def kubernetes(self, tell: Callable[[str], None]) -> KubernetesBinaries:
        """Kubernetes with all it calls, built on first use, which takes minutes: `tell` hears how
        far it is.

        Raises UnavailableError with the reason.
        """
        return kubernetes.unpacked(self._cache, tell)

    def software_support(self, name: str) -> Support:
        """Whether every tree of a database is in the cache or can be made."""
        missing = [
            recipe
            for recipe in RECIPES.values()
            if recipe.name == name and not self._cache.find(_request(recipe))
        ]
        wanted = [debian.support()] if missing else []
        wanted += [maven.support() for recipe in missing if isinstance(recipe, JavaRecipe)]
        return next((support for support in wanted if not support.met), Support(met=True))

    def docker_support(self) -> Support:
        """Whether a Docker daemon is on PATH, in the cache, or can be had, and can start."""
        profiles = apparmor.support(docker.search_path(), partial(docker.version, self._cache))
        if not profiles.met:
            return profiles
        if docker.on_path() or docker.is_unpacked(self._cache):
            return Support(met=True)
        ability = debian.support()
        if ability.met:
            return ability
        return Support(
            met=False,
            reason=f"`dockerd` is not on PATH, and Debian's is not available: {ability.reason}",
            hint="put dockerd, containerd, runc and iptables on PATH",
        )

    def kubernetes_support(self) -> Support:
        """Whether Kubernetes is in the cache, or can be built."""
        return kubernetes.support(self._cache)

    def translation_support(self) -> Support:
        """Whether the iptables of Docker's daemon translates floating addresses; root can ask.

        What is yet to be downloaded is taken to.
        """
        ability = self.docker_support()
        if ability.met and (docker.on_path() or docker.is_unpacked(self._cache)):
            return self.translation_tried()
        return ability

    def translation_tried(self) -> Support:
        """The same for certain: what is yet to be downloaded is downloaded first."""
        try:
            refusal = iptables.refuses_floating(self.dockerd().environment)
        except UnavailableError as error:
            return Support(met=False, reason=error.what, hint=error.hint)
        if refusal is None:
            return Support(met=True)
        return Support(
            met=False,
            reason=f"floating addresses cannot be translated here: {refusal}",
            hint=how_to_load("nf_nat", "nf_conntrack", "xt_conntrack"),
        )

    def _make(self, recipe: Recipe | JavaRecipe, entry: Path) -> str:
        """Fill a cache entry: `tree/`, `image.tar` and `facts.json`; returns its name."""
        tools = self._cache.obtain(_request(_PATCHELF), _make_patchelf)
        patchelf = Patchelf(tools / _PATCHELF.programs["patchelf"])
        unpacked, packages, jars = entry / "unpacked", entry / "packages", entry / "jars"
        debs = debian.download(recipe.packages, packages)
        debian.unpack(debs, unpacked)
        facts: dict[str, Scalar] = {f"package.{package.name}": package.identity for package in debs}
        facts |= {"recipe": recipe.revision, "patchelf": tools.name}
        if isinstance(recipe, JavaRecipe):
            maven.fetch(recipe.artefact, recipe.jars, jars)
            facts |= {f"jar.{name}": f"sha256:{digest}" for name, digest in recipe.jars.items()}
            facts["version"] = recipe.artefact.rpartition(":")[2]
        else:
            facts["version"] = debs[0].upstream
        key = hashlib.sha256(json.dumps([PREFIX, facts], sort_keys=True).encode()).hexdigest()
        name = f"{recipe.name}-{recipe.version}-{key[:12]}"
        tree, prefix = entry / "tree", f"{PREFIX}/{name}"
        if isinstance(recipe, JavaRecipe):
            facts |= make_java_tree(recipe, unpacked, jars, tree, prefix, patchelf)
        else:
            make_tree(unpacked, recipe.programs, tree, prefix, patchelf)
        write_image(tree, prefix, entry / "image.tar")
        (entry / "facts.json").write_text(json.dumps({**facts, "key": key}, indent=1) + "\n")
        for directory in (unpacked, packages, jars):
            shutil.rmtree(directory, ignore_errors=True)
        return name


def cached(cache: Cache, software: Software) -> Tree | None:
    """A tree that was made before; None if it is yet to be. Raises UnavailableError where there is
    no recipe."""
    recipe = _recipe(software)
    entry = cache.find(_request(recipe))
    return None if entry is None else _tree(software, recipe, entry)


def _tree(software: Software, recipe: Recipe | JavaRecipe, entry: Path) -> Tree:
    return Tree(
        software=software,
        source=entry / "tree",
        prefix=f"{PREFIX}/{entry.name}",
        archive=entry / "image.tar",
        tag=f"dunnage/{recipe.name}:{entry.name.removeprefix(recipe.name + '-')}",
        facts=json.loads((entry / "facts.json").read_text()),
    )


def _make_patchelf(entry: Path) -> str:
    packages = entry / "packages"
    (package,) = debian.download(_PATCHELF.packages, packages)
    debian.unpack((package,), entry)
    shutil.rmtree(packages)
    return f"patchelf-{package.upstream}-{package.sha256[:12]}"


def _recipe(software: Software) -> Recipe | JavaRecipe:
    recipe = RECIPES.get((software.name, software.version))
    if recipe is not None:
        return recipe
    known = ", ".join(f"`{name} {version}`" for name, version in sorted(RECIPES))
    raise UnavailableError(
        f"there is no recipe for {software.name} {software.version}; known are {known}",
        where="software",
        hint="dunnage doctor",
    )


def _request(recipe: Recipe | JavaRecipe) -> str:
    return f"{recipe.name}-{recipe.version}-recipe{recipe.revision}-{platform.machine()}"
