/** Whether a fact is what somebody stated, or stands for what nobody did. */
import type { ModelFacts, SiteFacts } from './facts.ts';

/**
 * The only hardware that is modelled: the SXM5 module, in its usual names and no other. The cards named PCIe and NVL draw about
 * half its power.
 */
const modelledNames = /^(nvidia[ -]+)?((hgx|dgx)[ -]+)?h100([ -]+(sxm5?|80 ?gb|hbm3))*$/i;

/** Whether a deployment runs on other accelerators than the modelled ones, or may, since it does not say. */
export const isOtherHardware = (accelerators: SiteFacts['accelerators']): boolean =>
  !accelerators || !modelledNames.test(accelerators.model.trim().replaceAll('_', '-'));

/** Decided by the words of whoever entered the counts: those that `./gw up` reads from the name of a model begin so. */
export const isGuessed = ({ parametersSource }: Pick<ModelFacts, 'parametersSource'>): boolean =>
  typeof parametersSource === 'string' && /^guessed\b/i.test(parametersSource);

/** A PUE is assumed unless somebody measured or published it. */
export const isAssumedPue = ({ pueEvidence }: SiteFacts): boolean => !pueEvidence || pueEvidence.kind === 'assumed';
