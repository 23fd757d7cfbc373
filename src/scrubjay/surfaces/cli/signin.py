"""`signin`: get a sign-in link for the web UI from a running server, with the owner's key."""

from __future__ import annotations

import json
from argparse import Namespace
from http.client import HTTPConnection, HTTPException
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from scrubjay import config
from scrubjay.errors import InvalidInput, Unavailable
from scrubjay.surfaces.http.settings import server_settings
from scrubjay.surfaces.owner_key import read_owner_key
from scrubjay.surfaces.render.json import line
from scrubjay.surfaces.render.terminal import Screen, out

_ANSWER_S = 10.0
_MAX_ANSWER_BYTES = 100_000


def signin(args: Namespace, screen: Screen) -> int:
    url = _loopback_url(args.url or _configured_url(args))
    key = read_owner_key()
    answer = _post_link(url, key and key.secret)
    if args.json:
        out(line(answer))
    else:
        out(answer["page"])
    return 0


def _configured_url(args: Namespace) -> str:
    settings = config.load(db=args.db)
    wanted = server_settings(settings.server, {}, settings.config_file)
    host = "127.0.0.1" if wanted.host in ("0.0.0.0", "::") else wanted.host
    return f"http://[{host}]:{wanted.port}" if ":" in host else f"http://{host}:{wanted.port}"


def _loopback_url(url: str) -> str:
    """Return the origin of a server on this machine; the owner's key is sent nowhere else."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname or "", parts.port
        is_here = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        is_here = False
    if not is_here or parts.scheme != "http":
        raise InvalidInput(
            f"{url} is not on this machine; give the address that scrubjay serve printed, such as"
            " http://127.0.0.1:8765, or sign in there with an API key"
        )
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port or 80}"


def _post_link(url: str, secret: str | None) -> dict[str, Any]:
    # Not urllib: a proxy of the environment must not see the key.
    connection = HTTPConnection(urlsplit(url).netloc, timeout=_ANSWER_S)
    headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
    try:
        connection.request("POST", "/session/link", headers=headers)
        response = connection.getresponse()
        answer = json.loads(response.read(_MAX_ANSWER_BYTES))
    except (OSError, HTTPException, ValueError) as error:
        raise Unavailable(
            f"no scrubjay server answers at {url} ({error}); start one: scrubjay serve, or give the"
            " address that it printed"
        ) from None
    finally:
        connection.close()
    if response.status == 200 and isinstance(answer, dict) and "page" in answer:
        return answer
    detail = answer.get("detail") if isinstance(answer, dict) else None
    raise Unavailable(f"the server at {url} gives no link: {detail or response.status}")
