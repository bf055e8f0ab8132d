/**
 * What a provider says of a request, as far as it is the client's business.
 *
 * Invariant: no address, credential or place inside of a provider gets out, as far as its shape tells, and no control
 * character; names of fields and numbers stay, since they are what helps. What it costs is linear in a bounded length.
 */

/** No text that is worth reading is longer. */
const longestRead = 2000;
const longestShown = 500;

const hidden = '[redacted]';
type Rule = readonly [shape: RegExp, put: string | ((found: string) => string)];

const host = '[a-z0-9](?:[a-z0-9.-]{0,100}[a-z0-9])?';
const rules: readonly Rule[] = [
  [/\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>]+/gi, '[url]'],
  [/[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+/g, '[e-mail]'],
  // What a key is called, and what follows.
  [
    /\b((?:x-)?api[-_ ]?key|authorization|password|passwd|secret|(?:access|auth)[-_]?token)(["']?\s{0,3}[:=]\s{0,3}["']?)(?:(?:bearer|basic)\s+)?[^\s"',;)}]+/gi,
    `$1$2${hidden}`,
  ],
  [/\b(bearer|basic)\s+([\w.~+/=*-]{6,})/gi, hideToken],
  // Keys by their beginnings, also such as are masked in part.
  [/\b(?:sk|pk|rk|gsk|csk|xai|nvapi|pplx|glpat|github_pat|gh[opsu]|hf|r8|tgp|gw|xox[a-z])[-_][\w*.-]{3,}/gi, hidden],
  [/\b(?:AKIA|ASIA|AIza|eyJ)[\w*.-]{6,}/g, hidden],
  [/(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2}|:\d{1,5})?(?:\/[^\s"']*)?(?![\w.]\d)/g, '[address]'],
  [
    /(?<![\w:])(?:(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}:){1,6}:(?:[0-9a-f]{1,4}:?){0,6}|::(?:[0-9a-f]{1,4}:?){1,7})(?![\w:])/gi,
    '[address]',
  ],
  [
    new RegExp(
      `\\b(?:localhost|${host}\\.(?:internal|local|localdomain|svc|lan|corp|intranet|home|consul))\\b(?::\\d{1,5})?(?:/[^\\s"']*)?`,
      'gi',
    ),
    '[address]',
  ],
  [new RegExp(`\\b${host}[.-]${host}:\\d{2,5}\\b(?!:)(?:/[^\\s"']*)?`, 'gi'), '[address]'],
  [/\b(?:[a-z0-9-]{1,63}\.){1,6}(?:com|net|org|io|ai|dev|cloud|app)\b(?::\d{1,5})?(?:\/[^\s"']*)?/gi, '[address]'],
  [/(?<![\w/.])\/(?:app|data|etc|home|mnt|opt|root|srv|tmp|usr|var|workspace)\/[^\s"',;:)]+/g, '[path]'],
  // Whatever else looks random.
  [/[A-Za-z0-9+/=_-]{20,}/g, (found) => (isWords(found) ? found : hidden)],
];

function hideToken(found: string): string {
  const [scheme = '', token = ''] = found.split(/\s+/);
  // "bearer authentication" is none.
  return /^[a-z]+$/.test(token) ? found : `${scheme} ${hidden}`;
}

/** Names, dates, versions and their like: `max_completion_tokens`, `claude-3-5-sonnet-20241022`. */
const isWords = (text: string): boolean =>
  text
    .split(/[-_+/=]+/)
    .every(
      (part) =>
        part.length <= 5 ||
        /^\d{1,16}$/.test(part) ||
        (part.length <= 24 && /^[A-Za-z]?[a-z]*(?:[A-Z][a-z]+)*$/.test(part)) ||
        /^[A-Z]{1,16}$/.test(part),
    );

/** Null if nothing is left. `names`: the provider's name for something → the client's. */
export function redacted(text: string, names: ReadonlyMap<string, string> = new Map()): string | null {
  let said = text.slice(0, longestRead);
  // A word that was cut no longer shows what it was.
  if (said.length < text.length) said = said.replace(/\S*$/, '…');
  said = said.replace(/[\p{C}\p{Z}]+/gu, ' ').trim();
  for (const [theirs, ours] of names) if (theirs !== '') said = said.replaceAll(theirs, ours);
  for (const [shape, put] of rules)
    said = typeof put === 'string' ? said.replace(shape, put) : said.replace(shape, put);
  return said === '' ? null : said.slice(0, longestShown);
}
