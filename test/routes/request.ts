/** A request before it is put on a wire, and what it means: which route of the contract it is, if any. */
import { type Route, routes } from '@gw/contract/routes';

export type Header = readonly [name: string, value: string];

export interface Request {
  readonly method: string;
  readonly target: string;
  readonly authority: string;
  /** Without the key. */
  readonly headers: readonly Header[];
  readonly body: string | null;
}

export type Meaning =
  | { readonly kind: 'route'; readonly route: Route }
  | { readonly kind: 'unknown path' | 'wrong method' | 'malformed' | 'wrong content type' | 'no key' };

const unreserved = /^[A-Za-z0-9._~-]$/;

/** Characters that need no escape are decoded; everything else stays as it is written. */
const plain = (path: string): string =>
  path.replace(/%([0-9A-Fa-f]{2})/g, (written, hex: string) => {
    const letter = String.fromCharCode(Number.parseInt(hex, 16));
    return unreserved.test(letter) ? letter : written;
  });

/** RFC 3986, section 5.2.4; empty segments stay, and a parameter does not hide the dots in front of it. */
function withoutDots(path: string): string {
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [at, written] of segments.entries()) {
    const segment = /^\.{1,2}(?=;)/.exec(written)?.[0] ?? written;
    const isLast = at === segments.length - 1;
    if (segment === '..') kept.pop();
    if (segment !== '.' && segment !== '..') kept.push(segment);
    else if (isLast) kept.push('');
  }
  return `/${kept.join('/')}`;
}

const pattern = (path: string): RegExp =>
  new RegExp(
    `^${path
      .replaceAll('.', '\\.')
      .replace('{model_id}', '.+')
      .replace('{methodology_hash}', '(?:[A-Za-z0-9._~:-]|%3[Aa])+')
      .replace(/\{[a-z_]+\}/, '[A-Za-z0-9._~-]+')}$`,
  );
const patterns = new Map(routes.map(({ path }) => [path, pattern(path)]));

/**
 * The contract's reading of a method and a target of a listener without TLS, made without Envoy: dots are resolved, letters
 * may be encoded, and no other spelling of a path is one.
 */
export function meaningOf(method: string, target: string): Meaning {
  const inOriginForm = /^http:\/\/[^/?#]+(\/.*)$/i.exec(target)?.[1] ?? target;
  const [path = ''] = inOriginForm.split('?', 1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (!path.startsWith('/') || /[#\x00-\x20\x7f-\xff]|%00/.test(inOriginForm)) return { kind: 'malformed' };
  const meant = withoutDots(plain(path.replaceAll('\\', '/')));
  const there = routes.filter((route) => patterns.get(route.path)?.test(meant));
  // HEAD asks for what GET would give.
  const asked = method === 'HEAD' ? 'GET' : method;
  const route = there.find((each) => each.method === asked);
  if (route) return { kind: 'route', route };
  return { kind: there.length > 0 ? 'wrong method' : 'unknown path' };
}
