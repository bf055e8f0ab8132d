/** `./gw admin restore …`: a Postgres that went back in time, and what it lacks. */
import type { GroundAlarm } from '@gw/contract/internal/ground';
import { Problem } from '@gw/stack/problem';
import { type AdminCall, type AdminCommand, given } from './command.ts';
import { card, type TableRow, table } from './table.ts';

const path = '/operator/v1/restore';

export const restoreCommands: readonly AdminCommand[] = [
  {
    name: 'restore show',
    args: [],
    options: {},
    summary:
      'show whether Postgres has gone back in time, what it lacks, and which keys are in doubt; exit code 1 if so',
    run: show,
  },
  {
    name: 'restore confirm',
    args: [],
    options: {
      'reason!': 'why; shown in the audit log',
      'open*': 'an account that may open, although its suspension is lost',
    },
    summary:
      'accept what Postgres has now: revoke again the keys whose revocation it lost, and admit the other keys in doubt',
    run: confirm,
  },
];

interface Shown {
  readonly alarm: GroundAlarm | null;
  readonly keys_in_doubt: readonly InDoubt[];
  readonly accounts_in_doubt: readonly InDoubt[];
}

interface InDoubt {
  readonly id: string;
  readonly closed: boolean;
}

const nothing = 'Postgres has everything that Valkey knows about.\n';

async function show({ api }: AdminCall) {
  const value = (await api.get(path)) as Shown;
  const { accounts_in_doubt, alarm, keys_in_doubt } = value;
  if (alarm === null) return { value, text: nothing };
  const { audit_chains, cause, ...rest } = alarm;
  const doubted = [...rows('key', keys_in_doubt), ...rows('account', accounts_in_doubt)];
  const parts = [
    `${cause}\n`,
    card(rest),
    table(
      audit_chains.map((chain) => ({ ...chain })),
      ['chain', 'known', 'found'],
      'No chain of the audit log lacks entries.',
    ),
    table(doubted, ['in_doubt', 'id', 'last_known'], 'No key is in doubt.'),
  ];
  return { value, text: parts.join('\n'), exitCode: 1 };
}

const rows = (kind: string, doubts: readonly InDoubt[]): TableRow[] =>
  doubts.map(({ closed, id }) => ({ in_doubt: kind, id, last_known: closed ? 'revoked or suspended' : 'changed' }));

async function confirm(call: AdminCall) {
  const { alarm } = (await call.api.get(path)) as Shown;
  if (alarm === null) throw new Problem(`There is nothing to confirm: ${nothing.trim()}`);
  const body = { alarm: alarm.id, ...given(call, 'reason'), open_accounts: call.all('open') };
  const value = (await call.api.send('POST', `${path}/confirm`, body)) as TableRow;
  return { value, text: card(value) };
}
