/** The state of a deployment that cannot take calls of a model, as sidecars measure it and keep it in Redis. */
import { z } from 'zod';
import { operatorFaults } from './operator-faults.ts';

export const deploymentTroubleSchema = z.object({
  /** `degraded`: its provider is unreachable; `saturated`: its provider reports overload; all others: it needs its operator. */
  status: z.enum(['degraded', 'saturated', ...operatorFaults]),
  /** Consecutive calls without an answer. */
  failures: z.int().positive(),
  /**
   * When the last of them failed, and until when this holds; ms since 1970. Calls without an alternative are refused meanwhile, unless
   * it needs its operator: these get the provider's error.
   */
  at: z.number(),
  until: z.number(),
});
export type DeploymentTrouble = z.infer<typeof deploymentTroubleSchema>;

/** Field of the Redis hash; a word can follow it. Ids contain no spaces. */
export const troubleField = (deployment: string, model: string): string => `${deployment} ${model}`;
export function troubleNamed(field: string): { readonly deployment: string; readonly model: string } {
  const [deployment = '', model = ''] = field.split(' ');
  return { deployment, model };
}
