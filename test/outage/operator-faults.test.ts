/** The Lua that recognises replies about the operator's own trouble, in a real Envoy. */
import { luaFilter } from '@gw/envoy/internals/attempt-filters';
import { operatorFaultFunctions } from '@gw/envoy/internals/operator-faults.lua';
import { operatorFaultReplies } from '@gw/testing/envoy/operator-faults';
import { forFile } from '@gw/testing/for-file';
import { expect, it } from 'vitest';
import { startFilteringEnvoy } from './lua-envoy.ts';

const script = `${operatorFaultFunctions}
function envoy_on_response(handle)
  mark_operator_fault(handle)
end`;
const envoy = forFile(() => startFilteringEnvoy([luaFilter(script)]));

it.each(operatorFaultReplies)('%s, %i: %j', async (_server, status, body, fault) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const reply = await envoy.ask(text === '' ? [] : [text], 'application/json', status);
  expect(reply.headers.get('x-gw-operator-fault')).toBe(fault);
  expect([reply.status, reply.text]).toEqual([status, text]);
});

it('waits for the words wherever the bytes are cut, and reads the beginning of a long reply alone', async () => {
  const text = '{"error":{"message":"The model `m` does not exist"}}';
  for (const cut of [1, 20, 40]) {
    const reply = await envoy.ask([text.slice(0, cut), text.slice(cut)], 'application/json', 400);
    expect(reply.headers.get('x-gw-operator-fault')).toBe('model_missing');
  }
  const long = `{"error":{"detail":"${'x'.repeat(100_000)}","code":"model_not_found"}}`;
  const reply = await envoy.ask([long], 'application/json', 400);
  expect([reply.headers.get('x-gw-operator-fault'), reply.text.length]).toEqual([null, long.length]);
});
