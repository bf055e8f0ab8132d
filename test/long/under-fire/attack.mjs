/**
 * One account's attack, in a process that gives way to all others: large bodies all at once, streams that nobody reads, and
 * calls that are left. Tells what came of each kind.
 */
import { readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { setPriority } from 'node:os';

setPriority(19);
const key = process.env.GW_TEST_KEY;
const { url, files, streams, streamsOfConnection, cancelsPerS, forMs } = JSON.parse(process.argv[2]);
const { hostname, port } = new URL(url);
const outcomes = {};
const note = (kind, outcome) => {
  outcomes[`${kind}: ${outcome}`] = (outcomes[`${kind}: ${outcome}`] ?? 0) + 1;
};
const open = { host: hostname, port: Number(port) };
const fields = (path, length, more) =>
  [
    `POST ${path} HTTP/1.1`,
    `host: ${hostname}`,
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${length}`,
    ...more,
    '',
    '',
  ].join('\r\n');

const bodies = files.map(({ file, path }) => ({ path, bytes: readFileSync(file) }));
function sendLarge({ bytes, path }) {
  return new Promise((resolve) => {
    const socket = connect(open);
    let head = '';
    const end = () => {
      note('large', head.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length) || 'broken');
      socket.destroy();
      resolve();
    };
    socket.on('data', (part) => {
      if (head === '') head = part.subarray(0, 100).toString('latin1');
    });
    socket.on('end', end);
    socket.on('error', end);
    socket.write(fields(path, bytes.length, ['connection: close', 'x-sim-delay-ms: 0', 'x-sim-tokens: 8']));
    socket.write(bytes);
  });
}

const tiny = JSON.stringify({ model: 'sim-small', stream: true, messages: [{ role: 'user', content: 'hi' }] });
/** All along the attack, so that more and more are open: all at once would show how fast calls begin, and no more. */
async function openStreams() {
  const ended = [];
  const atOnce = 10;
  for (let at = 0; at < streams; at++) {
    if (at % atOnce === 0) await new Promise((resolve) => setTimeout(resolve, (forMs / streams) * atOnce));
    const session = sessions[Math.floor(at / streamsOfConnection)];
    const stream = session.request({
      ':method': 'POST',
      ':path': '/v1/chat/completions',
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': String(tiny.length),
      'x-sim-tokens': '2000',
      'x-sim-tokens-per-second': '2',
    });
    stream.on('error', () => undefined);
    ended.push(
      new Promise((resolve) => {
        stream.on('response', (headers) => resolve(note('stream', headers[':status'])));
        stream.on('close', () => resolve());
      }),
    );
    stream.end(tiny);
  }
  return Promise.all(ended);
}
const sessions = Array.from({ length: Math.ceil(streams / streamsOfConnection) }, () => {
  // No window: not a byte of a stream is taken.
  const session = connectHttp2(url, { settings: { initialWindowSize: 0 } });
  session.on('error', (fault) => note('connection', fault.code));
  return session;
});

const left = fields('/v1/chat/completions', tiny.length, ['x-sim-delay-ms: 1000']) + tiny;
function leaveOne() {
  const socket = connect(open);
  socket.on('error', () => undefined);
  socket.write(left);
  setTimeout(() => {
    note('cancel', socket.readyState === 'open' ? 'left' : 'not connected');
    socket.destroy();
  }, 20);
}

const opened = openStreams();
const every = 50;
const cancels = setInterval(() => {
  for (let count = 0; count < (cancelsPerS * every) / 1000; count++) leaveOne();
}, every);
await Promise.all([...bodies.map(sendLarge), new Promise((resolve) => setTimeout(resolve, forMs))]);
clearInterval(cancels);
await Promise.race([opened, new Promise((resolve) => setTimeout(resolve, 5000))]);
process.send(outcomes, () => process.exit());
