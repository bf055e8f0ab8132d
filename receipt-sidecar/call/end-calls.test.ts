/** Tests how an orderly end treats calls that broke off shortly before it and still wait for the access log. */
import { setImmediate as turn } from 'node:timers/promises';
import type { CloseOptions } from '@gw/grpc/service';
import { entryIn } from '@gw/testing/ledger-entry';
import { callForTests, chatBody, contextForTests } from '@gw/testing/receipt-sidecar/call';
import { expect, test } from 'vitest';
import { type EndedBy, openEnds } from '../receipt/ends.ts';
import { endCalls } from './end-calls.ts';

/** A sidecar whose access log stays silent for longer than a test; `shared` is what other sidecars were told. */
function sidecar(shared: ReadonlyMap<string, EndedBy> = new Map()) {
  const ends = openEnds(3_600_000, {
    put: () => undefined,
    get: async (names) => names.flatMap((name) => shared.get(name) ?? [])[0] ?? null,
  });
  const saved: string[] = [];
  const made = contextForTests({ ends });
  const { ledger } = made.context;
  const finish = async (id: string, entry: Buffer) => {
    // The receipt is on its way for a while.
    for (let turns = 0; turns < 10; turns += 1) await turn();
    saved.push(entryIn(entry).receipt.status);
    return ledger.finish(id, entry);
  };
  const call = async () => {
    const asked = callForTests({ ...made.context, ledger: { ...ledger, finish } });
    asked.ask(chatBody());
    await turn();
    return asked;
  };
  const end = (close: (options: CloseOptions) => void) =>
    endCalls({
      instances: 1,
      drainS: 5,
      ends,
      slots: { abandon: () => undefined },
      server: { leave: async () => undefined, close: async (_graceMs, options = {}) => close(options) },
      idempotency: { stopWaiting: () => undefined, freeHeld: async () => undefined, stop: () => undefined },
    });
  return { call, end, saved, begun: made.ledger.begun };
}

test('a call that broke off is recorded before the end, also if the log has not said how it ended', async () => {
  const { call, end, saved } = sidecar();
  const left = await call();
  await end(() => left.close());
  expect(saved).toEqual(['client_aborted']);
});

test('what another sidecar was told of it counts', async () => {
  const told = new Map<string, EndedBy>();
  const { begun, call, end, saved } = sidecar(told);
  const cut = await call();
  told.set(begun[0] ?? '', 'provider');
  await end(() => cut.close());
  expect(saved).toEqual(['upstream_error']);
});

test('a call that is cut by the end itself is left to Envoy, which goes on with it', async () => {
  const { call, end, saved } = sidecar();
  const [left, runs] = [await call(), await call()];
  await end(({ beforeCut }) => {
    left.close();
    beforeCut?.();
    runs.close();
  });
  expect(saved).toEqual(['client_aborted']);
});
