/** Facts about error codes for the pages that people read; code is in backticks. */
import { errorCatalogue, fieldErrors } from '../error-catalogue.ts';
import { type ErrorDefinition, type ErrorType, patienceS, type Retry, retriedByStatus } from '../error-definition.ts';
import { type ApiError, errorHeaders, fieldError, retriedBySdks } from '../errors.ts';
import { operatorErrorCatalogue } from '../operator-errors.ts';
import { fieldCodes } from './field-codes.ts';

/** The titles differ from all codes, so that the anchors of groups and codes do not collide. */
const titles: Readonly<Record<ErrorType, string>> = {
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

/** The codes without an entry of their own in the catalogue. */
const ownFieldCodes = (): string[] =>
  fieldCodes()
    .filter((code) => !(code in errorCatalogue))
    .map((code) => `\`${code}\``);

export type Entry = readonly [code: string, definition: ErrorDefinition];

/** The error as a client gets it. */
export const errorOf = ([code, { type, status, message }]: Entry, param: string | null = null): ApiError => ({
  code: code as ApiError['code'],
  type,
  status,
  message,
  param,
});

function sdks(entry: Entry): string {
  const error = errorOf(entry);
  const { retry, status } = entry[1];
  if (retriedBySdks(error))
    return retry === 'after_retry_after' ? `do, unless it is longer than ${patienceS} s` : 'do by themselves';
  return retriedByStatus(status) ? 'do not, as `x-should-retry: false` tells them' : 'do not';
}

function headers(entry: Entry): string {
  const error = errorOf(entry);
  const { headers: more = [] } = entry[1];
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

export const statusOf = ({ status, pathStatus }: ErrorDefinition): string =>
  `HTTP ${status}${pathStatus === undefined ? '' : `, or ${pathStatus} where the path names it`}`;

/** Returns everything but the message, as pairs of name and text. */
export function factsOf(entry: Entry): (readonly [name: string, text: string])[] {
  const [code, { when, action, retry }] = entry;
  const brought = headers(entry);
  return [
    ['When', when],
    ['What to do', action],
    ['Retry', `${retries[retry]}. The official SDKs ${sdks(entry)}.`],
    ...(brought ? [['Headers', `${brought}.`] as const] : []),
    ...(code in fieldErrors ? [['Codes', `${ownFieldCodes().join(', ')}.`] as const] : []),
  ];
}

export interface ErrorGroup {
  readonly title: string;
  readonly type: ErrorType;
  readonly entries: readonly Entry[];
}

/** The codes of the public port, by type. */
export function errorGroups(): ErrorGroup[] {
  const entries: readonly Entry[] = Object.entries({ ...errorCatalogue, ...fieldErrors });
  return (Object.keys(titles) as ErrorType[]).map((type) => ({
    title: titles[type],
    type,
    entries: entries.filter(([, entry]) => entry.type === type),
  }));
}

/** Codes that occur only on the operators' port. */
export const operatorEntries: readonly Entry[] = Object.entries(operatorErrorCatalogue);

/** An error of the family `invalid_<field>`. */
export const fieldExample = fieldError('messages[0].role', '`messages[0].role` is not valid: Invalid input.');
