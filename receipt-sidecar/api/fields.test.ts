import { errorCatalogue } from '@gw/contract/error-catalogue';
import { fieldError } from '@gw/contract/errors';
import { cases } from '@gw/testing/cases';
import { contradictions, fields, harmonies, leastBody } from '@gw/testing/receipt-sidecar/request-fields/all';
import type { Endpoint } from '@gw/testing/receipt-sidecar/request-fields/field';
import { badMessages, goodMessages } from '@gw/testing/receipt-sidecar/request-fields/messages';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRequest } from './parse.ts';
import { outgoing, serialise } from './provider-body.ts';

const parse = (endpoint: Endpoint, body: unknown) => parseRequest(endpoint, Buffer.from(JSON.stringify(body)));
const said = (value: unknown) => JSON.stringify(value).slice(0, 100);

/** Returns the body that the provider gets. */
function sent(endpoint: Endpoint, body: Record<string, unknown>): Record<string, unknown> {
  const parsed = parse(endpoint, body);
  if (!parsed.ok) throw new Error(`${said(body)}: ${parsed.error.code} ${parsed.error.param} ${parsed.error.message}`);
  return JSON.parse(
    Buffer.concat(
      serialise(outgoing(parsed.value), { providerModel: 'm', takesTemperature: false, refused: [] }),
    ).toString(),
  );
}

function refusal(endpoint: Endpoint, body: unknown) {
  const parsed = parse(endpoint, body);
  if (parsed.ok) throw new Error(`${said(body)} was accepted`);
  return parsed.error;
}

describe.each(fields.flatMap(([field, rule]) => rule.endpoints.map((endpoint) => ({ field, endpoint, rule }))))(
  '$field of $endpoint',
  ({ field, endpoint, rule: { good, bad, beside = {} } }) => {
    it('reaches the provider unchanged where it is right', () => {
      for (const value of good) {
        const body = { ...leastBody[endpoint], ...beside, [field]: value };
        const got = sent(endpoint, body);
        // The gateway asks for usage itself, where it has to be asked for.
        if (field === 'stream_options' && endpoint !== 'responses')
          expect(got.stream_options).toEqual({ ...(value as object | null), include_usage: true });
        else expect(got[field], said(value)).toEqual(value);
      }
    });

    it('is refused with its code and its path where it is wrong', () => {
      for (const [value, code, param = field] of bad) {
        const error = refusal(endpoint, { ...leastBody[endpoint], ...beside, [field]: value });
        expect({ ...error, message: '' }, said(value)).toEqual({
          code,
          param,
          type: 'validation_error',
          status: 400,
          message: '',
        });
      }
    });
  },
);

describe('a message', () => {
  it.each(goodMessages.map((message) => [said(message), message]))('passes unchanged: %s', (_, message) => {
    expect(sent('chat', { ...leastBody.chat, messages: [message] }).messages).toEqual([message]);
  });

  it.each(badMessages.map(([message, ...rest]) => [said(message), message, ...rest] as const))(
    'is refused with the path of what is wrong: %s',
    (_, message, code, path) => {
      const error = refusal('chat', { ...leastBody.chat, messages: [message] });
      expect(error).toMatchObject({ code, param: `messages[0]${path}`, status: 400 });
    },
  );
});

describe('together', () => {
  it.each(contradictions)('%s: %j contradict each other', (endpoint, together, param) => {
    const error = refusal(endpoint, { ...leastBody[endpoint], ...together });
    expect({ ...error, message: '' }).toEqual(fieldError(param, ''));
  });

  it.each(harmonies)('%s: %j pass', (endpoint, together) => {
    expect(sent(endpoint, { ...leastBody[endpoint], ...together })).toMatchObject(together);
  });
});

describe('whatever is sent', () => {
  const endpoints: Endpoint[] = ['chat', 'completions', 'embeddings', 'responses', 'messages'];
  const rich = endpoints.map((endpoint) => {
    const ofEndpoint = fields.filter(([, rule]) => rule.endpoints.includes(endpoint));
    const values = ofEndpoint.map(([field, { beside, good }]) => ({ ...beside, [field]: good[0] }));
    return Object.assign({}, leastBody[endpoint], ...values, {
      ...(endpoint === 'chat' ? { messages: goodMessages, max_completion_tokens: null } : {}),
      gw: { tier: 'auto' },
    }) as Record<string, unknown>;
  });
  const anyValue = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom(null, -1, 0, 1e300, '', '__proto__', [], {}, { type: 'function' }, { type: 'text' }, [[]], {
      name: 'f',
    }),
  );

  /** The value with one of its parts replaced, taken out, or something put in. */
  function changed(value: unknown, path: readonly number[], change: (at: unknown) => unknown): unknown {
    const [step, ...rest] = path;
    if (step === undefined || value === null || typeof value !== 'object') return change(value);
    const keys = Object.keys(value);
    const key = keys[step % Math.max(1, keys.length)];
    if (key === undefined) return change(value);
    const inner = changed((value as Record<string, unknown>)[key], rest, change);
    if (Array.isArray(value))
      return value.flatMap((each, at) => (String(at) !== key ? [each] : inner === undefined ? [] : [inner]));
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, each]) =>
        name === key ? (inner === undefined ? [] : [[name, inner]]) : [[name, each]],
      ),
    );
  }
  const path = fc.array(fc.nat(50), { minLength: 1, maxLength: 6 });
  const change = fc.tuple(path, fc.option(anyValue, { nil: undefined }), fc.boolean());

  it('is a request or one error in the one form, and a request reaches the provider as it was', () => {
    expect(rich.filter((body, at) => !parse(endpoints[at] as Endpoint, body).ok)).toEqual([]);
    let refusals = 0;
    fc.assert(
      fc.property(fc.nat(endpoints.length - 1), fc.array(change, { minLength: 1, maxLength: 3 }), (which, changes) => {
        const endpoint = endpoints[which] as Endpoint;
        const body = changes.reduce<unknown>(
          (at, [where, value, isAdded]) =>
            changed(at, where, (old) =>
              isAdded && old !== null && typeof old === 'object' ? { ...old, added: value } : value,
            ),
          rich[which],
        );
        const parsed = parse(endpoint, body ?? null);
        if (parsed.ok) {
          const { gw: _, extra_body: __, ...own } = JSON.parse(JSON.stringify(body));
          expect(parsed.value.body).toEqual(own);
          return;
        }
        refusals += 1;
        const { code, message, param, status, type } = parsed.error;
        expect({ status, type }).toEqual({ status: 400, type: 'validation_error' });
        expect(code in errorCatalogue || /^invalid_[A-Za-z0-9_]{1,64}$/.test(code), code).toBe(true);
        expect(message.length).toBeLessThan(1000);
        expect(param === null || (param.length > 0 && param.length < 500), String(param)).toBe(true);
      }),
      { numRuns: cases(1500) },
    );
    expect(refusals).toBeGreaterThan(cases(1500) / 20);
  }, 60_000);
});
