/**
 * Refuses a prompt that is longer than the context window of its model.
 *
 * Invariant: nothing that fits is ever refused. What can not be counted for certain (images, tools, names, a template) is
 * not counted; a model whose tokenizer is not known counts nothing but lists of tokens; and where counting fails the call
 * goes on, since the provider refuses by itself. Only the prompt counts, not what was asked to be generated.
 */
import { type ApiError, apiError } from '@gw/contract/errors';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { knownTokenizer, longestTokenBytes } from '@gw/contract/internal/tokenizers';
import type { Asked } from './admission.ts';
import type { ParsedRequest } from './parse.ts';
import type { PromptCounts } from './prompt-counts.ts';
import { promptField, tooManyTokens } from './prompt-words.ts';
import { tokenListsOf } from './token-lists.ts';
import type { Counted, TokenThread } from './token-thread.ts';

/** OpenAI's chat format: each message is framed by so many tokens besides its role, and the reply is opened by as many. */
const tokensOfFrame = 3;
const tokensOfRole = 1;
/** So that the message names the exact count of a prompt that is a little too long, and a huge one is not counted whole. */
const countedTimesLimit = 2;

export interface Counting {
  readonly thread: Pick<TokenThread, 'count'>;
  readonly counts: Pick<PromptCounts, 'note'>;
}

/** At once where no text has to be counted, which is so for all prompts that are shorter in bytes than the window. */
export function checkPromptLength(
  request: ParsedRequest,
  { bytes, caller, catalogue }: Pick<Asked, 'bytes' | 'caller' | 'catalogue'>,
  { counts, thread }: Counting,
): ApiError | null | Promise<ApiError | null> {
  const model = catalogue.models.get(request.model);
  const limit = model?.contextWindow ?? null;
  // What a token stands for has at least one byte, and the body holds all of it. Whether the account may use the model at
  // all is said by the route.
  if (!model || limit === null || bytes.length <= limit || (caller.models && !caller.models.includes(model.id)))
    return null;
  if (asksToTruncate(request.body)) return null;
  const tooLong = (found: Found) => refusal(request, model.id, limit, found);
  const tokens = tokenListsOf(request)?.lists;
  if (tokens) {
    const at = tokens.findIndex((list) => list.length > limit);
    return at === -1 ? null : tooLong({ at, of: tokens.length, tokens: tokens[at]?.length ?? 0, isWhole: true });
  }
  const tokenizer = knownTokenizer(model.tokenizer);
  if (!tokenizer) return null;
  const { texts, frame, isWhole, together } = promptOf(request);
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const bounds = together ? [sizes.reduce((sum, size) => sum + size, 0)] : sizes;
  if (bounds.every((size) => size + frame <= limit)) return null;
  const of = together ? 1 : texts.length;
  const leastOf = (size: number) => Math.ceil(size / longestTokenBytes) + frame;
  const certain = bounds.findIndex((size) => leastOf(size) > limit);
  if (certain !== -1) return tooLong({ at: certain, of, tokens: leastOf(bounds[certain] ?? 0), isWhole: false });
  const stopAbove = limit * countedTimesLimit;
  return thread
    .count({ account: caller.accountId, texts, together, tokenizer, limit: limit - frame, stopAbove })
    .then((counted: Counted | null) => {
      // Fail open: the provider counts too.
      counts.note(counted === null ? 'uncounted' : counted.over ? 'too_long' : 'fits');
      if (!counted?.over) return null;
      const { at, tokens: count, whole } = counted.over;
      return tooLong({ at, of, tokens: count + frame, isWhole: whole && isWhole });
    });
}

interface Found {
  /** Which of how many prompts. */
  readonly at: number;
  readonly of: number;
  readonly tokens: number;
  /** False if it has at least so many. */
  readonly isWhole: boolean;
}

function refusal(request: ParsedRequest, model: string, limit: number, { at, of, tokens, isWhole }: Found): ApiError {
  const param = promptField[request.endpoint];
  const message = tooManyTokens(of > 1 ? `\`${param}[${at}]\`` : 'The prompt', model, { tokens, limit, isWhole });
  return apiError('prompt_too_long', { message, param });
}

/** Servers have several words for cutting a prompt that is too long; who sends one does not want to be refused. */
const truncation = ['truncate_prompt_tokens', 'truncate', 'truncation'];
const asksToTruncate = (body: JsonObject): boolean =>
  truncation.some((field) => body[field] !== undefined && body[field] !== null && body[field] !== false);

interface Prompt {
  readonly texts: readonly string[];
  /** Tokens around the texts. */
  readonly frame: number;
  /** Whether texts and frame are all of the prompt. */
  readonly isWhole: boolean;
  /** Whether the texts are one prompt; else each is one. */
  readonly together: boolean;
}

function promptOf({ body, endpoint }: ParsedRequest): Prompt {
  if (endpoint !== 'chat') {
    const value = body[promptField[endpoint]];
    return { texts: Array.isArray(value) ? value : [String(value ?? '')], frame: 0, isWhole: true, together: false };
  }
  const messages = body.messages as readonly JsonObject[];
  const contents = messages.map(contentOf);
  return {
    texts: contents.map(({ text }) => text),
    frame: messages.length * (tokensOfFrame + tokensOfRole) + tokensOfFrame,
    isWhole: contents.every(({ isWhole }) => isWhole) && !beside.some((field) => body[field] != null),
    together: true,
  };
}

/** What the prompt holds besides the messages, in a form that only the provider knows. */
const beside = ['tools', 'functions', 'response_format'];
const plainFields = new Set(['role', 'content']);

/** The text of a message, its parts joined by nothing, which is the least that they can be. */
function contentOf(message: JsonObject): { readonly text: string; readonly isWhole: boolean } {
  const { content } = message;
  const isPlain = Object.keys(message).every((field) => plainFields.has(field) || message[field] === null);
  if (typeof content === 'string') return { text: content, isWhole: isPlain };
  const parts = Array.isArray(content) ? (content as readonly JsonObject[]) : [];
  const texts = parts.flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? [part.text] : []));
  return { text: texts.join(''), isWhole: isPlain && texts.length === parts.length };
}
