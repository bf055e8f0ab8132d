/** The media types of packs and tables. */
import type { PackFormat } from '@gw/contract/evidence';

export const mediaTypes = {
  jsonld: 'application/ld+json; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  parquet: 'application/vnd.apache.parquet',
} as const satisfies Record<PackFormat, string>;
