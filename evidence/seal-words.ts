import type { SealCheck, SealName } from './seal.ts';

/** Whose key it is and when it was signed, a sentence each, as far as anybody says it. */
export function sealWords({ signer, timestamp }: SealCheck): string[] {
  const checked = ({ isChecked }: SealName) => (isChecked ? 'by a chain that you trust' : 'stated, not checked');
  return [
    ...(signer === null ? [] : [`signed for ${signer.name} (${checked(signer)})`]),
    ...(timestamp === null ? [] : [`time-stamped at ${timestamp.at} by ${timestamp.name} (${checked(timestamp)})`]),
  ];
}
