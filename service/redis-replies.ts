/**
 * Parses RESP2 replies of Redis, without nested arrays, which none of our commands returns.
 *
 * Invariant: replies are parsed the same however they are split into pieces; anything else ends the connection.
 */

/** Errors (`-…`) are replies too. */
export type PlainReply = string | number | null | Error;
export type Reply = PlainReply | readonly PlainReply[];

/**
 * Returns a function for the next piece of text (Latin-1). `take` gets each reply and returns whether it was expected; `fail` gets fatal
 * errors.
 */
export function readReplies(take: (reply: Reply) => boolean, fail: (error: Error) => void): (piece: string) => void {
  let pieces: string[] = [];
  let length = 0;
  /** Characters needed before the next attempt, so that a long reply is not parsed again with each of its pieces. */
  let needed = 0;
  return (piece) => {
    pieces.push(piece);
    length += piece.length;
    if (length < needed) return;
    const text = pieces.length === 1 ? piece : pieces.join('');
    let from = 0;
    for (;;) {
      const found = replyAt(text, from);
      if (typeof found === 'number') {
        needed = found - from;
        break;
      }
      if (found === 'none' || !take(found.reply))
        return fail(new Error('Redis sent something that is not a reply to a command.'));
      from = found.next;
    }
    const rest = text.slice(from);
    pieces = rest === '' ? [] : [rest];
    length = rest.length;
  };
}

/** A number is the length that the text must reach first. */
type ParsedReply<R extends Reply> = { readonly reply: R; readonly next: number } | number | 'none';

function replyAt(text: string, from: number): ParsedReply<Reply> {
  return text[from] === '*' ? arrayAt(text, from) : plainReplyAt(text, from);
}

function arrayAt(text: string, from: number): ParsedReply<readonly PlainReply[] | null> {
  const end = text.indexOf('\r\n', from);
  if (end === -1) return text.length + 1;
  const length = Number(text.slice(from + 1, end));
  let next = end + 2;
  if (length === -1) return { reply: null, next };
  if (!Number.isSafeInteger(length) || length < 0) return 'none';
  const replies: PlainReply[] = [];
  while (replies.length < length) {
    const found = plainReplyAt(text, next);
    if (typeof found !== 'object') return found;
    replies.push(found.reply);
    next = found.next;
  }
  return { reply: replies, next };
}

function plainReplyAt(text: string, from: number): ParsedReply<PlainReply> {
  const end = text.indexOf('\r\n', from);
  if (end === -1) return text.length + 1;
  const next = end + 2;
  const said = text.slice(from + 1, end);
  switch (text[from]) {
    case '+':
      return { reply: said, next };
    case '-':
      return { reply: new Error(said), next };
    case ':':
      return { reply: Number(said), next };
    case '$':
      return textReply(text, next, Number(said));
    default:
      return 'none';
  }
}

function textReply(text: string, from: number, length: number): ParsedReply<string | null> {
  if (length === -1) return { reply: null, next: from };
  if (!Number.isSafeInteger(length) || length < 0) return 'none';
  const end = from + length;
  if (text.length < end + 2) return end + 2;
  if (!text.startsWith('\r\n', end)) return 'none';
  return { reply: text.slice(from, end), next: end + 2 };
}
