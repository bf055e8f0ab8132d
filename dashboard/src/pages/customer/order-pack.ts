import { api } from '../../api/client.ts';
import { RefusedError } from '../../api/refused.ts';
import type { OnceHeaders } from '../../parts/use-once.ts';

export const formats = ['jsonld', 'csv', 'parquet'] as const;

export interface Order {
  readonly from: string;
  readonly to: string;
  readonly format: (typeof formats)[number];
  readonly include_lineage: boolean;
}

export type Ordered =
  /** A small pack is the reply itself, and lies in this page. */
  | {
      readonly kind: 'pack';
      readonly pack: Blob;
      readonly url: string;
      readonly name: string;
      readonly receipts: number;
    }
  | { readonly kind: 'job'; readonly id: string };

/** Orders a pack. Throws RefusedError. */
export async function orderPack(body: Order, headers: OnceHeaders): Promise<Ordered> {
  const { error, data, response } = await api.POST('/organisation/v1/evidence-pack', {
    body,
    headers,
    parseAs: 'text',
  });
  const text = data as unknown as string;
  if (!response.ok) throw new RefusedError(response.status, error, response.headers.get('x-request-id'));
  const reply: unknown = JSON.parse(text);
  if (typeof reply !== 'object' || reply === null) throw new Error('The gateway sent neither a pack nor a job.');
  if (response.status === 202 && 'id' in reply) return { kind: 'job', id: String(reply.id) };
  const receipts = 'receipts' in reply && Array.isArray(reply.receipts) ? reply.receipts.length : 0;
  // To the byte as it was signed.
  const pack = new Blob([text], { type: 'application/ld+json' });
  return {
    kind: 'pack',
    pack,
    url: URL.createObjectURL(pack),
    name: `evidence-${body.from}-${body.to}.jsonld`,
    receipts,
  };
}
