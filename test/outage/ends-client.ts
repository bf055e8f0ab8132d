/** A call over HTTP/1.1 or HTTP/2 that can be looked at, and left, at any moment. */
import { request } from 'node:http';
import { connect, constants } from 'node:http2';

export const versions = ['HTTP/1.1', 'HTTP/2'] as const;
export type Version = (typeof versions)[number];

export interface OpenCall {
  /** Null while there are no headers. */
  readonly status: number | null;
  readonly receiptId: string | null;
  readonly text: string;
  /** Sends the second half of the body. */
  finishBody(): void;
  leave(): void;
  /** Never rejects. */
  readonly over: Promise<'whole' | 'broken'>;
}

interface InferenceRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns once half of the body is sent. */
export const openCall = (version: Version, asked: InferenceRequest): Promise<OpenCall> =>
  version === 'HTTP/2' ? overHttp2(asked) : overHttp1(asked);

/** The observed reply. */
class Seen {
  status: number | null = null;
  receiptId: string | null = null;
  text = '';
  isWhole = false;
}

const halves = (body: string) => [body.slice(0, body.length >> 1), body.slice(body.length >> 1)] as const;

function overHttp1({ body, headers, url }: InferenceRequest): Promise<OpenCall> {
  const seen = new Seen();
  const call = request(url, { method: 'POST', headers: { ...headers, 'content-length': body.length }, agent: false });
  const over = new Promise<'whole' | 'broken'>((resolve) => {
    call.on('error', () => resolve('broken'));
    call.on('response', (reply) => {
      seen.status = reply.statusCode ?? null;
      seen.receiptId = String(reply.headers['x-gw-receipt-id'] ?? '') || null;
      reply.setEncoding('utf8').on('data', (piece: string) => {
        seen.text += piece;
      });
      reply.on('error', () => undefined);
      reply.on('close', () => resolve(reply.complete ? 'whole' : 'broken'));
    });
  });
  return opened(
    seen,
    over,
    body,
    { write: (half, then) => call.write(half, then), end: (half) => call.end(half) },
    () => call.destroy(),
  );
}

function overHttp2({ body, headers, url }: InferenceRequest): Promise<OpenCall> {
  const seen = new Seen();
  const { origin, pathname } = new URL(url);
  const session = connect(origin);
  session.on('error', () => undefined);
  const call = session.request({ ':method': 'POST', ':path': pathname, ...headers });
  const over = new Promise<'whole' | 'broken'>((resolve) => {
    call.on('response', (replied) => {
      seen.status = replied[':status'] ?? null;
      seen.receiptId = String(replied['x-gw-receipt-id'] ?? '') || null;
    });
    call.setEncoding('utf8').on('data', (piece: string) => {
      seen.text += piece;
    });
    call.on('end', () => {
      seen.isWhole = true;
    });
    call.on('error', () => undefined);
    call.on('close', () => {
      session.close();
      resolve(seen.isWhole && call.rstCode === constants.NGHTTP2_NO_ERROR ? 'whole' : 'broken');
    });
  });
  return opened(
    seen,
    over,
    body,
    { write: (half, then) => call.write(half, then), end: (half) => call.end(half) },
    () => call.close(constants.NGHTTP2_CANCEL),
  );
}

interface Sending {
  write(half: string, then: () => void): void;
  end(half: string): void;
}

async function opened(
  seen: Seen,
  over: OpenCall['over'],
  body: string,
  { end, write }: Sending,
  leave: () => void,
): Promise<OpenCall> {
  const [first, second] = halves(body);
  await Promise.race([new Promise<void>((resolve) => write(first, resolve)), over]);
  return Object.assign(seen, { over, leave, finishBody: () => end(second) });
}
