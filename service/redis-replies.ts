/**
 * Reads replies of Redis: RESP2, without arrays in arrays, which no command of ours is answered by.
 *
 * Invariant: whatever comes in pieces is read as if it had come whole; what is no reply ends the connection.
 */

/** An error is a reply like others: `-…`. */
export type PlainReply = string | number | null | Error;
export type Reply = PlainReply | readonly PlainReply[];

/**
 * Returns what takes the next piece of text (Latin-1). `take` gets each reply and says whether it was waited for; `fail` gets what
 * cannot go on.
 */
export function readReplies(take: (reply: Reply) => boolean, fail: (error: Error) => void): (piece: string) => void {
  let rest = '';
  return (piece) => {
    const text = rest === '' ? piece : rest + piece;
    let from = 0;
    for (;;) {
      const found = replyAt(text, from);
      if (found === 'more') break;
      if (found === 'none' || !take(found.reply)) return fail(new Error('Redis sent what is no reply to a command.'));
      from = found.next;
    }
    rest = text.slice(from);
  };
}

type Found<R extends Reply> = { readonly reply: R; readonly next: number } | 'more' | 'none';

function replyAt(text: string, from: number): Found<Reply> {
  return text[from] === '*' ? arrayAt(text, from) : plainReplyAt(text, from);
}

function arrayAt(text: string, from: number): Found<readonly PlainReply[] | null> {
  const end = text.indexOf('\r\n', from);
  if (end === -1) return 'more';
  const length = Number(text.slice(from + 1, end));
  let next = end + 2;
  if (length === -1) return { reply: null, next };
  if (!Number.isSafeInteger(length) || length < 0) return 'none';
  const replies: PlainReply[] = [];
  while (replies.length < length) {
    const found = plainReplyAt(text, next);
    if (typeof found === 'string') return found;
    replies.push(found.reply);
    next = found.next;
  }
  return { reply: replies, next };
}

function plainReplyAt(text: string, from: number): Found<PlainReply> {
  const end = text.indexOf('\r\n', from);
  if (end === -1) return 'more';
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

function textReply(text: string, from: number, length: number): Found<string | null> {
  if (length === -1) return { reply: null, next: from };
  if (!Number.isSafeInteger(length) || length < 0) return 'none';
  const end = from + length;
  if (text.length < end + 2) return 'more';
  if (!text.startsWith('\r\n', end)) return 'none';
  return { reply: text.slice(from, end), next: end + 2 };
}
