/** What sidecars measure of a deployment that cannot take calls of a model, as they leave it in Redis. */
import { z } from 'zod';

export const deploymentTroubleSchema = z.object({
  /** `degraded`: its provider is out of reach; `saturated`: it says that it has too much to do. */
  status: z.enum(['degraded', 'saturated']),
  /** How many calls in a row it did not answer. */
  failures: z.int().positive(),
  /** When the last of them failed, and until when calls that can go nowhere else are refused; ms since 1970. */
  at: z.number(),
  until: z.number(),
});
export type DeploymentTrouble = z.infer<typeof deploymentTroubleSchema>;

/** The field of the hash. Ids hold no spaces. */
export const troubleField = (deployment: string, model: string): string => `${deployment} ${model}`;
export function troubleNamed(field: string): { readonly deployment: string; readonly model: string } {
  const [deployment = '', model = ''] = field.split(' ');
  return { deployment, model };
}
