/** What reached the simulator, shown in its reply: so that a test sees what a provider would see. */
import type { Directives } from './directives.ts';

export interface Echo {
  readonly sim_path?: string;
  /** Names in lower case; a header that came twice is a list. */
  readonly sim_headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The body as text, unparsed. */
  readonly sim_body?: string;
}

const NOTHING: Echo = {};

/** `rawHeaders` alternates names and values, as node:http gives them, so that no header is merged or dropped. */
export function headerList(rawHeaders: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null);
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? '').toLowerCase();
    const value = rawHeaders[i + 1] ?? '';
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
