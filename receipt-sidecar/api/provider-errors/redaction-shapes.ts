/**
 * Recognises words that are not the client's business by their shape: credentials, addresses, places.
 *
 * Invariant: each of these looks at one word of a bounded length, so none of them costs more than the square of that.
 */
import { shapes } from '../shapes.ts';

export const hidden = '[redacted]';
const address = '[address]';
const path = '[path]';

/** Characters above which a word is hidden: no word that helps a client is so long. */
const longestWord = 200;

/** Returns whether a word names a credential: `strong` ones name nothing else. Null if it does not. */
export function keyName(word: string): 'strong' | 'weak' | null {
  if (word.length > 40 || !/^[A-Za-z_-]+$/.test(word)) return null;
  const parts = word
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[-_]/);
  const last = parts.at(-1) ?? '';
  const first = parts.at(-2) ?? '';
  if (/^(?:apikey|authorization|password|passwd|passphrase|secret|credential|credentials)$/.test(last)) return 'strong';
  if (/^(?:api|access|auth|secret|private)$/.test(first) && /^(?:key|token)$/.test(last)) return 'strong';
  return /^(?:key|keys|token)$/.test(last) ? 'weak' : null;
}

/** Whether a word is a path of fields and indices, such as `messages[0].content` or `tools.3.function`. */
const isFieldPath = (word: string): boolean =>
  /^[A-Za-z_]+(?:\[\d{1,6}\]?|\.[A-Za-z_]+|\.\d{1,6}(?=\.|$))*$/.test(word);
const isNumber = (word: string): boolean => /^[-+]?[\d.,:%/-]+(?:e[-+]?\d+|[kKmM]|ms|s)?$/.test(word);

/** Whether a word that follows the name of a credential can be one: it has digits or looks random. */
export function isKeyLike(word: string): boolean {
  if (isNumber(word)) return false;
  if (/\*{2,}/.test(word) || /^[A-Za-z]{20,}$/.test(word)) return true;
  if (isFieldPath(word)) return (word.match(/[a-z][A-Z]/g)?.length ?? 0) > 3;
  return /\d/.test(word);
}

/** Returns what can be shown of a word that stands by itself. */
export function shapeOf(word: string): string {
  if (word.length > longestWord) return hidden;
  if (/^[A-Za-z]+$/.test(word) && word.length < 20) return word;
  if (isPath(word)) return path;
  if (/^arn:/i.test(word)) return hidden;
  if (/^[\w.+:-]+@[\w.-]+$/.test(word)) return '[e-mail]';
  if (isHost(word)) return address;
  return word
    .replaceAll(keyBeginnings, hidden)
    .replaceAll(otherBeginnings, hidden)
    .replaceAll(ipV4, address)
    .replaceAll(ipV6, address)
    .replaceAll(/[\w-]*\*{3,}[\w*-]*/g, hidden)
    .replaceAll(/[A-Za-z0-9+/=_-]{20,}/g, (found) => (isWords(found) ? found : hidden));
}

// Keys by their beginnings, also such as are masked in part.
const keyBeginnings =
  /(?<![A-Za-z0-9])(?:sk|pk|rk|gsk|csk|xai|nvapi|pplx|glpat|github_pat|gh[opsu]|hf|r8|tgp|gw|xox[a-z])[-_][\w*.-]{3,}/gi;
const otherBeginnings =
  /(?<![A-Za-z0-9])(?:(?:AKIA|ASIA|AIza|eyJ)[\w*.-]{6,}|(?:org|proj|user)[-_](?:(?=[\w*]{0,40}[\dA-Z*])[\w*]{6,}|\w{15,}))/g;
const ipV4 = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2}|:\d{1,5})?(?:\/[^\s"']*)?(?![\w.]\d)/g;
const ipV6 =
  /(?<![\w:])(?:(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}|(?:[0-9a-f]{1,4}:){1,6}:(?:[0-9a-f]{1,4}:?){0,6}|::(?:[0-9a-f]{1,4}:?){1,7})(?![\w:])/gi;

const fields = shapes.flatMap(({ request }) => Object.keys(request.schema.shape));
/** The first parts of JSON pointers into a request, and of paths of the API. */
const pointers = new Set([...fields, 'body', 'properties', 'items', 'parameters', 'function', 'v1']);
const folders = new Set('app data etc home mnt models opt root srv tmp usr var workspace'.split(' '));

function isPath(word: string): boolean {
  if (/(?:^|[^A-Za-z])[A-Za-z]:[\\/]|^\\\\|[A-Za-z]{2,}\\+[A-Za-z]{2,}|^~\/|^\.{1,2}\//.test(word)) return true;
  const [, first = '', rest] = /(?:^|[:=])\/([^/]+)(\/.*)?/.exec(word) ?? [];
  if (first === '' || pointers.has(first)) return false;
  return rest !== undefined || folders.has(first);
}

const innerDomains = 'internal local localdomain localhost svc lan corp intranet home consul arpa cluster'.split(' ');
const domains = 'com net org io ai dev cloud app co eu de uk fr nl ch us cn ru jp gov edu info biz tech xyz'.split(' ');
const wellKnown = new Set([...innerDomains, ...domains]);
/** Two letters that end the names of fields and files as often as those of countries. */
const notCountries = new Set('id py js ts rs go md sh cc cu so'.split(' '));

/** Whether a word is a name with a port, or one that ends like a domain, perhaps with a path. */
function isHost(word: string): boolean {
  const [, name = '', port, rest = ''] = /^([a-z0-9][a-z0-9._-]*)(?::(\d{2,5}))?(\/.*)?$/i.exec(word) ?? [];
  if (name === '' || !/[a-z]/i.test(name) || /^\d{4}-\d\d-\d\dT/.test(name)) return false;
  if (/^localhost$/i.test(name) || /^(?:ip|ec2|host|node)-\d{1,3}(?:-\d{1,3}){3}/i.test(name)) return true;
  // Names of fields have underscores, names of hosts only seldom.
  if (port !== undefined && (name.includes('_') ? rest !== '' : Number(port) >= 1000 || /[.-]/.test(name))) return true;
  const labels = name.toLowerCase().split('.');
  const last = labels.at(-1) ?? '';
  if (labels.length < 2 || name.includes('_') || labels.includes('')) return false;
  if (wellKnown.has(last)) return true;
  if (labels.length < 3) return false;
  const isNumbered = /^[a-z]+-(?:[a-z]+-)*\d+$/.test(labels[0] ?? '');
  return isNumbered || (/^[a-z]{2}$/.test(last) && (!notCountries.has(last) || name.includes('-')));
}

/** Whether a text is made of names, dates and versions: `max_completion_tokens`, `claude-3-5-sonnet-20241022`. */
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
