/** The secrets of one installation: made once, then kept, so that keys stay valid over restarts. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson, writePrivateJson } from './private-file.ts';

const secretsSchema = z.object({
  /** Server-side part of the key hash, 64 hexadecimal digits. */
  pepper: z.string().regex(/^[0-9a-f]{64}$/),
  /** What Envoy shows to each internal listener. */
  internalToken: z.string().min(32),
  /** What an operator shows to the operator API. */
  operatorToken: z.string().min(32),
});
export type Secrets = z.infer<typeof secretsSchema>;

export function loadSecrets(dir: string): Secrets {
  const file = join(dir, 'secrets.json');
  const found = secretsSchema.safeParse(readJson(file));
  if (found.success) return found.data;
  const token = () => randomBytes(32).toString('hex');
  const made: Secrets = { pepper: token(), internalToken: token(), operatorToken: token() };
  writePrivateJson(file, made);
  return made;
}
