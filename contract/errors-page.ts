/** The page about errors (`docs/errors.md`), made from the catalogues: one anchor per code, grouped by type. */
import { errorCatalogue, fieldErrors } from './error-catalogue.ts';
import { type ErrorDefinition, type ErrorType, patienceS, type Retry, retriedByStatus } from './error-definition.ts';
import { type ApiError, errorBody, errorHeaders, fieldError, retriedBySdks } from './errors.ts';
import { exampleAddresses } from './example-addresses.ts';
import { fieldCodes } from './field-codes.ts';
import { operatorErrorCatalogue } from './operator-errors.ts';

/** Headings of their own, so that no anchor of a group is that of a code. */
const groups: Readonly<Record<ErrorType, string>> = {
  auth_error: 'Keys and scopes',
  validation_error: 'The request',
  rate_limit_error: 'Limits',
  inference_error: 'The model provider',
  region_unavailable: 'The pinned region',
  policy_error: 'Use policy',
  methodology_error: 'The receipt',
  internal_error: 'The gateway',
};

const retries: Readonly<Record<Retry, string>> = {
  never: 'never',
  after_retry_after: 'after the seconds in `Retry-After`',
  with_backoff: 'with backoff',
};

/** Those that have no entry of their own. */
const ownFieldCodes = (): string[] =>
  fieldCodes()
    .filter((code) => !(code in errorCatalogue))
    .map((code) => `\`${code}\``);

type Entry = readonly [code: string, definition: ErrorDefinition];

function sdks([code, { type, status, retry }]: Entry): string {
  const error: ApiError = { code: code as ApiError['code'], type, status, message: '', param: null };
  if (retriedBySdks(error))
    return retry === 'after_retry_after' ? `do, unless it is longer than ${patienceS} s` : 'do by themselves';
  return retriedByStatus(status) ? 'do not, as `x-should-retry: false` tells them' : 'do not';
}

function headers([code, { type, status, headers: more = [] }]: Entry): string {
  const error: ApiError = { code: code as ApiError['code'], type, status, message: '', param: null };
  const written = {
    'www-authenticate': '`WWW-Authenticate: Bearer`',
    'retry-after': `\`Retry-After\` in whole seconds; with \`x-should-retry: false\` if it is more than ${patienceS}`,
    'x-should-retry': '`x-should-retry: false`',
  };
  const own = Object.entries(written).flatMap(([name, text]) => (errorHeaders(error).has(name) ? [text] : []));
  const receipt = '`x-gw-receipt-id`, if the call reached a provider';
  const extra = more.map((name) => (name === 'Allow' ? '`Allow`, the methods that it takes' : receipt));
  return [...own, ...extra].join('; ');
}

function section(entry: Entry): string {
  const [code, { status, pathStatus, message, when, action, retry }] = entry;
  const brought = headers(entry);
  const lines = [
    `**HTTP ${status}${pathStatus === undefined ? '' : `, or ${pathStatus} where the path names it`}.** ${message}`,
    '',
    `- When: ${when}`,
    `- What to do: ${action}`,
    `- Retry: ${retries[retry]}. The official SDKs ${sdks(entry)}.`,
    ...(brought ? [`- Headers: ${brought}.`] : []),
    ...(code in fieldErrors ? [`- Codes: ${ownFieldCodes().join(', ')}.`] : []),
  ];
  return `### ${code}\n\n${lines.join('\n')}\n`;
}

function group(type: ErrorType, entries: readonly Entry[]): string {
  const sections = entries.filter(([, entry]) => entry.type === type).map(section);
  return `## ${groups[type]}\n\nType \`${type}\`.\n\n${sections.join('\n')}`;
}

const wrongRole = fieldError('messages[0].role', '`messages[0].role` is not valid: Invalid input.');
const example = JSON.stringify(JSON.parse(errorBody(wrongRole, exampleAddresses)), null, 2);

export function errorsPage(): string {
  const entries: readonly Entry[] = Object.entries({ ...errorCatalogue, ...fieldErrors });
  const operatorEntries: readonly Entry[] = Object.entries(operatorErrorCatalogue);
  return `# Errors

Every error of the public port has this shape, whatever part made it, with \`Content-Type: application/json\` and
\`x-request-id\`:

\`\`\`json
${example}
\`\`\`

\`code\` and \`type\` are stable; \`message\` may change. \`param\` is the JSON path of the field at fault (\`messages[0].role\`,
\`gw.tier\`), or null. \`doc_url\` leads to the code: on this page where the operator has published it (\`GW_DOCS_URL\`), else in
\`x-error-catalogue\` of \`/openapi.json\`, which is the same list for programs.

Besides the codes below there is one \`invalid_<field>\` for each request field (\`invalid_temperature\`, \`invalid_top_p\`, …),
see [invalid_field](#invalid_field). A look-up by path of a thing that does not exist answers 404 with the code that the same
thing has in a body (\`invalid_model\`, \`invalid_region\`): the one deliberate deviation from the specification, which gives
\`validation_error\` 400.

## Retrying

At most four attempts in all. On \`rate_limit_error\` and \`overloaded\` wait for the seconds in \`Retry-After\`; on any other \`inference_error\`,
\`methodology_error\` and \`internal_error\` wait 2^attempt seconds plus a random fraction of a second; never send an
\`auth_error\`, \`validation_error\` or \`policy_error\` again. A \`region_unavailable\` says by its code.

The official SDKs do this by themselves with \`max_retries=3\` (Node: \`maxRetries: 3\`); by default they make three attempts.
They go by the status (408, 409, 429 and all from 500) and wait for \`Retry-After\`. Where that would be wrong the reply has
\`x-should-retry: false\`, which they obey: where nothing but a change of the request helps, and where \`Retry-After\` is more
than ${patienceS} seconds. An error inside a stream that has begun is never sent again by them.

${(Object.keys(groups) as ErrorType[]).map((type) => group(type, entries)).join('\n')}
## The operators’ port

The same object. These codes occur there alone, beside those above.

${operatorEntries.map(section).join('\n')}`;
}
