/**
 * Lists of tokens in place of text: `prompt` and `input` may be both.
 *
 * Invariant: a list is either read, so that its text can be screened, or refused. Nothing that a server is known to
 * take for a prompt passes unread: without the vocabulary nobody could say what it asks for
 * (docs/decisions/0008-token-arrays.md).
 */
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import { err, ok, type Result } from '@gw/contract/internal/result';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { knownTokenizer, type Tokenizer } from '@gw/contract/internal/tokenizers';
import { namedFacts, type ReadingContext } from '../catalogue/reading-context.ts';
import { maxBodyBytes } from '../wire/headers.ts';
import { foldedName } from './folded-name.ts';
import type { ParsedRequest } from './port/parsed-request.ts';
import { shapeOf } from './shapes.ts';
import type { Decoded } from './tokens/decode-tokens.ts';

type Tokens = readonly number[];

/** The texts, or why a list cannot be read. */
export type ReadLists = Result<readonly string[], ApiError>;

/** Returns the field of the request that holds lists, and the lists; null if it holds text. */
export function tokenListsOf(
  endpoint: string,
  body: JsonObject,
): { readonly field: string; readonly lists: Tokens[] } | null {
  const field = ownField(endpoint);
  const value = field && body[field];
  if (!field || !Array.isArray(value)) return null;
  if (typeof value[0] === 'number') return { field, lists: [value as Tokens] };
  return Array.isArray(value[0]) ? { field, lists: value as Tokens[] } : null;
}

/** Fields that other servers take for a prompt and that cannot be read here: numbers of tokens, and vectors. */
export const unreadableFields = [
  'prompt_token_ids',
  'input_ids',
  'token_data',
  'prompt_embeds',
  'input_embeds',
] as const;
const unreadable: ReadonlySet<string> = new Set(unreadableFields.map(foldedName));

const holdsNumbers = (value: unknown): boolean =>
  Array.isArray(value) &&
  (typeof value[0] === 'number' || (Array.isArray(value[0]) && typeof value[0][0] === 'number'));

/** Returns the first field that would pass unread, in any spelling; null if there is none. */
function unreadField(endpoint: string, body: JsonObject): string | null {
  const own = ownField(endpoint);
  for (const [name, value] of Object.entries(body)) {
    const folded = foldedName(name);
    if (unreadable.has(folded) && (value ?? null) !== null) return name.trim();
    if ((folded === 'prompt' || folded === 'input') && name !== own && holdsNumbers(value)) return name.trim();
  }
  return null;
}

const ownField = (endpoint: string): string | null => shapeOf(endpoint).request.list?.field ?? null;

/** Lists that cannot be read without the vocabulary of their model. */
export interface Unread {
  readonly lists: readonly Tokens[];
  readonly tokenizer: Tokenizer;
  readonly textsOf: (decoded: Decoded) => ReadLists;
}

/**
 * Returns the lists of a request, or why they cannot be read; null if it holds none. For a model that does not exist,
 * or that the account cannot use, it returns no texts, since the route refuses the call.
 */
export function tokenLists(
  request: ParsedRequest,
  body: JsonObject,
  context: Pick<ReadingContext, 'allowed' | 'models'>,
): Unread | ReadLists | null {
  const unread = unreadField(request.endpoint, body);
  if (unread) return err(apiError('invalid_request', { message: notRead(unread), param: unread }));
  const found = tokenListsOf(request.endpoint, body);
  if (!found) return null;
  const model = namedFacts(request.model, context);
  if (!model) return ok([]);
  const { field, lists } = found;
  const tokenizer = knownTokenizer(model.tokenizer);
  if (!tokenizer) return err(fieldError(field, notKnown(field, model.id)));
  const textsOf = (decoded: Decoded): ReadLists => {
    if ('texts' in decoded) return ok(decoded.texts);
    if ('tooLong' in decoded) return err(fieldError(field, tooMuchText(field)));
    const message = `\`${field}\` holds ${decoded.unknown}, which is not a token of ${tokenizer}, the vocabulary of \`${model.id}\`.`;
    return err(fieldError(field, message));
  };
  return { lists, tokenizer, textsOf };
}

const tooMuchText = (field: string): string =>
  `\`${field}\` stands for more text than a request may hold (${maxBodyBytes / 1024 / 1024} MiB).`;
const notRead = (field: string): string =>
  `\`${field}\` cannot be read by the gateway, so it cannot be screened. Send the text, or lists of tokens in the field that this endpoint has for them.`;
const notKnown = (field: string, model: string): string =>
  `\`${field}\` has to be text: the vocabulary of \`${model}\` is not known to the gateway, so lists of tokens cannot be read. Send the text (in LangChain: check_embedding_ctx_length=False), or ask the operator to set the tokenizer of the model.`;
