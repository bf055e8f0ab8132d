/** No request hides in another: what Envoy takes for a body is nobody's request, and what is a request needs its own key. */
import { forFile } from '@gw/testing/for-file';
import { expect, it } from 'vitest';
import { framings } from './framing.ts';
import { exchange, type WireReply } from './http1-wire.ts';
import { isTriedWithRights, openCallers } from './rights.ts';
import { type Attempt, attemptHeader, limitedRoutes, tryAll } from './walk.ts';
import { startWatchedGateway } from './watched-gateway.ts';

const gateway = forFile(startWatchedGateway);
const callers = forFile(openCallers);

const forged = [
  'X-GW-Account-Id: acct_demo_enterprise',
  'X-GW-Key-Id: 000000000000',
  'X-GW-Tier: enterprise',
  'X-GW-Scopes: inference:read inference:write gw:read gw:lineage gw:export admin:keys',
].join('\r\n');
/** Named, so that it is known wherever it turns up; refused by Envoy if it is a request of its own. */
const hidden = `GET /v1/keys?hidden HTTP/1.1\r\nHost: gw.example\r\n${attemptHeader}: hidden\r\n${forged}\r\n\r\n`;

/** Whoever has no rights gets no success; who has gets one for the request that is theirs, and none for the hidden one. */
function faultOf({ caller }: Attempt, replies: readonly WireReply[]): string | null {
  const successes = replies.filter(({ status }) => status < 300).length;
  if (successes > (caller.key === null ? 0 : 1)) return `${successes} successes`;
  const broken = replies.find(({ status }) => status >= 500);
  return broken ? `${broken.status} ${broken.text.slice(0, 100)}` : null;
}

it.each(limitedRoutes)(
  'a request behind %s, or in its body, reaches nothing without a key of its own',
  async (_name, route) => {
    const path = route.path.replace(/\{[a-z_]+\}/, 'x');
    const request = { method: route.method, target: path, authority: '', headers: [], body: null };
    const attempts = [callers.nobody, ...(isTriedWithRights(route) ? [callers.entitled] : [])].flatMap((caller) =>
      framings.map((framing, at) => ({
        trick: framing,
        id: `carrier-${at}-${caller.key === null ? 'nobody' : 'entitled'}`,
        name: `${framing.name}, ${caller.name}`,
        caller,
        request,
        meaning: { kind: 'route', route } as const,
      })),
    );
    await tryAll({ gateway, callers }, attempts, async (attempt) => {
      const { trick: framing, caller, id } = attempt;
      const key = caller.key === null ? '' : `Authorization: Bearer ${caller.key}\r\n`;
      const type = route.method === 'POST' ? 'Content-Type: application/json\r\n' : '';
      const head = `${route.method} ${path} HTTP/1.1\r\nHost: gw.example\r\n${attemptHeader}: ${id}\r\n${key}${type}`;
      const { replies, end } = await exchange(gateway.port, framing.write({ head, hidden }), 1500);
      const fault = faultOf(attempt, replies);
      return fault && `${fault} (${end})`;
    });
    const ids = gateway.arrived.map(({ headers }) => headers.find(([name]) => name === attemptHeader)?.[1]);
    expect(new Set(ids).size, 'each arrived once').toBe(ids.length);
  },
);
