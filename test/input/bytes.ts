/** Requests written byte by byte: nothing here mends what a test writes. */
import { connect } from 'node:net';
import { type Reply, stack } from './ask.ts';

const { hostname, port } = new URL(stack.publicUrl);

export function readReply(bytes: Buffer): Reply & { whole: boolean } {
  const [head = '', ...body] = bytes.toString('latin1').split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => [line.split(': ')[0]?.toLowerCase(), line.split(': ')[1]]));
  const text = body.join('\r\n\r\n');
  const whole = text.length >= Number(headers['content-length'] ?? Number.POSITIVE_INFINITY);
  return { status: Number(first.split(' ')[1]), headers, text, broken: false, whole };
}

/** Sends the bytes as they are. Reads one reply, or all that come until the gateway closes the connection. */
export function sendBytes(bytes: string, until: 'reply' | 'close' = 'reply'): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (until === 'reply' && readReply(received).whole) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(readReply(received)));
    socket.write(bytes, 'latin1');
  });
}
