"""No network while a model is made from a name or a config."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from ..frontends.carried_out import carried_out
from ..frontends.lock import WALKING

SETTINGS = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY")


class NetworkRefused(OSError):
    """Something tried to reach the network."""


@contextmanager
def offline() -> Iterator[None]:
    """Inside, the libraries are told to stay offline, and this thread cannot open a connection if they do not.

    Sockets of the machine itself (pipes between processes) work as ever, and so does every other thread.
    """
    with WALKING:
        before = {name: os.environ.get(name) for name in SETTINGS}
        constants = [(m, "HF_HUB_OFFLINE", m.HF_HUB_OFFLINE) for m in _modules()]
        plain = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo
        thread = get_ident()

        def guarded(function: Any) -> Any:
            def call(*args: Any, **kwargs: Any) -> Any:
                local = isinstance(args[0], socket.socket) and args[0].family == getattr(socket, "AF_UNIX", None)
                if get_ident() != thread or local:
                    return function(*args, **kwargs)
                raise NetworkRefused(f"a connection was asked for: {args[-1] if args else ''!r}")

            return call

        def put_back() -> None:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
            for module, name, value in constants:
                setattr(module, name, value)
            for module in _modules():  # imported meanwhile, with the setting that was put on
                if all(module is not known for known, _, _ in constants):
                    module.HF_HUB_OFFLINE = (before["HF_HUB_OFFLINE"] or "").upper() in ("1", "ON", "YES", "TRUE")
            socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo = plain  # type: ignore[method-assign]

        try:
            os.environ.update(dict.fromkeys(SETTINGS, "1"))
            for module, name, _ in constants:
                setattr(module, name, True)
            socket.socket.connect = guarded(plain[0])  # type: ignore[method-assign]
            socket.socket.connect_ex = guarded(plain[1])  # type: ignore[method-assign]
            socket.getaddrinfo = guarded(plain[2])
            yield
        finally:
            carried_out(put_back)


def _modules() -> list[Any]:
    """Where huggingface_hub keeps its switch, if it is there."""
    found = sys.modules.get("huggingface_hub.constants")
    return [found] if found is not None else []
