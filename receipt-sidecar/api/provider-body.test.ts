import { type VariedField, variedFields } from '@gw/contract/internal/catalogue/request-fields';
import type { JsonObject } from '@gw/contract/internal/strict-json';
import { cases } from '@gw/testing/cases';
import { parsedBody } from '@gw/testing/receipt-sidecar/parsed-body';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addedTo, type BodyTarget, bounded, canBound, opening, outgoing, serialise } from './provider-body.ts';

const messages = [{ role: 'user', content: 'Hello' }];
const bodyFor = (body: JsonObject) => outgoing(parsedBody({ model: 'm', temperature: 0.5, messages, ...body }));
const target: BodyTarget = { providerModel: 'p', takesTemperature: true, refused: [] };
const sent = (body: JsonObject, requestFields: BodyTarget['requestFields'] = {}): JsonObject =>
  JSON.parse(Buffer.concat(serialise(bodyFor(body), { ...target, requestFields })).toString());

describe('the body of a provider', () => {
  it('leaves out what the provider does not take, and has the rest by its names', () => {
    const asked = { max_completion_tokens: 7, seed: 4, user: 'u' };
    expect(sent(asked)).toEqual({ model: 'p', temperature: 0.5, messages, ...asked });
    expect(sent(asked, { max_completion_tokens: 'max_tokens', seed: null })).toEqual({
      model: 'p',
      temperature: 0.5,
      messages,
      user: 'u',
      max_tokens: 7,
    });
  });

  it('has a field once, even if the client has sent it by both names', () => {
    const both = { max_completion_tokens: 7, max_tokens: 9 };
    expect(sent(both, { max_completion_tokens: 'max_tokens' })).toEqual({
      model: 'p',
      temperature: 0.5,
      messages,
      max_tokens: 9,
    });
  });

  it('has a bound of the gateway by the name of the provider, and not where the provider has refused it', () => {
    const body = bounded(bodyFor({ max_tokens: null }), 'max_tokens', 500);
    const with500 = { model: 'p', temperature: 0.5, messages, max_tokens: 500 };
    const read = (changed: Partial<BodyTarget>): JsonObject =>
      JSON.parse(Buffer.concat(serialise(body, { ...target, ...changed })).toString());
    expect([read({}), addedTo(body, target)]).toEqual([with500, ['max_tokens']]);
    const { max_tokens: max_completion_tokens, ...others } = with500;
    expect(read({ requestFields: { max_tokens: 'max_completion_tokens' } })).toEqual({
      ...others,
      max_completion_tokens,
    });
    expect(read({ refused: ['max_tokens'] })).toEqual(others);
  });

  it.each([
    [{ max_tokens: 900 }, { max_tokens: 500 }],
    [
      { max_completion_tokens: 900, max_tokens: null },
      { max_completion_tokens: 500, max_tokens: null },
    ],
    [
      { max_completion_tokens: 100, max_tokens: 900 },
      { max_completion_tokens: 100, max_tokens: 500 },
    ],
    [{ max_completion_tokens: 100 }, { max_completion_tokens: 100 }],
  ])('has no limit of the client above a bound of the gateway, and adds none beside it: %j', (given, expected) => {
    const body = bounded(bodyFor(given), 'max_tokens', 500);
    expect(JSON.parse(Buffer.concat(serialise(body, target)).toString())).toMatchObject(expected);
    expect(JSON.parse(Buffer.concat(serialise(body, { ...target, refused: ['max_tokens'] })).toString())).toEqual({
      model: 'p',
      temperature: 0.5,
      messages,
      ...expected,
    });
    expect(addedTo(body, target)).toEqual([]);
  });

  it('cannot be bounded where a limit is too large to be moved', () => {
    expect(canBound(bodyFor({ max_tokens: 5 }))).toBe(true);
    expect(canBound({ unmoved: ['max_completion_tokens'] })).toBe(false);
  });

  it.each([
    [{ max_completion_tokens: 5, max_tokens: null }, { max_tokens: 5 }],
    [{ max_completion_tokens: null, max_tokens: 9 }, { max_tokens: 9 }],
    [{ max_completion_tokens: null }, {}],
    [{ max_tokens: null }, { max_tokens: null }],
  ])('does not lose a bound to a null: %j', (given, expected) => {
    const usual = { model: 'p', temperature: 0.5, messages };
    expect(sent(given, { max_completion_tokens: 'max_tokens' })).toEqual({ ...usual, ...expected });
  });

  it('has no key twice, even if the other name is too large to be moved', () => {
    const user = 'u'.repeat(2000);
    const bytes = Buffer.concat(
      serialise(bodyFor({ safety_identifier: 's', user }), { ...target, requestFields: { safety_identifier: 'user' } }),
    );
    expect(bytes.toString().split('"user":')).toHaveLength(2);
    expect(JSON.parse(bytes.toString()).user).toBe(user);
  });

  it('leaves a large field in its place, so that the opening fits into a header', () => {
    const bias = Object.fromEntries(Array.from({ length: 300 }, (_, token) => [String(token), 1]));
    const body = bodyFor({ logit_bias: bias, user: 'u'.repeat(900), seed: 4 });
    expect(opening(body, target).length).toBeLessThan(1200);
    expect(sent({ logit_bias: bias, seed: 4 }, { logit_bias: null })).toMatchObject({ logit_bias: bias, seed: 4 });
  });

  it('opens in ASCII, whatever a model is called', () => {
    const body = bodyFor({ user: 'é"\\ \u2028😀' });
    const text = opening(body, { ...target, providerModel: 'm·é "x"' });
    expect(text).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(`${text}"messages":[]}`)).toMatchObject({ model: 'm·é "x"', user: 'é"\\ \u2028😀' });
  });
});

const fields = fc.dictionary(fc.constantFrom(...variedFields), fc.oneof(fc.integer(), fc.string()), { maxKeys: 6 });
const treatments = fc.dictionary(
  fc.constantFrom(...variedFields),
  fc.option(fc.constantFrom<VariedField>(...variedFields)),
);

it('one body behind the opening of another deployment is the body of that deployment', () => {
  fc.assert(
    fc.property(fields, treatments, treatments, fc.string(), (given, one, other, name) => {
      const body = bodyFor(given);
      const first = { ...target, requestFields: one };
      const second = { ...target, providerModel: name, requestFields: other };
      const bytes = Buffer.concat(serialise(body, first));
      const replaced = opening(body, second) + bytes.subarray(opening(body, first).length).toString();
      expect(replaced).toBe(Buffer.concat(serialise(body, second)).toString());
      const parsed = JSON.parse(replaced);
      expect(parsed).toMatchObject({ model: name, messages });
      for (const [field, as] of Object.entries(other))
        if (as === null && !Object.values(other).includes(field as VariedField))
          expect(parsed).not.toHaveProperty(field);
    }),
    { numRuns: cases(500) },
  );
});
