import type { SealCheck } from './seal.ts';

/** Whose key it is and when it was signed, a sentence each, as far as anybody says it. */
export function sealWords({ signer, timestamp }: SealCheck): string[] {
  const stated = 'stated, not checked';
  const isTimeChecked = timestamp?.isChecked === true;
  const chain = isTimeChecked
    ? 'by a chain that you trust'
    : 'by a chain that you trust, which is only known to have been valid at the time that the signer states';
  const stamp = isTimeChecked ? 'by a chain that you trust' : stated;
  return [
    ...(signer === null ? [] : [`signed for ${signer.name} (${signer.isChecked ? chain : stated})`]),
    ...(timestamp === null ? [] : [`time-stamped at ${timestamp.at} by ${timestamp.name} (${stamp})`]),
  ];
}

/** Whom to name for a key that nobody trusts, although an authority that is trusted vouches for its name; null: nobody does. */
export const nameToTrust = ({ signature, signer }: SealCheck): string | null =>
  signature === 'unauthenticated' && signer?.isChecked === true ? signer.name : null;
