import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseWrk, wrkScript } from './wrk.ts';

const output = `Running 2s test @ http://127.0.0.1:9000/v1/chat/completions
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.91ms    1.03ms  24.52ms   91.66%
    Req/Sec    17.24k     2.21k   20.13k    80.00%
  Latency Distribution
     50%  850.00us
     75%    2.02ms
     90%    2.66ms
     99%    1.02s
  34309 requests in 2.00s, 27.45MB read
  Socket errors: connect 1, read 2, write 3, timeout 4
  Non-2xx or 3xx responses: 309
Requests/sec:  17141.24
Transfer/sec:     13.71MB
`;

test('what wrk prints is read, units and errors included', () => {
  expect(parseWrk(output)).toEqual({
    requests: 34_000,
    errors: 319,
    durationS: 2,
    p50Ms: 0.85,
    p99Ms: 1020,
    events: 0,
  });
  expect(parseWrk('unable to connect')).toBeNull();
});

test('the script holds headers and body in a form that no byte can leave', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const script = wrkScript({ url: 'http://x', headers: { authorization: text }, body: text });
      const strings = [...script.matchAll(/"((?:\\\d{3})*)"/g)].map((match) =>
        Buffer.from((match[1] ?? '').split('\\').slice(1).map(Number)).toString(),
      );
      const sent = Buffer.from(text).toString();
      expect(strings).toEqual([sent, 'authorization', sent]);
      expect(script.split('\n')).toHaveLength(4);
    }),
  );
});
