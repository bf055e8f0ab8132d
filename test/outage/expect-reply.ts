/** The replies that a client may see while a part of the gateway is down. */
import { expect } from 'vitest';
import type { Reply } from './client.ts';

/** Our error object; never an empty body, never HTML. */
export function expectError(reply: Reply, status: number, type: string, code: string): void {
  expect(reply).toMatchObject({
    status,
    broken: false,
    json: { error: { type, code, message: expect.stringMatching(/\w/), doc_url: expect.stringContaining(code) } },
  });
  expect(reply.headers.get('content-type')).toContain('application/json');
  expect(reply.headers.get('x-request-id')).toBeTruthy();
}

/** A part was away, or had no answer in time, before a provider was asked; the reply says when to ask again. */
export function expectOverloaded(reply: Reply): void {
  expectError(reply, 503, 'inference_error', 'overloaded');
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(reply.headers.get('x-should-retry')).toBeNull();
  expect(reply.headers.get('x-gw-receipt-id')).toBeNull();
}

/** The completion arrived whole, with the block of a call that nobody measured. Returns its id. */
export function expectDegraded(reply: Reply): string {
  expect(reply).toMatchObject({
    status: 200,
    broken: false,
    receipt: { tier: 'degraded', status: 'complete', degraded_reason: 'sidecar_unavailable', energy_wh: null },
  });
  expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  const id = reply.receipt?.id ?? '';
  expect(reply.headers.get('x-gw-receipt-id')).toBe(id);
  return id;
}

/** As if nothing had happened. Returns the id. */
export function expectComplete(reply: Reply): string {
  expect(reply).toMatchObject({ status: 200, broken: false, receipt: { status: 'complete', tier: 'parametric' } });
  expect(reply.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  const id = reply.receipt?.id ?? '';
  expect(reply.headers.get('x-gw-receipt-id')).toBe(id);
  return id;
}

/** As `expectComplete`, or with a receipt that says that it could not be stored in time, and no other. */
export function expectCompleteOrNotStored(reply: Reply): string {
  if (reply.receipt?.degraded_reason !== 'receipt_not_stored') return expectComplete(reply);
  expect(reply).toMatchObject({
    status: 200,
    broken: false,
    receipt: { tier: 'degraded', status: 'complete', recalculable: true, energy_wh: null },
  });
  expect(reply.headers.get('x-gw-receipt-id')).toBe(reply.receipt.id);
  return reply.receipt.id;
}
