/** Tricks that only HTTP/2 allows: pseudo headers, lengths that do not fit, and bytes that end a line in HTTP/1.1. */
import { flag, frame, frameType } from '@gw/grpc/internals/http2/frames';
import { type Field, headerBlock, type Sent, stream } from './http2-wire.ts';

export interface Http2Trick {
  readonly name: string;
  readonly change: (plain: Sent) => Sent;
  /** `same`: it is the request that it seems to be. Else no request at all. */
  readonly is: 'same' | 'malformed';
}

const trick = (is: Http2Trick['is'], name: string, change: Http2Trick['change']): Http2Trick => ({ name, change, is });
const adding = (is: Http2Trick['is'], ...fields: Field[]): Http2Trick =>
  trick(is, fields.map((field) => JSON.stringify(field.join(': '))).join(' and '), (plain) => ({
    ...plain,
    fields: [...plain.fields, ...fields],
  }));
const inFront = (is: Http2Trick['is'], ...fields: Field[]): Http2Trick =>
  trick(is, `${JSON.stringify(fields[0]?.join(': '))} before the others`, (plain) => ({
    ...plain,
    fields: [...fields, ...plain.fields],
  }));
const replacing = (is: Http2Trick['is'], name: string, write: (value: string) => string): Http2Trick =>
  trick(is, `${name} as ${JSON.stringify(write('…'))}`, (plain) => ({
    ...plain,
    fields: plain.fields.map((field) => (field[0] === name ? [name, write(field[1])] : field)),
  }));
const without = (name: string): Http2Trick =>
  trick('malformed', `no ${name}`, (plain) => ({
    ...plain,
    fields: plain.fields.filter((field) => field[0] !== name),
  }));
const withTrailers = (is: Http2Trick['is'], ...trailers: Field[]): Http2Trick =>
  trick(is, `the trailers ${JSON.stringify(trailers.map((field) => field.join(': ')).join())}`, (plain) => ({
    ...plain,
    trailers,
  }));

const hidden =
  'GET /v1/keys?hidden HTTP/1.1\r\nHost: x\r\nx-attempt: hidden\r\nx-gw-account-id: acct_demo_enterprise\r\n\r\n';

/** In HTTP/1.1 behind Envoy each would be lines of its own. */
const endsOfLines: readonly Http2Trick[] = [
  adding('malformed', ['x', 'y\r\nx-gw-account-id: acct_demo_enterprise']),
  adding('malformed', ['x', `y\r\n\r\n${hidden}`]),
  adding('malformed', ['x', 'y\nx-gw-account-id: acct_demo_enterprise']),
  adding('malformed', ['x', 'y\rx-gw-account-id: acct_demo_enterprise']),
  adding('malformed', ['x', 'y\0z']),
  adding('malformed', ['x\r\nx-gw-account-id: a\r\ny', 'z']),
  adding('malformed', ['x: y\r\nx-gw-account-id', 'a']),
  adding('malformed', ['x:y', 'z']),
  adding('malformed', ['x y', 'z']),
  adding('malformed', ['', 'z']),
  adding('malformed', ['X-Capital', 'z']),
  replacing('malformed', ':path', (path) => `${path} HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`),
  replacing('malformed', ':path', (path) => `${path} HTTP/1.1`),
  replacing('malformed', ':path', (path) => `${path}\r\nx: y`),
  replacing('malformed', ':path', (path) => `${path}\0`),
  replacing('malformed', ':method', (method) => `${method} /v1/keys?hidden HTTP/1.1\r\nx: y\r\n\r\n`),
  replacing('malformed', ':method', (method) => `${method} /healthz`),
  replacing('malformed', ':authority', (authority) => `${authority}\r\nx-gw-account-id: acct_demo_enterprise`),
  replacing('malformed', ':scheme', (scheme) => `${scheme}://x/v1/keys?hidden`),
];

const pseudo: readonly Http2Trick[] = [
  adding('malformed', [':path', '/healthz']),
  adding('malformed', [':method', 'GET']),
  adding('malformed', [':authority', 'elsewhere']),
  adding('malformed', [':scheme', 'https']),
  adding('malformed', [':protocol', 'websocket']),
  adding('malformed', [':status', '200']),
  adding('malformed', [':x-gw-account-id', 'a']),
  inFront('malformed', [':path', '/healthz']),
  inFront('malformed', [':method', 'OPTIONS']),
  inFront('malformed', ['x', 'y']),
  without(':method'),
  without(':path'),
  without(':scheme'),
  replacing('malformed', ':path', () => ''),
  replacing('malformed', ':path', () => '*'),
  replacing('malformed', ':path', (path) => path.slice(1)),
  replacing('malformed', ':method', () => ''),
  replacing('malformed', ':authority', (authority) => `user@${authority}/healthz`),
  replacing('same', ':authority', () => '127.0.0.1:8081'),
  replacing('same', ':scheme', () => 'https'),
  adding('same', ['host', 'elsewhere']),
];

/** Headers of one hop have no place in HTTP/2. */
const hopByHop: readonly Http2Trick[] = [
  adding('malformed', ['transfer-encoding', 'chunked']),
  adding('malformed', ['transfer-encoding', 'identity']),
  adding('malformed', ['connection', 'authorization']),
  adding('malformed', ['connection', 'x-gw-account-id, x-gw-scopes']),
  adding('malformed', ['keep-alive', 'timeout=5']),
  adding('malformed', ['proxy-connection', 'authorization']),
  adding('malformed', ['upgrade', 'h2c']),
  adding('malformed', ['te', 'gzip']),
  adding('same', ['te', 'trailers']),
];

const lengths: readonly Http2Trick[] = [
  adding('malformed', ['content-length', '1000000']),
  adding('malformed', ['content-length', '1'], ['content-length', '2']),
  adding('malformed', ['content-length', '-1']),
  adding('malformed', ['content-length', 'x']),
  trick('malformed', 'a body longer than its length', (plain) => ({
    ...plain,
    fields: [...plain.fields, ['content-length', '0']],
    data: hidden,
  })),
  trick('malformed', 'a body that is a chunk', (plain) => ({
    ...plain,
    fields: [...plain.fields, ['transfer-encoding', 'chunked']],
    data: `0\r\n\r\n${hidden}`,
  })),
  trick('same', 'a body that is a request', (plain) => ({ ...plain, data: `\r\n\r\n${hidden}` })),
];

const trailers: readonly Http2Trick[] = [
  withTrailers('same', ['x-gw-account-id', 'acct_demo_enterprise'], ['x-gw-scopes', 'admin:keys']),
  withTrailers('same', ['authorization', 'Bearer x'], ['x-gw-cluster', 'control_plane']),
  withTrailers('malformed', [':path', '/healthz']),
  withTrailers('malformed', ['x', `y\r\n\r\n${hidden}`]),
  withTrailers('malformed', ['content-length', '1000000']),
];

const frames: readonly Http2Trick[] = [
  trick('malformed', 'data behind the end', (plain) => ({
    ...plain,
    more: frame(frameType.data, flag.endStream, stream, Buffer.from(hidden)),
  })),
  trick('malformed', 'headers behind the end', (plain) => ({
    ...plain,
    more: frame(
      frameType.headers,
      flag.endHeaders | flag.endStream,
      stream,
      headerBlock([
        [':method', 'GET'],
        [':path', '/v1/keys?hidden'],
        [':scheme', 'http'],
        ['x-attempt', 'hidden'],
      ]),
    ),
  })),
];

export const http2Tricks: readonly Http2Trick[] = [
  ...endsOfLines,
  ...pseudo,
  ...hopByHop,
  ...lengths,
  ...trailers,
  ...frames,
];
