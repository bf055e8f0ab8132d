/** Whom a token names, by the shapes that providers send. */
import { providerTokens } from '@gw/testing/control-plane/provider-tokens';
import { expect, test } from 'vitest';
import { issuerProblem } from './oidc-issuer.ts';
import { type Claims, type PersonClaim, type PersonRule, personOf } from './oidc-person.ts';

type Shape = keyof typeof providerTokens;

function found(claims: Claims, claim: PersonClaim, domain: PersonRule['domain'] = null): string {
  const person = personOf(claims, claims, { claim, domain });
  if (!person.ok) return person.error.reason;
  const { name, subject } = person.value;
  return `${subject} ${name.ok ? name.value : name.error.reason}`;
}
const shaped = (shape: Shape): Claims => providerTokens[shape].claims;
const subOf = (shape: Shape): string => providerTokens[shape].claims.sub;
const oid = providerTokens.entra.claims.oid;

test.each<[Shape, PersonClaim, string]>([
  ['entra', 'email', `${subOf('entra')} not_verified`],
  ['entra', 'preferred_username', `${subOf('entra')} ada@ops.example`],
  ['entra', 'oid', `${oid} unknown_person`],
  ['entra', 'sub', `${subOf('entra')} unknown_person`],
  ['entraEdov', 'email', `${subOf('entra')} ada@ops.example`],
  ['okta', 'email', `${subOf('okta')} ada@ops.example`],
  ['okta', 'preferred_username', `${subOf('okta')} ada@ops.example`],
  ['okta', 'oid', 'claim_missing'],
  ['oktaThin', 'email', `${subOf('oktaThin')} claim_missing`],
  ['keycloak', 'email', `${subOf('keycloak')} ada@ops.example`],
  ['keycloak', 'preferred_username', `${subOf('keycloak')} ada`],
  ['googleWorkspace', 'email', `${subOf('googleWorkspace')} ada@ops.example`],
  ['googleWorkspace', 'preferred_username', `${subOf('googleWorkspace')} claim_missing`],
  ['googlePrivate', 'email', `${subOf('googlePrivate')} not_verified`],
  ['googlePrivate', 'sub', `${subOf('googlePrivate')} unknown_person`],
])('a token of %s names by %s: %s', (shape, claim, expected) => {
  expect(found(shaped(shape), claim)).toBe(expected);
});

test('an e-mail that is not said to be verified names nobody', () => {
  for (const email_verified of [false, 'false', 'yes', null, undefined, 0])
    expect(found({ ...shaped('keycloak'), email_verified }, 'email')).toMatch(/ not_verified$/);
  // Its own word for it is Entra's alone.
  expect(found({ ...shaped('keycloak'), email_verified: false, xms_edov: true }, 'email')).toMatch(/ not_verified$/);
  const posing = 'https://login.microsoftonline.com.evil.example/t/v2.0';
  expect(found({ ...shaped('entraEdov'), iss: posing }, 'email')).toMatch(/ not_verified$/);
});

test.each<[Shape, PersonClaim, Claims, string]>([
  ['okta', 'email', {}, 'ada@ops.example'],
  ['okta', 'email', { email: 'ADA@OPS.EXAMPLE' }, 'ada@ops.example'],
  ['okta', 'email', { email: 'ada@evil.example' }, 'wrong_domain'],
  ['okta', 'email', { email: 'ada@notops.example' }, 'wrong_domain'],
  ['okta', 'email', { email: 'ada@ops.example@evil.example' }, 'wrong_domain'],
  ['entra', 'preferred_username', { preferred_username: 'ada@other.example' }, 'wrong_domain'],
  ['googleWorkspace', 'email', { hd: 'evil.example' }, 'wrong_domain'],
  ['googlePrivate', 'sub', {}, 'wrong_domain'],
])('of a domain: %s by %s with %j: %s', (shape, claim, more, expected) => {
  expect(found({ ...shaped(shape), ...more }, claim, 'ops.example')).toContain(expected);
});

test('what is no text, or too long, names nobody', () => {
  for (const email of [7, {}, ['ada@ops.example'], '', 'a'.repeat(300), null]) {
    expect(found({ ...shaped('okta'), email }, 'email')).toMatch(/ claim_missing$/);
    expect(found({ ...shaped('okta'), email }, 'email', 'ops.example')).toBe('claim_missing');
  }
});

test.each([
  ['https://login.microsoftonline.com/common/v2.0', 'every tenant'],
  ['https://login.microsoftonline.com/organizations/v2.0', 'every tenant'],
  ['https://login.microsoftonline.us/Consumers/v2.0', 'every tenant'],
  ['https://login.microsoftonline.com/{tenantid}/v2.0', 'every tenant'],
  ['http://login.example', 'https'],
  ['no address', 'https'],
  ['https://169.254.169.254/', 'not allowed'],
  ['https://login.example/.well-known/openid-configuration', 'alone'],
  ['https://ada:secret@login.example/', 'alone'],
  ['https://login.example/?tenant=1', 'alone'],
])('%s is no issuer: %s', (issuer, why) => {
  expect(issuerProblem(issuer)).toContain(why);
});

test.each([
  ...Object.values(providerTokens).map(({ claims }) => claims.iss),
  'https://sso.example/realms/common',
  'https://example.okta.com/oauth2/aus9o8wzkhckw9TLa0h7z',
])('%s is one', (issuer) => {
  expect(issuerProblem(issuer)).toBeNull();
});
