/**
 * Who somebody is by the word of an identity provider.
 *
 * Invariant: a name that its owner could choose names nobody. An e-mail counts only if the provider calls it verified; a subject counts
 * for its issuer alone; and which other claim counts is a setting of the issuer, never of the token.
 */
import { ok, type Result } from '@gw/contract/internal/result';
import { type OidcFailure, oidcFailed } from './oidc-failure.ts';

/**
 * `email` and `preferred_username` find the person at the first login, which binds the subject. `oid` and `sub` are the identity itself,
 * which an admin has bound before.
 */
export const personClaims = ['email', 'preferred_username', 'oid', 'sub'] as const;
export type PersonClaim = (typeof personClaims)[number];

export interface PersonRule {
  readonly claim: PersonClaim;
  /** The person has to belong to this domain, in small letters; null: to any. */
  readonly domain: string | null;
}

export interface OidcPerson {
  /** Names the person at the issuer, and never changes. */
  readonly subject: string;
  /** In small letters: by which the first login finds the person. Refused: by the subject alone, and why. */
  readonly name: Result<string, OidcFailure>;
}

export type Claims = Readonly<Record<string, unknown>>;

const google = 'https://accounts.google.com';
/** The national clouds have hosts of their own. */
const entra = /^https:\/\/login\.(partner\.)?microsoftonline\.[a-z]+\//;
export const isEntra = (issuer: string): boolean => entra.test(issuer);
const longest = 254;

/** The claims that decide whether `claim` counts, so that they are taken from one place. */
export const isToldIn = (claims: Claims, claim: PersonClaim): boolean => typeof claims[claim] === 'string';

/**
 * `token` is the verified ID token; `facts` are its claims, or those of the userinfo endpoint if the token lacks the claim. Whoever is
 * not of the domain is refused, bound or not.
 */
export function personOf(token: Claims, facts: Claims, { claim, domain }: PersonRule): Result<OidcPerson, OidcFailure> {
  const value = facts[claim];
  const isTold = typeof value === 'string' && value !== '' && value.length <= longest;
  const missing = oidcFailed('claim_missing', `there is no claim ${claim}, by which this issuer is set to name people`);
  const isIdentity = claim === 'oid' || claim === 'sub';
  if (!isTold && (isIdentity || domain !== null)) return missing;
  const issuer = String(token.iss);
  if (domain !== null && !isOfDomain(token, facts, claim, domain))
    return oidcFailed('wrong_domain', `${issuer === google ? 'hd' : claim} is not of ${domain}`);
  if (isIdentity) return ok({ subject: String(value), name: unbound });
  const doubt = claim === 'email' ? doubtOf(issuer, facts) : null;
  const name = isTold ? (doubt === null ? ok(value.toLowerCase()) : oidcFailed('not_verified', doubt)) : missing;
  return ok({ subject: String(token.sub), name });
}

const unbound = oidcFailed(
  'unknown_person',
  'nobody is bound to this identity, and by oid and sub an admin has to bind it',
);

/** Why the e-mail may be somebody else's; null: the issuer vouches for it. */
function doubtOf(issuer: string, facts: Claims): string | null {
  // Entra sends no email_verified, and lets users have any e-mail; its own word for a verified one is this optional claim.
  if (isEntra(issuer) && isYes(facts.xms_edov)) return null;
  if (!isYes(facts.email_verified))
    return isEntra(issuer)
      ? 'Entra does not say that the e-mail is verified (xms_edov): bind people by oid'
      : 'the claim email_verified is not true';
  // It was verified once. Only of these addresses does Google know whose they are today.
  if (issuer === google && typeof facts.hd !== 'string' && !/@gmail\.com$/i.test(String(facts.email)))
    return 'Google has verified the e-mail once, but it is neither of gmail.com nor of a Workspace (hd)';
  return null;
}

/** Some issuers send words. */
const isYes = (value: unknown): boolean => [true, 'true', 1, '1'].includes(value as string);

/** All Workspaces share one issuer, so that only `hd` tells them apart. An oid or sub that is bound names its person whatever the domain. */
function isOfDomain(token: Claims, facts: Claims, claim: PersonClaim, domain: string): boolean {
  if (token.iss === google) return token.hd === domain;
  if (claim === 'oid' || claim === 'sub') return true;
  return String(facts[claim]).toLowerCase().endsWith(`@${domain}`);
}
