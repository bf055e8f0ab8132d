/** Judges a Postgres as a role of ours sees it. */
import type { PostgresFacts } from '@gw/contract/internal/ground';
import { type Clock, machineClock, openComparison, skewFinding } from './clock.ts';
import type { Finding, Foundation } from './foundation.ts';

const oldest = 15;

function judge({ isReadOnly, mayRead, role, unsafe, version }: PostgresFacts): readonly Finding[] {
  const found = (isFound: boolean, name: string, sentence: string, refuses = false): readonly Finding[] =>
    isFound ? [{ name, sentence, refuses }] : [];
  return [
    ...found(
      version < oldest * 10_000,
      'postgres_version',
      `This is Postgres ${Math.floor(version / 10_000)}. The gateway needs ${oldest} or later, so upgrade it.`,
      true,
    ),
    ...found(
      isReadOnly,
      'postgres_read_only',
      'This Postgres accepts no writes: it is a standby, or default_transaction_read_only is on. Point the URL at the primary, or promote this server.',
    ),
    ...found(
      unsafe.length > 0,
      'postgres_durability',
      `A crash of Postgres can lose acknowledged receipts while these settings are off: ${unsafe.join(', ')}. Set them to on.`,
    ),
    ...found(
      !mayRead,
      'postgres_rights',
      `The gateway's tables are missing, or the role ${role} may not read them. Run the migration.`,
    ),
  ];
}

/** `read` resolves to a sentence for a database in whose sessions the gateway cannot work. */
export const postgresGround = (
  read: () => Promise<PostgresFacts | string>,
  clock: Clock = machineClock,
): Foundation => ({
  name: 'postgres',
  async look() {
    const compare = openComparison(clock);
    const found = await read();
    if (typeof found === 'string')
      return { facts: {}, findings: [{ name: 'postgres_session', sentence: found, refuses: true }] };
    const compared = compare(found.now);
    const { isReadOnly, role, version, zone } = found;
    return {
      facts: { version, role, zone, read_only: isReadOnly, ahead_s: compared.aheadS },
      findings: [...judge(found), ...skewFinding('postgres', compared)],
      aheadS: compared.aheadS,
    };
  },
});
