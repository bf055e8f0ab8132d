/**
 * Judges the `Host` of requests on the ports for people and machines of the operator.
 *
 * Invariant: a web page of somebody else reads nothing there. It could make its own name lead here (DNS rebinding), but it cannot make the
 * browser send another `Host` than that name. So numeric addresses pass, and names without a dot, as containers have them: no web page has
 * such a name. Any other name must be known.
 */
import { isIP } from 'node:net';

/** Returns whether a request with this `Host` is meant for us. `names` are further ones, without a port; `*.a.b` is all names below a.b. */
export function ownHosts(names: readonly string[]): (host: string | undefined) => boolean {
  const known = new Set(names.map((name) => name.toLowerCase()));
  const suffixes = [...known].filter((name) => name.startsWith('*.')).map((name) => name.slice(1));
  return (host) => {
    // Every browser sends it; HTTP/1.0 does not demand it.
    if (host === undefined) return true;
    if (!URL.canParse(`http://${host}/`)) return false;
    const name = new URL(`http://${host}/`).hostname.replace(/^\[|\]$|\.$/g, '');
    return (
      isIP(name) !== 0 ||
      !name.includes('.') ||
      known.has(name) ||
      suffixes.some((suffix) => name.length > suffix.length && name.endsWith(suffix))
    );
  };
}

export const foreignHost =
  'The Host header names none of the hosts of this port. GW_ALLOWED_HOSTS lists further names by which it is reached.';
