/** The signed statement of the gateway about a table of receipts, which has no place for a signature itself. */
import { isNode, type Node, ofPack, type PackMismatch, shown } from './receipt-node.ts';
import { checkSeal, noSeal, type PackKey, type SealCheck, type SealTrust, sealed } from './seal.ts';
import type { Signed } from './signature.ts';

export const tableFormat = 'gw.evidence_table/1' as const;

/** The signature is over this, as JSON by RFC 8785. */
export interface TableStatement {
  readonly format: typeof tableFormat;
  /** `urn:uuid:…` */
  readonly id: string;
  readonly account: string;
  /** RFC 3339, UTC, like the next two. */
  readonly issued: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly media_type: string;
  /** The number of rows, which are versions of receipts. */
  readonly receipts: number;
  /** How many receipts that were asked for are in no row, because they do not exist or are not genuine. */
  readonly excluded: number;
  /** The digest of the bytes of the table. */
  readonly sha256: string;
}

export const signedStatement = async (
  statement: TableStatement,
  key: PackKey,
): Promise<TableStatement & { readonly signature: Signed }> => ({
  ...statement,
  signature: await sealed(statement, key),
});

export interface TableVerification extends SealCheck {
  readonly mismatches: readonly PackMismatch[];
  /** The statement; empty if there is none. */
  readonly statement: Node;
}

/** `sha256`: the digest of the table. `stated`: a statement, or the job that has it. */
export async function verifyTable(sha256: string, stated: unknown, trust: SealTrust): Promise<TableVerification> {
  const found = isNode(stated) && isNode(stated.statement) ? stated.statement : stated;
  if (!isNode(found) || found.format !== tableFormat)
    return { ...noSeal, mismatches: [ofPack('statement', tableFormat, shown(found))], statement: {} };
  const { signature, ...statement } = found;
  const isSame = statement.sha256 === sha256;
  const { mismatches, ...seal } = await checkSeal(statement, signature, { issued: statement.issued, trust });
  return {
    ...seal,
    mismatches: [...(isSame ? [] : [ofPack('sha256', shown(statement.sha256), sha256)]), ...mismatches],
    statement,
  };
}
