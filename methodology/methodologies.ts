/**
 * The methodologies that a receipt can name, each with a version and a hash of all its constants and formulas.
 *
 * Invariant: two receipts with the same hash were computed by the same formulas and constants. The hash is the SHA-256
 * of `document`, whose text can be published and hashed again by anyone.
 */
import { createHash } from 'node:crypto';
import { embodied, idleShare, literatureUncertainty, prefill, serving, standIns } from './factors.ts';
import { decodeSteps, prefillSteps, requestSteps } from './steps.ts';

export type MethodologyId = 'gw-1.0' | 'ecologits-0.11.3';

export interface Methodology {
  readonly id: MethodologyId;
  readonly version: string;
  /** `sha256:` and 64 hexadecimal digits, over the UTF-8 bytes of `document`. */
  readonly hash: string;
  readonly document: string;
  /** Idle Wh per active Wh; null where idle capacity is outside the methodology. */
  readonly idleShare: number | null;
  readonly chargesInput: boolean;
}

function methodology(
  id: MethodologyId,
  version: string,
  rules: { readonly idleShare: number | null; readonly chargesInput: boolean },
  document: object,
): Methodology {
  const text = JSON.stringify({ id, version, rules, ...document });
  const hash = `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
  return { id, version, hash, document: text, ...rules };
}

const shared = { uncertainty: literatureUncertainty, serving, embodied, standIns };

const methodologies: Readonly<Record<MethodologyId, Methodology>> = {
  'gw-1.0': methodology(
    'gw-1.0',
    '1.0.0',
    { idleShare, chargesInput: true },
    { constants: { ...shared, prefill }, steps: { ...decodeSteps, ...prefillSteps, ...requestSteps } },
  ),
  'ecologits-0.11.3': methodology(
    'ecologits-0.11.3',
    '0.11.3',
    { idleShare: null, chargesInput: false },
    { constants: shared, steps: { ...decodeSteps, ...requestSteps } },
  ),
};

export function methodologyOf(id: MethodologyId): Methodology {
  return methodologies[id];
}
