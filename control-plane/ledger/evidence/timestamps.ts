/**
 * Time-stamps of packs and of statements on tables, from the service that is configured (RFC 3161).
 *
 * Invariant: nothing is put beside a signature that `./gw verify` would refuse. Fails open: a pack that waited for a service of somebody else
 * would be worth less than one without a time-stamp, so a failure is logged and counted, and the pack is issued without.
 */
import { randomBytes } from 'node:crypto';
import { errorText } from '@gw/contract/internal/error-text';
import { stampRequest, tokenIn } from '@gw/evidence/timestamp';
import type { Logger } from '@gw/service/log';
import { counter } from '@gw/service/metric';
import type { Registry } from 'prom-client';

export interface Timestamps {
  /** Resolves with a time-stamp over the text, DER in base64, or null. Never rejects. */
  readonly timestamp: (jws: string) => Promise<string | null>;
  register(registry: Registry): void;
}

const usualTimeoutMs = 5000;
/** Services send their certificates along: some kilobytes. */
const mostBytes = 64 * 1024;

interface TimestampOptions {
  readonly url: string;
  readonly log: Logger;
  readonly timeoutMs?: number;
}

export function openTimestamps({ log, timeoutMs = usualTimeoutMs, url }: TimestampOptions): Timestamps {
  const outcomes = counter('gw_evidence_timestamps_total', 'Time-stamps of packs that were asked for, by outcome', {
    outcome: ['stamped', 'failed'],
  });
  return {
    timestamp: async (jws) => {
      const found = await ask(url, jws, timeoutMs).catch((error: unknown) => ({ fault: errorText(error) }));
      outcomes.inc({ outcome: 'fault' in found ? 'failed' : 'stamped' });
      if (!('fault' in found)) return found.token;
      // The path and the query can be what the service knows its customers by.
      log.error(
        { origin: new URL(url).origin, fault: found.fault },
        'the time-stamp service did not stamp a pack, which is issued without',
      );
      return null;
    },
    register: (registry) => registry.registerMetric(outcomes),
  };
}

/** A positive number whose first byte is not zero, as DER wants it. */
function newNonce(): Uint8Array {
  const nonce = randomBytes(16);
  nonce[0] = 0x40 | (Number(nonce[0]) & 0x3f);
  return nonce;
}

async function ask(
  url: string,
  jws: string,
  timeoutMs: number,
): Promise<{ readonly token: string } | { readonly fault: string }> {
  const nonce = newNonce();
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/timestamp-query', accept: 'application/timestamp-reply' },
    body: new Uint8Array(await stampRequest(jws, nonce)),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  const reply = await bytesOf(response);
  if (response.status !== 200) return { fault: `status ${response.status}` };
  return reply === null ? { fault: `more than ${mostBytes} bytes` } : tokenIn(reply, jws, nonce);
}

/** Null: there are too many. */
async function bytesOf({ body }: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body ?? []) {
    length += part.length;
    if (length > mostBytes) return null;
    parts.push(part);
  }
  return new Uint8Array(Buffer.concat(parts));
}
