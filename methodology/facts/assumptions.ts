/** Whether a fact is what somebody stated, or stands for what nobody did. */
import type { ModelFacts, SiteFacts } from './facts.ts';

/**
 * The accelerators whose energy the model was fitted to, in their usual names and no other. The cards named PCIe and NVL draw about half
 * the power of an H100's SXM5 module.
 */
const fittedNames = {
  h100: /^(nvidia[ -]+)?((hgx|dgx)[ -]+)?h100([ -]+(sxm5?|80 ?gb|hbm3))*$/i,
  b200: /^(nvidia[ -]+)?((hgx|dgx)[ -]+)?b200([ -]+(sxm6?|1[89]\d ?gb|hbm3e))*$/i,
} as const;

/** Which of them a deployment states; null: others, or none. */
export function fittedAccelerator(accelerators: SiteFacts['accelerators']): keyof typeof fittedNames | null {
  if (!accelerators) return null;
  const name = accelerators.model.trim().replaceAll('_', '-');
  if (fittedNames.h100.test(name)) return 'h100';
  return fittedNames.b200.test(name) ? 'b200' : null;
}

/** Whether a deployment runs on other accelerators than those, or may, since it does not say. */
export const isOtherHardware = (accelerators: SiteFacts['accelerators']): boolean =>
  fittedAccelerator(accelerators) === null;

/** Decided by the words of whoever entered the counts: those that `./gw up` reads from the name of a model begin so. */
export const isGuessed = ({ parametersSource }: Pick<ModelFacts, 'parametersSource'>): boolean =>
  typeof parametersSource === 'string' && /^guessed\b/i.test(parametersSource);

/** A PUE is assumed unless somebody measured or published it. */
export const isAssumedPue = ({ pueEvidence }: SiteFacts): boolean => !pueEvidence || pueEvidence.kind === 'assumed';
