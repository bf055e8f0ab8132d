/** Echoes the request in the reply, so that tests see what a provider would see. */
import type { Directives } from './directives.ts';

export interface Echo {
  readonly sim_path?: string;
  /** Names in lower case; a repeated header is a list. */
  readonly sim_headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The body as text, unparsed. */
  readonly sim_body?: string;
}

const NOTHING: Echo = {};

/** `rawHeaders` alternates names and values, as in node:http, so that no header is merged or dropped. */
export function headerList(rawHeaders: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [written, value] = rawHeaders.slice(i, i + 2) as [string, string];
    const name = written.toLowerCase();
    const earlier = headers[name];
    headers[name] = earlier === undefined ? value : [...(typeof earlier === 'string' ? [earlier] : earlier), value];
  }
  return headers;
}

export function echoOf(directives: Directives, path: string, rawHeaders: readonly string[], body: Buffer): Echo {
  if (!directives.echoHeaders && !directives.echoBody) return NOTHING;
  return {
    ...(directives.echoHeaders && { sim_path: path, sim_headers: headerList(rawHeaders) }),
    ...(directives.echoBody && { sim_body: body.toString('utf8') }),
  };
}
