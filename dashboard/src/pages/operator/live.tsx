/** How the gateway is at this moment, read again every few seconds. */
import { Alert, Badge, Stack, Text } from '@mantine/core';
import { useHealth } from '../../api/health.ts';
import type { Health } from '../../api/types.ts';
import { Failed } from '../../parts/failure.tsx';
import { PageTitle } from '../../parts/shell.tsx';
import { type Column, Rows } from '../../parts/table.tsx';
import { number } from '../../words/format.ts';
import { words } from '../../words/operator-words.ts';
import { Traffic } from './live-traffic.tsx';

const everyMs = 3000;

interface Line {
  readonly name: string;
  readonly value: string;
  /** Null: not known. */
  readonly isWell: boolean | null;
  readonly hint: string;
}

const columns: readonly Column<Line>[] = [
  { title: words.live.what, cell: ({ name }) => name },
  {
    title: words.keys.state,
    cell: ({ isWell, value }) => (
      <Badge color={isWell === null ? 'gray' : isWell ? 'green' : 'red'} variant="light">
        {value}
      </Badge>
    ),
  },
  { title: words.live.means, cell: ({ hint }) => <Text size="sm">{hint}</Text> },
];

export function Live() {
  const health = useHealth(everyMs);
  // An old reading says nothing about the current health.
  const data = health.isError ? undefined : health.data;
  return (
    <Stack>
      <PageTitle>{words.pages.live}</PageTitle>
      <Traffic />
      <Failed of={health} />
      {data && (
        <Alert color={data.status === 'ok' ? 'green' : 'red'} title={words.live.states[data.status]} aria-live="polite">
          {words.live.every(everyMs / 1000)}
        </Alert>
      )}
      {data && (
        <Rows
          caption={words.pages.live}
          columns={columns}
          rows={linesOf(data)}
          idOf={({ name }) => name}
          empty={null}
        />
      )}
    </Stack>
  );
}

function linesOf(health: Health): Line[] {
  const { hints, names } = words.live;
  const part = (name: 'postgres' | 'redis' | 'catalogue'): Line => ({
    name: names[name],
    value: health[name] ? words.live.there : words.live.away,
    isWell: health[name],
    hint: hints[name],
  });
  type Count = 'audit_chain_faults' | 'receipt_integrity_faults' | 'receipt_log_faults' | 'ledger_set_aside';
  const faults = (name: Count): Line => {
    const count = health[name];
    return { name: names[name], value: number(count), isWell: count === null ? null : count === 0, hint: hints[name] };
  };
  return [
    ...(['postgres', 'redis', 'catalogue'] as const).map(part),
    {
      name: names.ledger_waiting,
      value: number(health.ledger_waiting),
      isWell: health.ledger_waiting === null ? null : true,
      hint: hints.ledger_waiting,
    },
    faults('ledger_set_aside'),
    faults('receipt_integrity_faults'),
    faults('receipt_log_faults'),
    faults('audit_chain_faults'),
    {
      name: names.integrity_check_overdue,
      value: health.integrity_check_overdue === null ? words.unknown : words.live.yesNo(health.integrity_check_overdue),
      isWell: health.integrity_check_overdue === null ? null : !health.integrity_check_overdue,
      hint: hints.integrity_check_overdue,
    },
  ];
}
