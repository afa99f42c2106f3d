# SPDX-License-Identifier: BSD-3-Clause
import os

from spack.package import *


class Longpole(MakefilePackage):
    """Find the code to speed up first in an MPI program: rank, function, line,
    and the time that the run saves."""

    # `make dist` writes the tarball: run spack in its folder.
    manual_download = True
    license("BSD-3-Clause")

    version("0.1.0")

    variant("python", default=False, description="Install what the Python module needs")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi", type=("build", "link", "run"))
    depends_on("msgpack-c")
    depends_on("xxhash")
    depends_on("zstd")
    depends_on("zlib-api")
    depends_on("otf2")
    depends_on("elfutils")
    depends_on("cminpack")
    depends_on("jq", type="run")
    depends_on("parallel", type="run")
    with when("+python"):
        depends_on("python", type=("build", "run"))
        depends_on("py-msgpack", type="run")
        depends_on("py-numpy", type="run")
        depends_on("py-xxhash", type="run")
        depends_on("py-zstandard", type="run")

    conflicts("platform=darwin", msg="longpole needs Linux")
    conflicts("platform=windows", msg="longpole needs Linux")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/longpole-{version}.tar.gz"

    @property
    def build_targets(self):
        return [f"MPICC={self.spec['mpi'].mpicc}"]

    @property
    def install_targets(self):
        return self.build_targets + [f"PREFIX={self.prefix}", "install"]

    def setup_run_environment(self, env):
        for folder in find(self.prefix.lib, "dist-packages"):
            env.prepend_path("PYTHONPATH", folder)
