/** A customer from the application to the first completion, through the operators' port and Envoy alone. */
import { expect, test } from 'vitest';
import { eventually, openAi, stack } from '../sdk/gateway.ts';

const root = '/operator/v1/applications';

async function operator(method: 'GET' | 'POST', path: string, body?: object) {
  const response = await fetch(`${stack.controlUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${stack.operatorToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: JSON.parse(await response.text()) };
}

const contact = { name: 'Ada Beck', email: 'ada@northwind.example' };
const apply = async (name: string): Promise<string> => {
  const application = { name, tier: 'audit_plus', billing_contact: contact, technical_contact: contact };
  const { status, body } = await operator('POST', root, application);
  expect(status).toBe(201);
  return body.account_id;
};
const declare = (id: string) =>
  operator('POST', `${root}/${id}/declaration`, {
    intended_use: 'Answers to questions of our customers about their orders.',
    uses: ['customer_support'],
    industry: 'retail',
    countries: ['DE'],
  });
const stageOf = async (id: string): Promise<string> => (await operator('GET', `${root}/${id}`)).body.stage;
const reaches = (id: string, stage: string) =>
  eventually(`the stage ${stage}`, async () => ((await stageOf(id)) === stage ? true : null));

test('an application is screened by itself, and its first key completes a chat and reads its own story', async () => {
  const id = await apply('Northwind Analytics');
  expect((await declare(id)).status).toBe(200);
  await reaches(id, 'contract_pending');
  expect((await operator('POST', `${root}/${id}/key`, { name: 'too early' })).status).toBe(409);
  const contract = { sha256: 'ab'.repeat(32), reference: 'contracts/1', signed_at: '2026-01-01T00:00:00Z' };
  expect((await operator('POST', `${root}/${id}/contract`, contract)).body.stage).toBe('key_pending');
  const { status, body } = await operator('POST', `${root}/${id}/key`, { name: 'first' });
  expect([status, body.application.stage]).toEqual([201, 'complete']);

  const reply = await openAi(body.key.key).chat.completions.create({
    model: 'sim-small',
    messages: [{ role: 'user', content: 'Hello' }],
    max_tokens: 2,
  });
  expect(reply.choices[0]?.message.content).toBeTruthy();

  const log = await fetch(`${stack.publicUrl}/v1/audit-log?order=asc`, {
    headers: { authorization: `Bearer ${body.key.key}` },
  });
  const { data } = JSON.parse(await log.text()) as { data: { action: string }[] };
  // Signed when an hour is over, which can be now.
  expect(data.map(({ action }) => action).filter((action) => action !== 'receipt_log.signed')).toEqual([
    'application.created',
    'application.declared',
    'application.contract_signed',
    'key.created',
    'application.completed',
  ]);
});

test('a name on a list holds the application, and there is no key until an admin has decided', async () => {
  const id = await apply('Borealis Munitions');
  await declare(id);
  await reaches(id, 'sanctions_match');
  expect((await operator('POST', `${root}/${id}/key`, { name: 'no' })).status).toBe(409);
  const reason = { reason: 'It is the company on the list.' };
  expect((await operator('POST', `${root}/${id}/reject-match`, reason)).body.stage).toBe('rejected');
});
