/** A product is what a job makes of receipts, window by window. */
import type { PackAbout } from '@gw/evidence/pack';
import type { PackKey } from '@gw/evidence/seal';
import type { Context } from '../../../shared/context.ts';
import type { Seals } from '../../receipts/sealed-rows.ts';
import type { ChunkWriter } from '../chunks.ts';
import type { PackRow } from '../packs.ts';
import type { Window } from '../windows.ts';

export interface ProductStores extends Pick<Context, 'db' | 'log' | 'objects'> {
  readonly seals: Seals;
  readonly key: PackKey;
}

export interface ProductOrder {
  readonly pack: PackRow;
  readonly about: PackAbout;
  readonly writer: ChunkWriter;
}

export interface Product {
  /** Writes the receipts of a window. Returns how many versions it has written. */
  take(window: Window): Promise<number>;
  /** Writes the end. Returns the signed statement of a table, as JSON; null for a product that is signed itself. */
  finish(): Promise<string | null>;
}
