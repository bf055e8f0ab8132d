/**
 * Lists of tokens in place of text: `prompt` and `input` may be both.
 *
 * Invariant: a list is either read, so that its text can be screened, or refused. It never passes unread: without the
 * vocabulary nobody could say what it asks for (docs/decisions/0008-token-arrays.md).
 */
import { type ApiError, apiError, fieldError } from '@gw/contract/errors';
import { knownTokenizer } from '@gw/contract/internal/tokenizers';
import type { Catalogue } from '../snapshot.ts';
import type { ParsedRequest } from './parse.ts';
import type { TokenThread } from './token-thread.ts';

type Tokens = readonly number[];

export type ReadLists =
  | { readonly ok: true; readonly texts: readonly string[] }
  | { readonly ok: false; readonly error: ApiError };

/** The field of the request that holds lists, and the lists; null where it holds text. */
export function tokenListsOf(request: ParsedRequest): { readonly field: string; readonly lists: Tokens[] } | null {
  const field = request.endpoint === 'embeddings' ? 'input' : 'prompt';
  const value = request.endpoint === 'chat' ? null : request.body[field];
  if (!Array.isArray(value)) return null;
  if (typeof value[0] === 'number') return { field, lists: [value as Tokens] };
  return Array.isArray(value[0]) ? { field, lists: value as Tokens[] } : null;
}

/**
 * The texts of the lists of a request, in their order; null if it holds none, and then at once. A model that does not exist
 * has no texts either: the route refuses it.
 */
export function readTokenLists(
  request: ParsedRequest,
  catalogue: Catalogue,
  thread: Pick<TokenThread, 'decode'>,
): Promise<ReadLists> | ReadLists | null {
  const found = tokenListsOf(request);
  if (!found) return null;
  const model = catalogue.models.get(request.model);
  if (!model) return { ok: true, texts: [] };
  const { field, lists } = found;
  const tokenizer = knownTokenizer(model.tokenizer);
  if (!tokenizer) return { ok: false, error: fieldError(field, unreadable(field, model.id)) };
  return thread.decode(lists, tokenizer).then((decoded): ReadLists => {
    // Fail closed: what could not be read can not be screened.
    if (!decoded) return { ok: false, error: apiError('internal_error') };
    if ('texts' in decoded) return { ok: true, texts: decoded.texts };
    const message = `\`${field}\` holds ${decoded.unknown}, which is no token of ${tokenizer}, the vocabulary of \`${model.id}\`.`;
    return { ok: false, error: fieldError(field, message) };
  });
}

const unreadable = (field: string, model: string): string =>
  `\`${field}\` has to be text: the vocabulary of \`${model}\` is not known to the gateway, so lists of tokens can not be read. Send the text (in LangChain: check_embedding_ctx_length=False), or ask the operator to set the tokenizer of the model.`;
