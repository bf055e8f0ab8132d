/** `./gw verify`: whether an evidence pack holds, without the gateway and without a network. */
import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { errorText } from '@gw/contract/internal/error-text';
import { parseStrictJson } from '@gw/contract/internal/strict-json';
import type { PackVerification, Trust } from '@gw/evidence/verify';
import { Problem } from '@gw/stack/problem';
import { z } from 'zod';

const usage = `gw verify FILE [--jwks FILE] [--key THUMBPRINT] [--earlier FILE] [--statement FILE] [--html FILE] [--json]

Checks an evidence pack: its signature, the digest of each part, its sums, each number whose lineage is in it, and that its
receipts are in the log of the account.

  --jwks FILE       the key set of the gateway, as it was had from /.well-known/jwks.json
  --key THUMBPRINT  or the thumbprint (kid) of the key that has to have signed
  --earlier FILE    a pack or a checkpoint that was kept: whether the log goes on from it, and nothing in front of it has
                    changed. The new pack has to be asked for with its tree_size as "earlier_tree_size". Of a pack of more
                    than 32 MiB the checkpoint alone is used
  --statement FILE  FILE is a table (CSV, Parquet); this is the job that made it, as JSON, with the signed statement of its digest
  --html FILE       writes a page for people: charts, coverage, methods, sources, and whether the pack holds. It needs no network and can
                    be printed
  --json            the result as JSON

Without either nobody is trusted, and the signature proves only that nothing was changed since somebody has signed.
The exit code is 0 if all holds, 1 if something does not or cannot be read, 2 if all holds but nobody said whom to trust,
3 if all holds but receipts came into the log after the earlier checkpoint, although the hour of their call was over before it.
`;

/** Resolves with the exit code. */
export async function verify(args: readonly string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      jwks: { type: 'string' },
      key: { type: 'string' },
      earlier: { type: 'string' },
      statement: { type: 'string' },
      html: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const [file, ...more] = positionals;
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  if (file === undefined || more.length > 0)
    throw new Problem('verify takes one file: ./gw verify FILE --jwks FILE. ./gw verify --help says more.');
  const trust: Trust = {
    ...(values.jwks !== undefined && { keys: keysIn(values.jwks) }),
    ...(values.key !== undefined && { thumbprint: values.key }),
  };
  if (values.statement !== undefined) return verifyTable(file, values.statement, trust, values.json);
  const earlier = values.earlier === undefined ? undefined : await earlierIn(values.earlier);
  const { head, ...result } = await verified(file, trust, earlier);
  if (values.html !== undefined) await writePage(values.html, head, result);
  process.stdout.write(values.json ? `${JSON.stringify(result, null, 2)}\n` : textOf(result));
  return exitCode(result);
}

async function verifyTable(file: string, statementFile: string, trust: Trust, asJson: boolean): Promise<number> {
  const { verifyTable: verified } = await import('@gw/evidence/table-statement');
  const stated = read(statementFile);
  const digest = createHash('sha256');
  sizeOf(file);
  for await (const bytes of bytesOf(file)) digest.update(bytes);
  const result = await verified(digest.digest('hex'), stated, trust);
  const { mismatches, signature, statement } = result;
  const lines = [
    `receipts    ${statement.receipts ?? 'unknown'}, not recomputed: a table has no lineages and no proofs`,
    `signature   ${signatures[signature]}`,
    `mismatches  ${mismatches.length}`,
    ...mismatches.map(({ expected, field, found }) => `  table ${field}: expected ${expected}, found ${found}`),
  ];
  process.stdout.write(asJson ? `${JSON.stringify(result, null, 2)}\n` : `${lines.join('\n')}\n`);
  return exitCode({ mismatches, signature, log: { proven: 0, late: [] } });
}

/** What is longer is read in parts. */
const mostAtOnce = 32 * 1024 * 1024;

async function verified(
  file: string,
  trust: Trust,
  earlier: unknown,
): Promise<PackVerification & { readonly head: Readonly<Record<string, unknown>> }> {
  // Loaded here, so that the other commands start as fast as without it.
  const [{ verifyPack }, { verifyLongPack }] = await Promise.all([
    import('@gw/evidence/verify'),
    import('@gw/evidence/verify-long'),
  ]);
  if (sizeOf(file) > mostAtOnce) return verifyLongPack(bytesOf(file), trust, earlier);
  const pack = read(file);
  if (isLong.safeParse(pack).success) return verifyLongPack(bytesOf(file), trust, earlier);
  return { head: anyObject.parse(pack), ...(await verifyPack(pack, trust, earlier)) };
}

const anyObject = z.record(z.string(), z.unknown()).catch({});

async function writePage(
  file: string,
  head: Readonly<Record<string, unknown>>,
  result: PackVerification,
): Promise<void> {
  const { evidencePage } = await import('@gw/evidence/page');
  try {
    writeFileSync(file, evidencePage(head, result));
  } catch (error) {
    throw new Problem(`${file} cannot be written: ${errorText(error)}`);
  }
}

const isLong = z.object({ format: z.literal('gw.evidence_pack/2') });

/** Of a pack that is too long to be held, the checkpoint alone. */
async function earlierIn(file: string): Promise<unknown> {
  if (sizeOf(file) <= mostAtOnce) return read(file);
  const { checkpointOf } = await import('@gw/evidence/verify-long');
  return (await checkpointOf(bytesOf(file))) ?? null;
}

const bytesOf = (file: string) => createReadStream(file, { highWaterMark: 1024 * 1024 });

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw new Problem(`${file} cannot be read: ${errorText(error)}`);
  }
}

/** Strictly: of a member that is there twice, other programs might show the other one. */
function read(file: string): unknown {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new Problem(`${file} cannot be read: ${errorText(error)}`);
  }
  // A pack of lineages has more parts than a request may have.
  const parsed = parseStrictJson(bytes, Number.POSITIVE_INFINITY);
  if (!parsed.ok) throw new Problem(`${file} cannot be read as JSON: ${parsed.error.problem}`);
  return parsed.value;
}

function keysIn(file: string): unknown[] {
  const found = z.object({ keys: z.array(z.unknown()) }).safeParse(read(file));
  if (!found.success) throw new Problem(`${file} is no JSON Web Key Set: it has no list \`keys\`.`);
  return found.data.keys;
}

function exitCode({ log, mismatches, signature }: Pick<PackVerification, 'log' | 'mismatches' | 'signature'>): number {
  if (mismatches.length > 0 || signature === 'invalid' || signature === 'unknown_key') return 1;
  if (log.late.length > 0) return 3;
  return signature === 'trusted' ? 0 : 2;
}

const signatures: Readonly<Record<PackVerification['signature'], string>> = {
  trusted: 'by a key that you trust',
  unauthenticated: 'unauthenticated: nobody said whom to trust (--jwks, --key)',
  unknown_key: 'by none of the keys that you trust',
  invalid: 'does not fit',
};
const mostShown = 50;

function textOf({ log, mismatches, receipts, recomputed, signature, untold = 0 }: PackVerification): string {
  const lines = [
    `receipts    ${receipts}`,
    `numbers     ${recomputed} recomputed, ${receipts - recomputed} not recomputed`,
    `log         ${log.proven} proven, ${receipts - log.proven} not in it yet`,
    ...log.late.map((receipt) => `  ${receipt} came into it after the earlier checkpoint, and belongs before it`),
    `signature   ${signatures[signature]}`,
    `mismatches  ${mismatches.length + untold}`,
    ...mismatches
      .slice(0, mostShown)
      .map(
        ({ expected, field, found, receipt }) =>
          `  ${receipt ?? 'pack'} ${field}: expected ${expected}, found ${found}`,
      ),
    ...(mismatches.length > mostShown
      ? [
          `  and ${mismatches.length + untold - mostShown} more; --json has ${untold === 0 ? 'all of them' : `${mismatches.length} of them`}`,
        ]
      : []),
  ];
  return `${lines.join('\n')}\n`;
}
