/** Bodies that are announced and never sent: the limits decide by the headers. */
import { type ClientRequest, request } from 'node:http';
import { chatPath, type Reply, stack } from '../input/ask.ts';

/** Announces `count` bodies of `bytes` each, on connections of their own. */
export function announceBodies(key: string, count: number, bytes: number) {
  const { hostname, port } = new URL(stack.publicUrl);
  const open: ClientRequest[] = [];
  const replies = Array.from({ length: count }, () => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': String(bytes),
    };
    const outgoing = request({ hostname, port, method: 'POST', path: chatPath, headers, agent: false });
    open.push(outgoing);
    outgoing.flushHeaders();
    return new Promise<Reply>((resolve, reject) => {
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, broken: false });
        });
      });
    });
  });
  // Whoever is let in waits for its body, and never replies.
  const firstReply = Promise.race(replies);
  for (const reply of [firstReply, ...replies]) reply.catch(() => undefined);
  return {
    firstReply,
    close: () => {
      for (const outgoing of open) outgoing.destroy();
    },
  };
}
