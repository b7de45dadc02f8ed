"""Compile all kernels into the folder of this environment, by all processors at once, and print how many."""

from multiprocessing import get_context

from mlstream.evaluation.compile_ahead import compilable, compile_ahead


def compile_kernels(name: str) -> int:
    """Compile the kernels of one of the names that `mlstream warm-up` takes, and count them."""
    return sum(compilation.n_kernels for compilation in compile_ahead([name]))


def main() -> None:
    """Let each process take the next name when it is done with one."""
    # From the end: what follows the strategies takes longest.
    names = compilable()[::-1]
    with get_context("spawn").Pool() as pool:
        n_compiled = sum(pool.imap_unordered(compile_kernels, names))
    print(f"{n_compiled} kernels compiled")


if __name__ == "__main__":
    main()
