/** What sidecars measure of a deployment that cannot take calls, as they leave it in Redis for as long as that is known. */
import { z } from 'zod';

export const deploymentTroubleSchema = z.object({
  /** `degraded`: its provider is out of reach; `saturated`: it says that it has too much to do. */
  status: z.enum(['degraded', 'saturated']),
  /** How many calls in a row it did not answer. */
  failures: z.int().positive(),
  /** When the last of them failed, RFC 3339. */
  at: z.string(),
});
export type DeploymentTrouble = z.infer<typeof deploymentTroubleSchema>;
