/**
 * Counts and reads tokens on a thread of its own, one job after the other. Plain JavaScript, since Node starts it as a file
 * both from the sources and from the bundles. A job is `{count: …}` or `{decode: …}` of token-thread.ts.
 *
 * Invariant: work grows with the length of the text, hardly more, whatever the text is: pieces are merged over a heap, and
 * a piece too long for that counts for the least that it can be. A count is never above the true one.
 */
import { parentPort } from 'node:worker_threads';

/** The merge ranks and the pattern that cuts text into pieces; a vocabulary is read when it is first asked for. */
const vocabularies = {
  o200k_base: [() => import('gpt-tokenizer/bpeRanks/o200k_base'), 'O200K'],
  cl100k_base: [() => import('gpt-tokenizer/bpeRanks/cl100k_base'), 'CL100K'],
  p50k_base: [() => import('gpt-tokenizer/bpeRanks/p50k_base'), 'R50K'],
  r50k_base: [() => import('gpt-tokenizer/bpeRanks/r50k_base'), 'R50K'],
};
/** UTF-8 bytes. */
const longestToken = 128;
/** A longer piece, which no text of a person has, would need too much memory to merge. */
const longestPiece = 64 * 1024;
/** How many pieces between two looks at the clock. */
const piecesPerLook = 4096;

const loaded = new Map();

/**
 * `tokens`: bytes of each token, by number, and `sizes` how many. `ranks`: the number of each token, by its bytes as
 * Latin-1 text.
 */
async function vocabularyOf(name) {
  const known = loaded.get(name);
  if (known) return known;
  const [load, pattern] = vocabularies[name];
  const [{ default: tokens }, patterns] = await Promise.all([load(), import('gpt-tokenizer/encodingParams/constants')]);
  const ranks = new Map();
  // A number that is left out, or above all of these, reads as a line end.
  const sizes = new Uint8Array(tokens.length).fill(1);
  for (const [number, token] of tokens.entries()) {
    // Text, or the bytes of a token that is no whole text; numbers that are left out have no token.
    if (token === undefined) continue;
    const bytes = bytesOf(token);
    ranks.set(bytes.latin1Slice(), number);
    sizes[number] = bytes.length;
  }
  const vocabulary = { tokens, sizes, ranks, pieces: patterns[`${pattern}_TOKEN_SPLIT_REGEX`] };
  loaded.set(name, vocabulary);
  return vocabulary;
}

const bytesOf = (token) => Buffer.from(token);
const isAscii = (text) => /^[\0-\x7f]*$/.test(text);
const latin1Of = (piece) => (isAscii(piece) ? piece : bytesOf(piece).latin1Slice());

/** Tokens of `text`, special ones not among them; stops once there are more than `stopAbove`, or when `isLate`. */
function countText(text, { ranks, pieces }, stopAbove, isLate) {
  let tokens = 0;
  let whole = true;
  let looked = 0;
  for (const [piece] of text.matchAll(pieces)) {
    const bytes = latin1Of(piece);
    if (bytes.length === 1 || ranks.has(bytes)) tokens += 1;
    else if (bytes.length > longestPiece) {
      tokens += Math.ceil(bytes.length / longestToken);
      whole = false;
    } else tokens += countMerged(bytes, ranks);
    if (tokens > stopAbove) return { tokens, whole: false };
    if (++looked % piecesPerLook === 0 && isLate()) return null;
  }
  return { tokens, whole };
}

/**
 * How many tokens a piece is after all merges: always the pair of the lowest rank, of equal ones the first. The heap holds
 * rank and place in one number; an entry whose pair has changed since is passed over.
 */
function countMerged(bytes, ranks) {
  const length = bytes.length;
  const next = new Int32Array(length + 1);
  const before = new Int32Array(length + 1);
  const rankAt = new Int32Array(length + 1);
  const heap = [];
  const look = (at) => {
    const end = next[at] < length ? next[next[at]] : length + 1;
    const rank = end <= length && end - at <= longestToken ? ranks.get(bytes.slice(at, end)) : undefined;
    rankAt[at] = rank ?? -1;
    if (rank !== undefined) push(heap, rank * longestPiece * 2 + at);
  };
  for (let at = 0; at <= length; at++) {
    next[at] = at + 1;
    before[at] = at - 1;
  }
  for (let at = 0; at + 1 < length; at++) look(at);
  let tokens = length;
  while (heap.length > 0) {
    const lowest = pop(heap);
    const at = lowest % (longestPiece * 2);
    if (rankAt[at] !== (lowest - at) / (longestPiece * 2)) continue;
    const gone = next[at];
    next[at] = next[gone];
    before[next[at]] = at;
    rankAt[gone] = -1;
    tokens -= 1;
    look(at);
    if (before[at] >= 0) look(before[at]);
  }
  return tokens;
}

function push(heap, value) {
  let at = heap.length;
  heap.push(value);
  while (at > 0) {
    const above = (at - 1) >> 1;
    if (heap[above] <= value) break;
    heap[at] = heap[above];
    at = above;
  }
  heap[at] = value;
}

function pop(heap) {
  const top = heap[0];
  const last = heap.pop();
  if (heap.length === 0) return top;
  let at = 0;
  for (let below = 1; below < heap.length; below = 2 * at + 1) {
    if (below + 1 < heap.length && heap[below + 1] < heap[below]) below += 1;
    if (heap[below] >= last) break;
    heap[at] = heap[below];
    at = below;
  }
  heap[at] = last;
  return top;
}

/** The first text with more than `limit` tokens, or `together` all of them. Null: not counted in time. */
async function count({ texts, together, tokenizer, limit, stopAbove, timeMs }) {
  const vocabulary = await vocabularyOf(tokenizer);
  const end = performance.now() + timeMs;
  const isLate = () => performance.now() > end;
  const sum = { tokens: 0, whole: true };
  for (const [at, text] of texts.entries()) {
    const counted = countText(text, vocabulary, stopAbove - sum.tokens, isLate);
    if (counted === null || isLate()) return null;
    const tokens = sum.tokens + counted.tokens;
    const whole = sum.whole && counted.whole;
    if (!together && tokens > limit) return { over: { at, tokens, whole } };
    if (!together) continue;
    if (tokens > stopAbove) return { over: { at: 0, tokens, whole } };
    sum.tokens = tokens;
    sum.whole = whole;
  }
  return sum.tokens > limit ? { over: { at: 0, ...sum } } : { over: null };
}

/**
 * The text of each list. A special token parts two texts, as a line end does; `unknown` is a number without a token. What
 * would become too much text is known before any of it is made. Null: not read in time.
 */
async function decode({ lists, tokenizer, maxTextBytes, timeMs }) {
  const { tokens, sizes } = await vocabularyOf(tokenizer);
  const end = performance.now() + timeMs;
  let bytes = 0;
  for (const list of lists)
    for (const number of list) {
      if (number > lastSpecial[tokenizer]) return { unknown: number };
      bytes += sizes[number] ?? 1;
    }
  if (bytes > maxTextBytes) return { tooLong: true };
  const texts = [];
  for (const list of lists) {
    const text = textOf(list, tokens, () => performance.now() > end);
    if (text === null) return null;
    texts.push(text);
  }
  return { texts };
}

function textOf(list, tokens, isLate) {
  let text = '';
  // Tokens that are no whole text come together until one that is.
  let bytes = [];
  for (let at = 0; at < list.length; at++) {
    const token = tokens[list[at]] ?? '\n';
    if (typeof token === 'string') {
      if (bytes.length > 0) {
        text += bytesOf(bytes).toString('utf8');
        bytes = [];
      }
      text += token;
    } else bytes.push(...token);
    if (at % piecesPerLook === 0 && isLate()) return null;
  }
  return text + bytesOf(bytes).toString('utf8');
}

/** Above the tokens of text are the special ones, up to this number. */
const lastSpecial = { o200k_base: 201_088, cl100k_base: 100_276, p50k_base: 50_283, r50k_base: 50_256 };

parentPort.on('message', async ({ id, ...job }) => {
  try {
    parentPort.postMessage({ id, result: job.count ? await count(job.count) : await decode(job.decode) });
  } catch (fault) {
    // Only the kind: a message could hold a piece of the text.
    parentPort.postMessage({ id, fault: String(fault?.name ?? 'fault') });
  }
});
