/** Two ext-authz behind one Envoy: a change holds in both within a second, with the messages of Redis and without them. */
import type { OperatorApi } from '@gw/cli/internals/commands/admin/api';
import { issuedKeySchema } from '@gw/contract/keys';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiOf } from '../operator-api.ts';
import { instancesOf } from '../outage/instances.ts';
import type { OwnGateway } from '../outage/own-gateway.ts';
import { complete, type LoadedChange, type LoadedReply, listModels, underLoad } from './changes-under-load.ts';

const path = '/operator/v1/accounts/acct_demo_enterprise';
const plus = '/operator/v1/accounts/acct_demo_audit_plus';
const only = (...values: string[]) => new Set(values);

/** Ids of the models that a key is shown. */
const modelsOf = ({ text }: LoadedReply): string =>
  (JSON.parse(text).data as { id: string }[]).map(({ id }) => id).join();
const limitOf = ({ headers }: LoadedReply): string => String(headers['x-ratelimit-limit-requests']);

interface Options {
  /** The pause of each connection between two calls. */
  readonly pauseMs: number;
  /** Keys alone, and without messages: `propagation.pg.test.ts` has suspensions and scopes too, and `./gw test long` each kind. */
  readonly isShort?: boolean;
}

/** Tests of each kind of change. `own`: with two instances. */
export function changesHold(own: () => OwnGateway, { isShort = false, pauseMs }: Options): void {
  let gateway: OwnGateway;
  let redis: Redis;
  let api: OperatorApi;
  beforeAll(() => {
    gateway = own();
    api = apiOf(gateway.stack);
    redis = new Redis(gateway.stack.redisUrl);
  });
  afterAll(() => redis?.disconnect());

  /** The number of calls that each of the two answered. */
  const answered = async () => (await instancesOf(gateway.stack, 'ext-authz')).map(({ calls }) => calls);
  const newKey = async (of = path, scopes?: readonly string[]) =>
    issuedKeySchema.parse(await api.send('POST', `${of}/keys`, { name: 'loaded', ...(scopes && { scopes }) }));
  const changed =
    (body: object, of = path) =>
    () =>
      api.send('PATCH', of, body);
  const seen = (change: LoadedChange) => underLoad(gateway.stack, { pauseMs, ...change });

  const rules = [['without messages', '-publish']];
  if (!isShort) rules.push(['with messages', '+publish']);
  describe.each(rules)('%s', (_name, rule) => {
    beforeAll(() => redis.call('ACL', 'SETUSER', 'default', rule));
    afterAll(() => redis.call('ACL', 'SETUSER', 'default', '+publish'));

    test('a revoked key is refused a second later, and a restored one let in, on both instances', async () => {
      const { id, key } = await newKey();
      const at = await answered();
      const change = (verb: string) => () => api.send('POST', `${path}/keys/${id}/${verb}`);
      const revoked = await seen({ call: complete, key, change: change('revoke') });
      expect(revoked).toMatchObject({ before: only('200'), late: only('401 revoked_api_key') });
      const restored = await seen({ call: complete, key, change: change('restore') });
      expect(restored).toMatchObject({ before: only('401 revoked_api_key'), late: only('200') });
      const counts = (await answered()).map((count, instance) => count - (at[instance] ?? 0));
      expect(counts).toHaveLength(2);
      for (const count of counts) expect(count).toBeGreaterThan(revoked.calls / 4);
    });
    if (isShort) return;

    test('a suspension and its end', async () => {
      const { key } = await newKey();
      const change = (verb: string) => () => api.send('POST', `${path}/${verb}`, { reason: 'test' });
      const suspended = await seen({ call: complete, key, change: change('suspend') });
      expect(suspended).toMatchObject({ before: only('200'), late: only('403 customer_suspended') });
      const reinstated = await seen({ call: complete, key, change: change('reinstate') });
      expect(reinstated).toMatchObject({ late: only('200') });
    });

    test('lower limits', async () => {
      const { key } = await newKey();
      const limits = (burst: number) => changed({ limits: { per_s: burst, burst, per_day: 1_000_000_000 } });
      const lowered = await seen({ call: listModels, key, view: limitOf, change: limits(400) });
      expect(lowered).toMatchObject({ before: only('1000000'), late: only('400') });
      await limits(1_000_000)();
    });

    test('a list of models', async () => {
      const { key } = await newKey();
      const listed = await seen({ call: listModels, key, view: modelsOf, change: changed({ models: ['sim-large'] }) });
      expect(listed.late).toEqual(only('sim-large'));
      const opened = await seen({ call: complete, key, change: changed({ models: null }) });
      expect(opened).toMatchObject({ before: only('400 invalid_model'), late: only('200') });
    });

    test('a tier takes its scopes along', async () => {
      const { key } = await newKey(plus, ['gw:lineage']);
      const call = { method: 'GET', path: '/v1/gw/lineage/rcpt_00000000-0000-7000-8000-000000000000' } as const;
      const view = (reply: LoadedReply) => (reply.status === 403 ? 'refused' : 'let in');
      const lost = await seen({ call, key, view, change: changed({ tier: 'audit' }, plus) });
      expect(lost).toMatchObject({ before: only('let in'), late: only('refused') });
      const back = await seen({ call, key, view, change: changed({ tier: 'audit_plus' }, plus) });
      expect(back).toMatchObject({ late: only('let in') });
    });
  });
}
