/** Asks for an evidence pack with the key of the Audit Plus account. */
import { stack } from '../shared-stack.ts';

export async function packOf(body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${stack.publicUrl}/v1/gw/evidence-pack`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.keys.auditPlus}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}
