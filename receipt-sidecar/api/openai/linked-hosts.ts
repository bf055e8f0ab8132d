/**
 * Refuses links, as to an image, that would have a provider fetch from a host of `refused-host`: link-local addresses and metadata services,
 * where a cloud hands out its credentials. Where the gateway's operator runs the model server, that is their own cloud.
 *
 * Invariant: a link is judged as WHATWG readers read it, in whatever spelling of its host; one that they cannot read is refused, since
 * another reader may find a host in it. What a name resolves to at the provider, and where that redirects, is not known here.
 */
import { type ApiError, fieldError } from '@gw/contract/errors';
import { refusedHost } from '@gw/contract/internal/refused-host';
import type { JsonObject } from '@gw/contract/internal/strict-json';

const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Returns the refusal of the first such link in a list of parts; null for any other content. `path` is that of the content. */
export function linkInParts(content: unknown, path: string): ApiError | null {
  if (!Array.isArray(content)) return null;
  for (const [at, part] of content.entries()) {
    if (!isObject(part)) continue;
    for (const [name, value] of Object.entries(part)) {
      const refused = inField(name, value, `${path}[${at}].${name.slice(0, 64)}`);
      if (refused) return refused;
    }
  }
  return null;
}

/** `image_url` of OpenAI and what other servers have like it: `video_url`, `audio_url`, `file_url`. */
const isLink = (name: string): boolean => /ur[il]$/i.test(name);

function inField(name: string, value: unknown, path: string): ApiError | null {
  if (typeof value === 'string') return isLink(name) ? judged(value, path) : null;
  if (!isObject(value)) return null;
  for (const [inner, text] of Object.entries(value))
    if (typeof text === 'string' && isLink(inner)) {
      const refused = judged(text, `${path}.${inner.slice(0, 64)}`);
      if (refused) return refused;
    }
  return null;
}

/** The blanks inside are those that WHATWG readers leave out. */
const scheme = /^([a-z][a-z0-9+.\-\t\n\r]*):/i;
const slashes = /^[\\/][\t\n\r]*[\\/]/;
/** Readers find a host behind these in what others call malformed. */
const isOfWeb = (name: string): boolean => /^(?:https?|ftp|wss?)$/.test(name);

function judged(written: string, path: string): ApiError | null {
  // Blanks and control characters.
  const text = written.replace(/^[^!-\uffff]+/, '');
  const [start = '', named] = scheme.exec(text) ?? [];
  const name = (named ?? 'http').replace(/[\t\n\r]/g, '').toLowerCase();
  // Base64 without more names no host.
  if (name === 'data' || (named === undefined && !slashes.test(text))) return null;
  // A host is read alike behind each scheme, as that of http here.
  const url = `http:${text.slice(start.length)}`;
  if (!URL.canParse(url)) return isOfWeb(name) ? fieldError(path, `\`${path}\` is not a URL that can be read.`) : null;
  const reason = refusedHost(url);
  return reason === null ? null : fieldError(path, `\`${path}\` names a host that no provider is sent to: ${reason}.`);
}
