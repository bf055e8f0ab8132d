/**
 * The seal of a pack, or of a statement on a table: a signature that can name the organisation of its key by a chain of certificates (`x5c` of
 * RFC 7515), and have a time-stamp (RFC 3161) beside it.
 *
 * Invariant: the chain stands in the header, so that it is signed. A time-stamp is over the signature and cannot be: whoever has a pack can take it away,
 * or put another in its place. It counts by the signature of its own service alone.
 */
import type { SigningKey } from '@gw/contract/internal/evidence-keys';
import type { Certificate } from './certificates.ts';
import { ofPack, type PackMismatch } from './receipt-node.ts';
import {
  checkStated,
  type SignatureCheck,
  type Signed,
  type StatedSignature,
  signed,
  statedSignature,
  type Trust,
} from './signature.ts';

/** A key that signs packs. */
export interface PackKey extends SigningKey {
  /** Certificates, DER in base64, that of this key first; absent: the key names nobody. */
  readonly certificates?: readonly string[];
  /** Resolves with a time-stamp over the text, DER in base64; null: there is none. Never rejects. */
  readonly timestamp?: (jws: string) => Promise<string | null>;
}

export async function sealed(value: unknown, key: PackKey): Promise<Signed> {
  const made = await signed(value, key, key.certificates);
  const timestamp = (await key.timestamp?.(made.jws)) ?? null;
  return timestamp === null ? made : { ...made, timestamp };
}

/** Whoever checks a seal trusts these. */
export interface SealTrust extends Trust {
  /** Certificates of authorities, DER in base64, that the chain of the key has to lead to. */
  readonly authorities?: readonly string[];
  /** The organisation that its certificate has to name. A key that both hold for is trusted. */
  readonly organisation?: string;
  /** Certificates of the authorities of time-stamp services, likewise. */
  readonly timestampAuthorities?: readonly string[];
}

/** `isChecked`: the chain leads to an authority that is trusted. Otherwise the name is only stated. */
export interface SealName {
  readonly name: string;
  readonly isChecked: boolean;
}

export interface SealCheck {
  readonly signature: SignatureCheck;
  /** Whose key it is; null: no certificate says it. */
  readonly signer: SealName | null;
  /** `at`: RFC 3339, UTC. `name`: that of the service. Null: there is no time-stamp that fits. */
  readonly timestamp: (SealName & { readonly at: string }) | null;
}

/** Something is not signed, or not by whom it says. */
export const noSeal: SealCheck = { signature: 'invalid', signer: null, timestamp: null };

interface CheckedSeal extends SealCheck {
  readonly mismatches: readonly PackMismatch[];
}

/** `issued`: when the signed value says that it was made. */
export async function checkSeal(
  value: unknown,
  signature: unknown,
  { issued, trust }: { readonly issued: unknown; readonly trust: SealTrust },
): Promise<CheckedSeal> {
  const stated = statedSignature(signature);
  if (stated === null) return { ...noSeal, mismatches: [] };
  const check = await checkStated(value, stated, trust);
  if (check === 'invalid') return { ...noSeal, mismatches: [] };
  const stamp = await checkStamp(stated, trust);
  // The time that somebody else has stated is better, but only if it is known who.
  const at = new Date(stamp.timestamp?.isChecked === true ? stamp.timestamp.at : String(issued));
  const chain = await checkChain(stated, trust, at);
  // An authority certifies many, so it is not enough that it certifies this one.
  const isKnown = chain.signer?.isChecked === true && trust.organisation !== undefined;
  return {
    signature: check === 'unauthenticated' && isKnown ? 'trusted' : check,
    signer: chain.signer,
    timestamp: stamp.timestamp,
    mismatches: [...chain.mismatches, ...stamp.mismatches],
  };
}

const certificatesField = 'signature.x5c';

async function checkChain(
  { certificates, signer }: StatedSignature,
  { authorities, organisation }: SealTrust,
  at: Date,
): Promise<Pick<CheckedSeal, 'signer' | 'mismatches'>> {
  const failed = (expected: string, found: string, name: SealName | null = null) => ({
    signer: name,
    mismatches: [ofPack(certificatesField, expected, found)],
  });
  if (certificates === null)
    return authorities === undefined
      ? { signer: null, mismatches: [] }
      : failed('certificates of the key', 'none, so that an authority says nothing of it');
  const { certificateOf, chainFault, isOfKey, nameOf, namesOrganisation, signerFault } = await import(
    './certificates.ts'
  );
  const [leaf, ...others] = certificates.map(certificateOf);
  if (!leaf || !others.every((each) => each !== null)) return failed('certificates', 'what cannot be read');
  const name = { name: nameOf(leaf), isChecked: false };
  if (!isOfKey(leaf, signer.x)) return failed('a certificate of the key that has signed', 'one of another key');
  if (authorities === undefined) return { signer: name, mismatches: [] };
  const fault = await chainFault([leaf, ...others], rootsIn(authorities, certificateOf), at);
  if (fault !== null) return failed('a chain that holds', fault, name);
  const misused = signerFault(leaf);
  if (misused !== null) return failed('a certificate that is for signing', misused, name);
  if (organisation !== undefined && !namesOrganisation(leaf, organisation))
    return failed(`a certificate of O=${organisation}`, `one of ${name.name}`, name);
  return { signer: { ...name, isChecked: true }, mismatches: [] };
}

const rootsIn = (authorities: readonly string[], read: (base64: string) => Certificate | null): Certificate[] =>
  authorities.map(read).filter((each) => each !== null);

async function checkStamp(
  { jws, timestamp }: StatedSignature,
  { timestampAuthorities }: SealTrust,
): Promise<Pick<CheckedSeal, 'timestamp' | 'mismatches'>> {
  const failed = (expected: string, found: string, stamp: CheckedSeal['timestamp'] = null) => ({
    timestamp: stamp,
    mismatches: [ofPack('signature.timestamp', expected, found)],
  });
  if (timestamp === null)
    return timestampAuthorities === undefined
      ? { timestamp: null, mismatches: [] }
      : failed('a time-stamp', 'none, so that nobody else says when it was signed');
  const [{ stampIn }, { certificateOf, chainFault, nameOf }] = await Promise.all([
    import('./timestamp.ts'),
    import('./certificates.ts'),
  ]);
  const stamp = await stampIn(timestamp, jws);
  if ('fault' in stamp) return failed('a time-stamp over this signature', stamp.fault);
  const stated = { at: stamp.at.toISOString(), name: nameOf(stamp.chain[0]), isChecked: false };
  if (timestampAuthorities === undefined) return { timestamp: stated, mismatches: [] };
  const fault = await chainFault(stamp.chain, rootsIn(timestampAuthorities, certificateOf), stamp.at);
  if (fault !== null) return failed('a chain of the time-stamp that holds', fault, stated);
  return { timestamp: { ...stated, isChecked: true }, mismatches: [] };
}
