/**
 * Paced streams, each read to its end before the next one starts.
 *
 * Invariant: no stream is left half read, so that events and processor time belong together. The run is over when the
 * time is up and the streams that were open have ended.
 */
import { Agent, type ClientRequest, request } from 'node:http';
import { percentile } from './statistics.ts';
import type { Call, Load } from './target.ts';

/** A paced stream ends by itself; one that is silent for so long has failed. */
const SILENCE_MS = 10_000;

interface StreamResult {
  readonly ok: boolean;
  readonly events: number;
  readonly firstTokenMs: number;
}

/** Counts the events of a stream in pieces cut anywhere: each event ends with an empty line. */
export function eventCounter(): (piece: Uint8Array) => number {
  let events = 0;
  let atLineStart = false;
  return (piece) => {
    for (const byte of piece) {
      const isNewline = byte === 10;
      if (isNewline && atLineStart) events += 1;
      atLineStart = isNewline;
    }
    return events;
  };
}

function readStream(call: Call, agent: Agent): Promise<StreamResult> {
  return new Promise((resolve) => {
    const started = performance.now();
    let events = 0;
    let firstTokenMs = Number.NaN;
    const failed = (req: ClientRequest): void => {
      req.destroy();
      resolve({ ok: false, events, firstTokenMs });
    };
    const req = request(call.url, { method: 'POST', headers: call.headers, agent, timeout: SILENCE_MS }, (res) => {
      const count = eventCounter();
      res.on('data', (piece: Buffer) => {
        events = count(piece);
        // The first event only names the role; the second one is the first token.
        if (events >= 2 && Number.isNaN(firstTokenMs)) firstTokenMs = performance.now() - started;
      });
      res.on('error', () => failed(req));
      res.on('end', () => resolve({ ok: res.statusCode === 200 && res.complete, events, firstTokenMs }));
    });
    req.on('timeout', () => failed(req));
    req.on('error', () => failed(req));
    req.end(call.body);
  });
}

export async function streamLoad(call: Call, streams: number, seconds: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: streams });
  const results: StreamResult[] = [];
  const started = performance.now();
  const end = started + seconds * 1000;
  const one = async (): Promise<void> => {
    do results.push(await readStream(call, agent));
    while (performance.now() < end && results.some(({ ok }) => ok));
  };
  await Promise.all(Array.from({ length: streams }, one));
  agent.destroy();
  const good = results.filter(({ ok }) => ok);
  const firstTokens = good.map(({ firstTokenMs }) => firstTokenMs).filter(Number.isFinite);
  return {
    requests: good.length,
    errors: results.length - good.length,
    durationS: (performance.now() - started) / 1000,
    p50Ms: percentile(firstTokens, 0.5),
    p99Ms: percentile(firstTokens, 0.99),
    events: good.reduce((sum, { events }) => sum + events, 0),
  };
}
