import { annualReading } from '@gw/methodology/grid-annual';
import { emptySnapshot, plainDeployment, plainModel } from '@gw/testing/catalogue';
import { parsedForTests, steeringForTests } from '@gw/testing/receipt-sidecar/asked';
import { describe, expect, it } from 'vitest';
import type { AttemptOutcome } from '../attempts/attempt-outcome.ts';
import { makeCatalogue } from '../catalogue/snapshot.ts';
import { chooseRoute } from '../routing/route.ts';
import { newReceiptId } from '../wire/receipt-id.ts';
import { failedAttemptsMostWh } from './failed-attempts-energy.ts';

const at = '2026-11-21T09:10:00.000Z';
const grid = annualReading('DEU');
const region = { code: 'us', name: 'us', country: 'us', gridZone: 'DEU', status: 'active', preference: 0 } as const;

/** Attempts at the deployments a, b, … failed with these outcomes, null where nobody told one; the next one answered. */
function mostWh(outcomes: readonly (AttemptOutcome | null)[], { contextWindow = 1000, maxTokens = 100 } = {}) {
  const ids = [...'abcd'].slice(0, outcomes.length + 1);
  const catalogue = makeCatalogue({
    ...emptySnapshot,
    publishedAt: at,
    models: [{ ...plainModel, contextWindow: contextWindow || null }],
    regions: [region],
    deployments: ids.map((id) => ({ ...plainDeployment, id })),
    grid: grid === null ? [] : [grid],
  });
  const request = parsedForTests({ estimatedPromptTokens: 50, maxTokens: maxTokens || null });
  const routed = chooseRoute(request, catalogue, null, steeringForTests(at));
  if (!routed.ok) throw new Error(routed.error.code);
  const route = routed.value;
  const chain = route.failoverChain;
  const failures = outcomes.flatMap((outcome, index) =>
    outcome === null
      ? []
      : [{ deployment: chain[index]?.deployment.id ?? '', outcome, result: 'failed' as const, retryAfterMs: null }],
  );
  const call = { receiptId: newReceiptId(0), createdAt: at, requestId: null, request, route, project: null };
  const attempted = { servedBy: chain[outcomes.length] ?? null, attempts: outcomes.length + 1, failures };
  return failedAttemptsMostWh(call, attempted, (error) => {
    throw error;
  });
}

describe('attempts that failed before the answer', () => {
  it('took nothing if there was none, or none that a provider can have computed for', () => {
    expect(mostWh([])).toBeUndefined();
    expect(mostWh(['no_connection', 'rate_limited', 'at_capacity'])).toBeUndefined();
    expect(mostWh(['unhealthy', 'no_credential'])).toBeUndefined();
  });

  it('took at most what a whole answer takes each, also where nobody told how they ended', () => {
    const one = Number(mostWh(['timed_out']));
    expect(one).toBeGreaterThan(0);
    expect(mostWh(['server_error', 'no_connection'])).toBe(one);
    expect(mostWh([null])).toBe(one);
    expect(mostWh(['timed_out', 'connection_lost'])).toBeCloseTo(2 * one, 10);
    expect(mostWh(['timed_out'], { maxTokens: 0 })).toBeGreaterThan(5 * one);
  });

  it('took nobody knows how much where nothing bounds an answer, or nobody knows who was asked', () => {
    expect(mostWh(['timed_out'], { contextWindow: 0, maxTokens: 0 })).toBeNull();
  });
});
