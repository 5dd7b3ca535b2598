# SPDX-License-Identifier: Apache-2.0
"""Keeps Numba's inlining when it makes line information.

With debug info on, Numba marks every function `noinline` for the sake of
debuggers; a profiler wants the lines of the code as it runs without it. This
module is put first on the path by `everline --numba-lines=inject`, takes the
mark back where debug info alone set it, and hands over to the sitecustomize
that would have run otherwise. Where Numba has changed, it changes nothing.
"""
import importlib.machinery
import importlib.util
import os
import sys


def _say(word):
    """Tells everline what was done; nobody else reads it."""
    path = os.environ.get("EVERLINE_NUMBA_STATUS")
    if path:
        try:
            if not os.readlink(path).startswith("/memfd:everline-numba"):
                return  # everline has ended, and its number is another's
            with open(path, "a") as status:
                status.write(word + "\n")
        except OSError:
            pass


def _keep_inlining(owner, name, function_of):
    """Wraps a method that may add `noinline` to the function it works on."""
    original = getattr(owner, name, None)
    if original is None:
        return False

    def wrapped(self, *args, **kwargs):
        function = function_of(self, args, kwargs)
        before = set(function.attributes) if function is not None else set()
        result = original(self, *args, **kwargs)
        if function is not None and "noinline" not in before and "optnone" not in function.attributes:
            function.attributes.discard("noinline")
        return result

    wrapped.__name__ = name
    wrapped.__doc__ = original.__doc__
    setattr(owner, name, wrapped)
    return True


def _patch_debuginfo(module):
    """Numba before 0.60 sets the mark where it names the function to the debugger."""
    owner = getattr(module, "DIBuilder", None)
    return owner is not None and _keep_inlining(
        owner, "mark_subprogram", lambda self, args, kwargs: kwargs.get("function") or (args[0] if args else None)
    )


def _patch_lowering(module):
    """Later ones set it before lowering."""
    owner = getattr(module, "BaseLower", None)
    return owner is not None and _keep_inlining(
        owner, "pre_lower", lambda self, args, kwargs: getattr(getattr(self, "builder", None), "function", None)
    )


_PATCHES = {"numba.core.debuginfo": _patch_debuginfo, "numba.core.lowering": _patch_lowering}


class _Finder:
    """Lets the ordinary import happen, then patches the module."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        patch = _PATCHES.pop(name, None)
        if patch is None:
            return None
        if not _PATCHES:
            sys.meta_path.remove(_Finder)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            try:
                _say(("patched " if patch(module) else "unknown ") + name)
            except Exception:  # a Numba that this was not written for stays as it is
                _say("unknown " + name)

        spec.loader.exec_module = exec_module
        return spec


def _hand_over():
    """Runs the sitecustomize behind this one, under its own name."""
    here = os.path.dirname(__file__)
    sys.path[:] = [entry for entry in sys.path if entry != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


sys.meta_path.insert(0, _Finder)
_say("loaded")
_hand_over()
