/**
 * Reads replies of Redis: RESP2, without arrays, which no command of ours is answered by.
 *
 * Invariant: whatever comes in pieces is read as if it had come whole; what is no reply ends the connection.
 */

/** An error is a reply like others: `-…`. */
export type Reply = string | number | null | Error;

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

type Found = { readonly reply: Reply; readonly next: number } | 'more' | 'none';

function replyAt(text: string, from: number): Found {
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

function textReply(text: string, from: number, length: number): Found {
  if (length === -1) return { reply: null, next: from };
  if (!Number.isSafeInteger(length) || length < 0) return 'none';
  const end = from + length;
  if (text.length < end + 2) return 'more';
  if (!text.startsWith('\r\n', end)) return 'none';
  return { reply: text.slice(from, end), next: end + 2 };
}
