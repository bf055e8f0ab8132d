/**
 * The pages behind `doc_url`: one for each code, and the list of all codes.
 *
 * Invariants: a page is self-contained and the same for everybody. It has no script, and its only style is the one whose hash
 * the content security policy names. Every text is escaped.
 */
import { createHash } from 'node:crypto';
import { type Addresses, errorBody } from '../errors.ts';
import { escaped } from '../internal/html-text.ts';
import { type Entry, errorGroups, errorOf, factsOf, fieldExample, operatorEntries, statusOf } from './error-facts.ts';

const style = `:root{color-scheme:light dark;--text:#1b1f24;--soft:#57606a;--line:#d0d7de;--link:#0b5cad;--back:#fff;--box:#f6f8fa}
@media (prefers-color-scheme:dark){:root{--text:#e6e9ec;--soft:#a3acb5;--line:#3a424a;--link:#7cb8ff;--back:#15191d;--box:#1f252b}}
body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
main{max-width:44rem;margin:0 auto;padding:1.5rem 1rem 3rem}
h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.2rem;margin:2rem 0 0}a{color:var(--link)}
dt{font-weight:600;margin-top:1rem}dd{margin:0}.soft{color:var(--soft);font-weight:400}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}
pre{white-space:pre-wrap;padding:.75rem 1rem;background:var(--box);border:1px solid var(--line);border-radius:.4rem}`;

/** The content security policy: a page may only show its own style. */
export const errorPagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export interface ErrorPages {
  readonly list: string;
  /** The page for an unknown code. */
  readonly unknown: string;
  readonly ofCode: ReadonlyMap<string, string>;
}

export function errorPages(addresses: Addresses): ErrorPages {
  const entries = [...errorGroups().flatMap((group) => group.entries), ...operatorEntries];
  return {
    list: page('Errors', `<p>Every error of this gateway names one of these codes.</p>${list('errors/')}`),
    unknown: page('There is no such error', `<p>These are all the codes that there are.</p>${list('')}`),
    ofCode: new Map(entries.map((entry) => [entry[0], codePage(entry, addresses)])),
  };
}

const page = (title: string, content: string, before = ''): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} – inference gateway</title>
<style>${style}</style>
</head>
<body>
<main>
${before}<h1>${escaped(title)}</h1>
${content}
</main>
</body>
</html>
`;

/** The catalogue writes code in backticks. */
const shown = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>');

const backoff =
  '<p class="soft">With backoff: wait 2^attempt seconds plus a random fraction of a second, and make at most four attempts in all.</p>\n';

function codePage(entry: Entry, addresses: Addresses): string {
  const [code, definition] = entry;
  const facts = factsOf(entry).map(
    ([name, text]) => `<dt>${name}</dt>\n<dd>${shown(text.charAt(0).toUpperCase() + text.slice(1))}</dd>`,
  );
  const isPublic = !operatorEntries.includes(entry);
  const error = code === 'invalid_field' ? fieldExample : errorOf(entry, params[code]);
  const example = JSON.stringify(JSON.parse(errorBody(error, addresses)), null, 2);
  const content = `<p>${shown(definition.message)}</p>
<p class="soft">${statusOf(definition)}, type <code>${definition.type}</code>${isPublic ? '' : ', on the operators’ port alone'}</p>
<dl>
${facts.join('\n')}
</dl>
${definition.retry === 'with_backoff' ? backoff : ''}<h2>An example of the reply</h2>
<pre>${escaped(example)}</pre>`;
  return page(code, content, '<nav><a href="../errors">All errors</a></nav>\n');
}

/** `param` of each example. */
const params: Readonly<Record<string, string>> = {
  evidence_pack_not_found: 'pack_id',
  idempotency_key_reused: 'Idempotency-Key',
  invalid_content_type: 'Content-Type',
  invalid_idempotency_key: 'Idempotency-Key',
  invalid_model: 'model',
  invalid_region: 'gw.region',
  invalid_tier: 'gw.tier',
  key_not_found: 'key_id',
  max_carbon_exceeded: 'gw.max_carbon_g',
  methodology_not_found: 'methodology_hash',
  missing_required_parameter: 'messages',
  prompt_too_long: 'messages',
  receipt_not_found: 'receipt_id',
  unsupported_field: 'base_url',
};

/** `to`: the path from the list to the pages of codes. */
function list(to: string): string {
  const operators = { title: 'The operators’ port', entries: operatorEntries };
  return [...errorGroups(), operators]
    .map(
      ({ title, entries }) => `<h2>${title}</h2>\n<dl>\n${entries.map((entry) => listed(entry, to)).join('\n')}\n</dl>`,
    )
    .join('\n');
}

const listed = ([code, definition]: Entry, to: string): string =>
  `<dt><a href="${to}${code}"><code>${code}</code></a> <span class="soft">${statusOf(definition)}</span></dt>\n<dd>${shown(definition.message)}</dd>`;
