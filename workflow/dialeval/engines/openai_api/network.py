"""What lies between this machine and an endpoint by the environment's word: a proxy, and whose certificates count."""

from __future__ import annotations

import os
import ssl
import urllib.request
from urllib.parse import unquote, urlsplit

from dialeval.errors import UserError

_PROXIES = ("http", "https")


def proxy_for(address: str) -> str | None:
    """Returns the proxy that the environment names for an address (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY), if any.

    None is used for this machine itself, nor for hosts that NO_PROXY names.

    Args:
        address: an endpoint's address.

    Raises:
        UserError: it is of a kind that cannot be used.
    """
    parts = urlsplit(address)
    host = parts.hostname or ""
    if host in ("localhost", "127.0.0.1", "::1") or urllib.request.proxy_bypass(host):
        return None
    proxies = urllib.request.getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    if not found:
        return None
    found = found if "://" in found else f"http://{found}"
    scheme = found.partition("://")[0].lower()
    if scheme not in _PROXIES:
        raise UserError(
            f"the environment names a proxy of the kind '{scheme}' for {host}, and only http and https proxies can be "
            "used: set HTTPS_PROXY to one of these, or name the host in NO_PROXY"
        )
    if not _is_address(found):
        raise UserError(
            f"the environment names a proxy for {host} that is no address (it is not shown, since a password may stand "
            "in it): write HTTPS_PROXY as http://user:password@host:port, with %2F for a slash in the password, %40 "
            "for an @ and so on, or name the host in NO_PROXY"
        )
    return found


def password_of(proxy: str | None) -> str:
    """Returns the password in a proxy's address, or nothing."""
    return unquote(urlsplit(proxy).password or "") if proxy else ""


def _is_address(proxy: str) -> bool:
    try:
        parts = urlsplit(proxy)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port that is no number, or brackets that do not close
        return False


def certificates() -> ssl.SSLContext:
    """Returns which certificates are trusted: those of SSL_CERT_FILE or SSL_CERT_DIR, or else of this system.

    Raises:
        UserError: they cannot be read.
    """
    import httpx2  # what the `openai` client trusts, too; slow to import, and not needed for servers near by

    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        named = [f"{name}={os.environ[name]}" for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ]
        raise UserError(
            f"the certificates to trust cannot be read ({', '.join(named) or 'those of this system'}): "
            f"{error.strerror or error}; mend that, or unset the variable"
        ) from error
