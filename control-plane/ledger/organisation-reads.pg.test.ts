/** Receipts, lineages, methodologies and usage as the people of an organisation read them: what their keys would, and no more. */
import { receiptKey } from '@gw/contract/internal/redis';
import { defaultMethodology, methodologyOf } from '@gw/methodology/methodologies';
import { Browser, seedOperators, withToken } from '@gw/testing/control-plane/access';
import { startTestApp } from '@gw/testing/control-plane/app';
import { callAt, entryFrom } from '@gw/testing/control-plane/calls';
import { entryOf, receiptIdAt } from '@gw/testing/control-plane/fixtures';
import { type Organisation, openOrganisations } from '@gw/testing/control-plane/organisation';
import { forFile } from '@gw/testing/for-file';
import { sealedEntry } from '@gw/testing/ledger-entry';
import type { LightMyRequestResponse } from 'fastify';
import { beforeAll, expect, test } from 'vitest';

const running = forFile(() => startTestApp(() => new Date('2026-11-21T12:00:00Z')));
let tokens: Awaited<ReturnType<typeof seedOperators>>;
let newOrganisation: ReturnType<typeof openOrganisations>;
let own: Organisation;
let other: Organisation;
const ids = { own: '', restated: '', altered: '', pending: '', theirs: '', theirPending: '', nobody: '' };

const root = '/organisation/v1';
const at = (ms: number) => new Date(Date.parse('2026-11-20T10:00:00.000Z') + ms).toISOString();
const { hash } = methodologyOf(defaultMethodology);

beforeAll(async () => {
  tokens = await seedOperators(running.context);
  newOrganisation = openOrganisations(running, tokens.admin);
  [own, other] = [await newOrganisation(), await newOrganisation()];
  const { accountId } = own;
  const inProject = { accountId, changes: { project: 'chatbot' } };
  const [first, restated, altered] = [0, 1, 2].map((ms) => entryFrom(callAt(at(ms)), inProject));
  const theirs = entryFrom(callAt(at(3)), { accountId: other.accountId });
  if (!first || !restated || !altered) throw new Error('There are three.');
  await running.store(first, restated, altered, theirs);
  const { id } = restated.receipt;
  await running.store(entryFrom(callAt(at(1)), { accountId, changes: { id, version: 2, supersedes: 1 } }));
  await running.stores.tamper(`UPDATE receipts SET energy_wh = 7 WHERE id = '${altered.receipt.id}'`);
  Object.assign(ids, { own: first.receipt.id, restated: id, altered: altered.receipt.id, theirs: theirs.receipt.id });
  ids.nobody = receiptIdAt(new Date(at(4)));
  for (const [name, owner] of [
    ['pending', own],
    ['theirPending', other],
  ] as const) {
    const entry = entryOf({ id: receiptIdAt(new Date(at(5))) }, owner.accountId);
    await running.stores.redis.set(receiptKey(entry.receipt.id), sealedEntry(entry, 'pending'));
    ids[name] = entry.receipt.id;
  }
});

/** The parts of a reply that do not depend on the port. */
const shownOf = ({ headers, rawPayload, statusCode }: LightMyRequestResponse) => ({
  statusCode,
  type: headers['content-type'],
  disposition: headers['content-disposition'],
  etag: headers.etag,
  text: rawPayload.toString('base64'),
});

const withIds = (path: string) => path.replace(/<(\w+)>/, (_, name: keyof typeof ids) => ids[name]);

test.each([
  ['/v1/gw/receipts', '/receipts', 200],
  ['/v1/gw/receipts?limit=1&order=asc', '/receipts?limit=1&order=asc', 200],
  ['/v1/gw/receipts?limit=1&after=<restated>', '/receipts?limit=1&after=<restated>', 200],
  ['/v1/gw/receipts?version=issued&project=chatbot', '/receipts?version=issued&project=chatbot', 200],
  ['/v1/gw/receipts?model=sim-large&region=eu-north', '/receipts?model=sim-large&region=eu-north', 200],
  ['/v1/gw/receipts?after=x', '/receipts?after=x', 400],
  ['/v1/gw/receipts?limit=101', '/receipts?limit=101', 400],
  ['/v1/gw/receipts?account_id=acct_org_2', '/receipts?account_id=acct_org_2', 400],
  ['/v1/gw/receipts/<own>', '/receipts/<own>', 200],
  ['/v1/gw/receipts/<restated>', '/receipts/<restated>', 200],
  ['/v1/gw/receipts/<restated>?version=1', '/receipts/<restated>?version=1', 200],
  ['/v1/gw/receipts/<own>?version=2', '/receipts/<own>?version=2', 404],
  ['/v1/gw/receipts/<own>?version=x', '/receipts/<own>?version=x', 400],
  ['/v1/gw/receipts/<pending>', '/receipts/<pending>', 202],
  ['/v1/gw/receipts/<altered>', '/receipts/<altered>', 500],
  ['/v1/gw/receipts/<nobody>', '/receipts/<nobody>', 404],
  ['/v1/gw/receipts/x', '/receipts/x', 404],
  ['/v1/gw/lineage/<own>', '/receipts/<own>/lineage', 200],
  ['/v1/gw/lineage/<restated>?version=1', '/receipts/<restated>/lineage?version=1', 200],
  ['/v1/gw/lineage/<pending>', '/receipts/<pending>/lineage', 202],
  ['/v1/gw/lineage/<altered>', '/receipts/<altered>/lineage', 500],
  ['/v1/gw/lineage/<nobody>', '/receipts/<nobody>/lineage', 404],
  ['/v1/gw/lineage/<own>?verbose=1', '/receipts/<own>/lineage?verbose=1', 400],
  [`/v1/gw/methodology/${hash}`, `/methodology/${hash}`, 200],
  [`/v1/gw/methodology/${hash}?version=1`, `/methodology/${hash}?version=1`, 400],
  ['/v1/gw/methodology/x', '/methodology/x', 404],
  ['/v1/usage', '/usage', 200],
  ['/v1/usage?from=2026-11-20&group_by=key_id,project', '/usage?from=2026-11-20&group_by=key_id,project', 200],
  ['/v1/usage?interval=total&format=csv', '/usage?interval=total&format=csv', 200],
  ['/v1/usage?group_by=account_id', '/usage?group_by=account_id', 400],
  ['/v1/usage?account_id=acct_org_2', '/usage?account_id=acct_org_2', 400],
  ['/v1/usage?from=2026-11-22', '/usage?from=2026-11-22', 400],
])('%s for a key is /organisation/v1%s for a person, to the byte: %i', async (ofKeys, ofPeople, status) => {
  const byPerson = await own.admin.call('GET', root + withIds(ofPeople));
  expect(byPerson.statusCode, byPerson.body).toBe(status);
  expect(shownOf(byPerson)).toEqual(shownOf(await own.byKey('GET', withIds(ofKeys))));
});

test('what is listed is there, and nothing of anybody else', async () => {
  const { altered, data } = (await own.admin.call('GET', `${root}/receipts`)).json();
  expect(data.map(({ id }: { id: string }) => id)).toEqual([ids.restated, ids.own]);
  expect(altered).toEqual([{ id: ids.altered, version: 1 }]);
  expect((await own.admin.call('GET', `${root}/usage`)).json().total).toMatchObject({ requests: 2 });
  expect((await other.admin.call('GET', `${root}/usage`)).json().total).toMatchObject({ requests: 1 });
});

test('a receipt of another account is not found, stored or under way, and not told from none', async () => {
  for (const rest of ['', '?version=1', '/lineage']) {
    const none = await own.admin.call('GET', `${root}/receipts/${ids.nobody}${rest}`);
    expect([none.statusCode, none.json().error.code]).toEqual([404, 'receipt_not_found']);
    for (const id of [ids.theirs, ids.theirPending]) {
      const reply = await own.admin.call('GET', `${root}/receipts/${id}${rest}`);
      expect([reply.statusCode, reply.body], id).toEqual([404, none.body]);
    }
  }
  expect((await other.admin.call('GET', `${root}/receipts/${ids.theirs}/lineage`)).statusCode).toBe(200);
});

const reads = ['/receipts', '/receipts/<own>', '/receipts/<own>/lineage', `/methodology/${hash}`, '/usage'];

test.each(reads)(
  '%s is for people of an organisation alone, and no browser keeps it unless it is a methodology',
  async (path) => {
    const url = root + withIds(path);
    expect((await new Browser(running.operator).call('GET', url)).statusCode).toBe(401);
    for (const token of Object.values(tokens))
      expect((await withToken(running.operator, token)('GET', url)).statusCode).toBe(403);
    const { accountId } = own;
    const asKey = { 'x-gw-account-id': accountId, 'x-gw-key-id': own.keyId };
    expect((await running.operator.inject({ url, headers: asKey })).statusCode).toBe(401);
    // Nor are they on the public listener.
    expect((await own.byKey('GET', url)).statusCode).toBe(404);
    const reply = await own.admin.call('GET', url);
    const kept = path.startsWith('/methodology');
    expect(reply.headers['cache-control']).toBe(kept ? 'private, max-age=31536000, immutable' : 'no-store');
    const head = { method: 'HEAD', url, headers: { cookie: own.admin.cookie ?? '' } } as const;
    expect((await running.operator.inject(head)).statusCode).toBe(404);
  },
);

test('a browser that holds a methodology is told so, and what is refused is not kept', async () => {
  const url = `${root}/methodology/${hash}`;
  const held = await own.admin.call('GET', url, undefined, { 'if-none-match': `"${hash}"` });
  expect([held.statusCode, held.body, held.headers.etag]).toEqual([304, '', `"${hash}"`]);
  for (const refused of [
    await own.admin.call('GET', `${root}/methodology/x`),
    await new Browser(running.operator).call('GET', url),
  ])
    expect(refused.headers['cache-control']).toBe('no-store');
});

test('what the tier has no scope for nobody gets by logging in, and with the tier it is there', async () => {
  const audit = await newOrganisation('audit');
  const { accountId, admin } = audit;
  const entry = entryFrom(callAt(at(0)), { accountId });
  await running.store(entry);
  const one = `${root}/receipts/${entry.receipt.id}`;
  for (const path of [one, `${root}/receipts`, `${root}/usage`, `${root}/methodology/${hash}`])
    expect((await admin.call('GET', path)).statusCode, path).toBe(200);
  const refused = await admin.call('GET', `${one}/lineage`);
  expect([refused.statusCode, refused.json().error]).toEqual([
    403,
    expect.objectContaining({
      code: 'insufficient_scope',
      message: 'The tier of this account does not include the scope gw:lineage.',
    }),
  ]);
  const account = `/operator/v1/accounts/${accountId}`;
  await withToken(running.operator, tokens.admin)('PATCH', account, { tier: 'audit_plus' });
  expect((await admin.call('GET', `${one}/lineage`)).statusCode).toBe(200);
});

test('a person who was disabled reads nothing more', async () => {
  const { accountId, admin, adminId } = await newOrganisation();
  expect((await admin.call('GET', `${root}/usage`)).statusCode).toBe(200);
  const disable = `/operator/v1/accounts/${accountId}/admins/${adminId}/disable`;
  await withToken(running.operator, tokens.admin)('POST', disable);
  for (const path of reads) expect((await admin.call('GET', root + withIds(path))).statusCode).toBe(401);
});
