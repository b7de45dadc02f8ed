"""Seconds of processor time until a short command has ended, and an import is done, in a new process.

Asked for: 0.3 s for the help and the version, 1 s for commands that list or show, and for `import estimators`. The
packages that users come from are imported beside them, without a bound. Others may use the machine: the smallest of
several times counts. The first call, which may write bytecode, does not count.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import demand, sized

from mlstream import save
from mlstream.generators import multiplier_stream

REPEATS = sized(7, 1)
STREAM = "stream.npz"
# Arguments of Python, and the seconds that are asked for.
COMMANDS = {
    "mlstream --help": 0.3,
    "mlstream --version": 0.3,
    "mlstream datasets": 1.0,
    "mlstream strategies": 1.0,
    "mlstream streams": 1.0,
    f"mlstream inspect {STREAM}": 1.0,
    "mlstream inspect yeast-tasks": 1.0,
    "mlstream generate --help": 1.0,
    "mlstream run --help": 1.0,
}
IMPORTS = {
    "import estimators": 1.0,
    "import mlstream": 1.0,
    "import metrics": None,
    "import sklearn": None,
    "from sklearn.naive_bayes import GaussianNB": None,
    "import river": None,
    "from river import tree": None,
}


def main() -> None:
    """Measure and print."""
    print(f"{'in a new process':44} {'s of CPU':>9} {'asked':>6}")
    jobs = {command: (["-m", *command.split()], asked) for command, asked in COMMANDS.items()}
    jobs |= {code: (["-c", code], asked) for code, asked in IMPORTS.items()}
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        save(multiplier_stream("rand"), Path(folder) / STREAM)
        for name, (arguments, asked) in jobs.items():
            seconds = min([cpu_seconds(arguments, folder) for _ in range(1 + REPEATS)][1:])
            print(f"{name:44} {seconds:9.2f} {asked or '':>6}", flush=True)
            if asked is not None and seconds >= asked:
                missed.append(f"{name} in less than {asked} s")
    demand(not missed, ", ".join(missed))


def cpu_seconds(arguments: list[str], folder: str) -> float:
    """Run Python with arguments; return the seconds of processor time that the process took."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL, cwd=folder, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
