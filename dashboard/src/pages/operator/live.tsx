/** How the gateway is at this moment, read again every few seconds. */
import { Alert, Badge, Card, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState } from 'react';
import { api, must } from '../../api/client.ts';
import { useHealth } from '../../api/operator-queries.ts';
import type { Health, LiveTraffic } from '../../api/types.ts';
import { whileUsed } from '../../api/while-used.ts';
import { Failed } from '../../parts/failure.tsx';
import { Figure } from '../../parts/figure.tsx';
import { PageTitle } from '../../parts/shell.tsx';
import { type Column, Rows } from '../../parts/table.tsx';
import { number, short } from '../../words/format.ts';
import { words } from '../../words/operator-words.ts';

const everyMs = 3000;

interface Line {
  readonly name: string;
  readonly value: string;
  /** Null: not known. */
  readonly isWell: boolean | null;
  readonly hint: string;
}

const columns: readonly Column<Line>[] = [
  { title: 'What', cell: ({ name }) => name },
  {
    title: words.keys.state,
    cell: ({ isWell, value }) => (
      <Badge color={isWell === null ? 'gray' : isWell ? 'green' : 'red'} variant="light">
        {value}
      </Badge>
    ),
  },
  { title: 'What it means', cell: ({ hint }) => <Text size="sm">{hint}</Text> },
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
          {`Read again every ${everyMs / 1000} s.`}
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
    value: health[name] ? 'there' : 'away',
    isWell: health[name],
    hint: hints[name],
  });
  type Count =
    | 'audit_chain_faults'
    | 'deployments_needing_operator'
    | 'receipt_archive_faults'
    | 'evidence_pack_faults'
    | 'receipt_batch_faults'
    | 'receipt_integrity_faults'
    | 'receipt_log_faults'
    | 'ledger_witness_faults'
    | 'ledger_set_aside';
  const faults = (name: Count): Line => {
    const count = health[name];
    return { name: names[name], value: number(count), isWell: count === null ? null : count === 0, hint: hints[name] };
  };
  return [
    ...(['postgres', 'redis', 'catalogue'] as const).map(part),
    yesOrNo('Postgres went back in time', health.postgres_went_back, words.live.hints.postgres_went_back),
    {
      name: 'Receipts that wait',
      value: number(health.ledger_waiting),
      isWell: health.ledger_waiting === null ? null : true,
      hint: 'On their way to Postgres; a number that keeps growing means that Postgres is too slow or away.',
    },
    {
      name: 'Secrets that do not fit',
      value: health.secrets_unfit.length === 0 ? 'none' : health.secrets_unfit.join(', '),
      isWell: health.secrets_unfit.length === 0,
      hint: 'They are not the secrets that the stored data was made with: ./gw admin secrets.',
    },
    faults('deployments_needing_operator'),
    faults('ledger_set_aside'),
    faults('receipt_integrity_faults'),
    faults('receipt_batch_faults'),
    faults('receipt_archive_faults'),
    faults('evidence_pack_faults'),
    faults('receipt_log_faults'),
    faults('ledger_witness_faults'),
    faults('audit_chain_faults'),
    yesOrNo(
      'Check overdue',
      health.integrity_check_overdue,
      'Whether the last full check of the records is too long ago.',
    ),
  ];
}

const yesOrNo = (name: string, is: boolean | null, hint: string): Line => ({
  name,
  value: is === null ? words.unknown : is ? 'yes' : 'no',
  isWell: is === null ? null : !is,
  hint,
});

const RateChart = lazy(() => import('./rate-chart.tsx'));

const trafficEveryMs = 2000;
/** Ten minutes. */
const keptPoints = 300;
const texts = words.live.traffic;

/** Calls of this moment, and how they went in the last ten minutes in which the page was open. */
function Traffic() {
  const live = useQuery({
    queryKey: ['live'],
    queryFn: () => must(api.GET('/operator/v1/live')),
    refetchInterval: () => whileUsed(trafficEveryMs),
    retry: false,
    gcTime: 0,
  });
  const [points, setPoints] = useState<readonly LiveTraffic[]>([]);
  const now = live.isError ? undefined : live.data;
  useEffect(() => {
    if (now !== undefined) setPoints((before) => [...before, now].slice(-keptPoints));
  }, [now]);
  return (
    <Stack>
      <Failed of={live} />
      {now && <Figures of={now} />}
      {points.length > 1 && (
        <Card withBorder>
          <Title order={2} size="h5" mb="sm">
            {texts.chart}
          </Title>
          <Suspense fallback={null}>
            <RateChart points={points} brokenAfterMs={3 * trafficEveryMs} />
          </Suspense>
          <Text size="xs" c="dimmed" mt="xs">
            Over the last ten seconds. Calls are those that reached a provider; it fails also by refusing what a request
            asks for. Refused by the gateway are requests of any kind that reached none: without a valid key, over a
            limit, malformed …
          </Text>
        </Card>
      )}
    </Stack>
  );
}

function Figures({ of: live }: { readonly of: LiveTraffic }) {
  const p99 = (times: LiveTraffic['latency_ms']): string =>
    times ? `99 of 100 within ${short(times.p99)} ms` : 'no call has ended';
  const rate = (value: number | null): string => (value === null ? words.unknown : `${short(value)} /s`);
  const p50 = (times: LiveTraffic['latency_ms']): string => (times ? `${short(times.p50)} ms` : '–');
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }}>
      <Figure title={texts.rate} value={rate(live.calls_per_s)} hint={texts.sidecars(live.sidecars)} />
      <Figure
        title={texts.failed}
        value={rate(live.failed_per_s)}
        hint={`${rate(live.aborted_per_s)} left by their client`}
      />
      <Figure
        title={texts.refused}
        value={rate(live.refused_per_s)}
        hint={`${rate(live.errors_per_s)} failed in the gateway`}
      />
      <Figure
        title={texts.degraded}
        value={rate(live.degraded_per_s)}
        hint={`${number(live.open_streams)} open streams`}
      />
      <Figure title="Reply of the provider, median" value={p50(live.latency_ms)} hint={p99(live.latency_ms)} />
      <Figure title="Of the gateway, median" value={p50(live.overhead_ms)} hint={p99(live.overhead_ms)} />
    </SimpleGrid>
  );
}
