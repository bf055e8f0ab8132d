/** The tables of the page about limits: those of the tiers, and what a client is told, call by call. */
import {
  type AccountTier,
  bodyLimits,
  enterpriseStreams,
  type Limits,
  managementLimits,
  tierLimits,
} from '@gw/contract/access';
import { errorHeaders } from '@gw/contract/errors';
import { dayMs } from '@gw/contract/internal/durations';
import { fullState, type Limit, quotaStateOf, takeTogether } from '@gw/service/limits/bucket';
import { limitHeaders, refusalOf } from '@gw/service/limits/limit-headers';
import { tableOf } from './numbers.ts';

const figure = (value: number): string => value.toLocaleString('en');

export function tierLimitsTable(): string {
  const bytes = (tier: AccountTier) => {
    const { burstKib, kibPerS } = bodyLimits[tier];
    return `${figure(kibPerS / 1024)}, at once ${figure(burstKib / 1024)}`;
  };
  const line = (name: string, tier: 'audit' | 'audit_plus') => {
    const { burst, perDay, ratePerS, streams }: Limits = tierLimits[tier];
    return [name, ...[ratePerS, burst, perDay, streams].map(figure), bytes(tier)];
  };
  return tableOf(
    ['', 'requests per second', 'at once (burst)', 'per UTC day', 'open streams', 'MiB of bodies per second'],
    [
      line('Audit', 'audit'),
      line('Audit Plus', 'audit_plus'),
      [
        'Enterprise',
        'negotiated',
        'negotiated',
        'negotiated',
        `negotiated, else ${enterpriseStreams}`,
        bytes('enterprise'),
      ],
      [
        'reads, counts and keys, every tier',
        figure(managementLimits.ratePerS),
        figure(managementLimits.burst),
        '–',
        '–',
        '–',
      ],
    ],
  );
}

/** The account may send two requests per second (bursts of four) and eight per day. */
const example: Limit = { rate: { perS: 2, burst: 4 }, perDay: 8 };
const nineOClock = Date.parse('2026-11-21T09:00:00Z');
const calls = [0, 0, 0, 0, 0, 500, 500, 1500, 2000, 2500, 3000];
const shownHeaders = ['remaining-requests', 'reset-requests', 'remaining-day', 'reset-day'];

export function clientTable(): string {
  const state = fullState(example, nineOClock);
  const drawn = { levels: [{ of: 'account', id: 'example', limit: example }], body: null, shadow: [] } as const;
  const rows = calls.map((afterMs) => {
    const nowMs = nineOClock + afterMs;
    const lacking = takeTogether([{ limit: example, state }], 0, nowMs);
    const untilMidnightMs = dayMs - (nowMs % dayMs);
    const decision = { admitted: lacking === 0, lacking, quotaStates: [quotaStateOf(example, state)], untilMidnightMs };
    const refusal = decision.admitted ? null : refusalOf(drawn, decision);
    const refusalHeaders = refusal ? [...errorHeaders(refusal)].map(([key, value]) => ({ key, value })) : [];
    const sent = [...limitHeaders(drawn, decision), ...refusalHeaders];
    const headerOf = (name: string) => sent.find(({ key }) => key === name)?.value ?? '';
    return [
      `${afterMs / 1000} s`,
      refusal ? `429 \`${refusal.code}\`` : '200',
      ...shownHeaders.map((name) => headerOf(`x-ratelimit-${name}`)),
      headerOf('retry-after'),
      headerOf('x-should-retry'),
    ];
  });
  const head = [...shownHeaders, 'Retry-After', 'x-should-retry'].map((name) => `\`${name}\``);
  return tableOf(['call at', 'reply', ...head], rows);
}
