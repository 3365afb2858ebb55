"""The programs of the course, in a build tree or in a kit of `make measure-kit`."""

import os
import re
import subprocess


class Failure(Exception):
    """Ends the program, with this exit status."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def run(command, **more):
    return subprocess.run([str(word) for word in command], text=True, **more)


def output_of(command):
    """A command's output, or None if it fails or does not exist."""
    try:
        done = run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


class Programs:
    def __init__(self, folder):
        self.folder = folder.resolve()
        self.environment = dict(os.environ, CUDA_DEVICE_ORDER="PCI_BUS_ID")  # nvidia-smi's order
        if (self.folder / "lib").is_dir():
            paths = [str(self.folder / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
            self.environment["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)

    def path(self, name):
        return self.folder / "bin" / name

    def toolkit(self):
        """CUDA 13.0.88, or None if unknown."""
        if (self.folder / "toolkit").exists():
            return (self.folder / "toolkit").read_text().strip()
        for file in self.folder.glob("CMakeFiles/*/CMakeCUDACompiler.cmake"):
            version = re.search(r'CMAKE_CUDA_COMPILER_VERSION "([^"]+)"', file.read_text())
            if version:
                return f"CUDA {version[1]}"
        return None
