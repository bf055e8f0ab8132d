/** Calls of this moment, and how they went in the last ten minutes in which the page was open. */
import { Card, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState } from 'react';
import { api, must } from '../../api/client.ts';
import type { LiveTraffic } from '../../api/types.ts';
import { whileUsed } from '../../api/while-used.ts';
import { Failed } from '../../parts/failure.tsx';
import { Figure } from '../../parts/figure.tsx';
import { number, short } from '../../words/format.ts';
import { words } from '../../words/operator-words.ts';

const RateChart = lazy(() => import('./rate-chart.tsx'));

const everyMs = 2000;
/** Ten minutes. */
const keptPoints = 300;
const texts = words.live.traffic;

export function Traffic() {
  const live = useQuery({
    queryKey: ['live'],
    queryFn: () => must(api.GET('/operator/v1/live')),
    refetchInterval: () => whileUsed(everyMs),
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
            <RateChart points={points} brokenAfterMs={3 * everyMs} />
          </Suspense>
          <Text size="xs" c="dimmed" mt="xs">
            {texts.hint}
          </Text>
        </Card>
      )}
    </Stack>
  );
}

function Figures({ of: live }: { readonly of: LiveTraffic }) {
  const p99 = (times: LiveTraffic['latency_ms']): string => (times ? texts.p99(short(times.p99)) : texts.noCall);
  const rate = (value: number | null): string => (value === null ? words.unknown : `${short(value)} /s`);
  const p50 = (times: LiveTraffic['latency_ms']): string => (times ? `${short(times.p50)} ms` : '–');
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }}>
      <Figure title={texts.rate} value={rate(live.calls_per_s)} hint={texts.sidecars(live.sidecars)} />
      <Figure title={texts.failed} value={rate(live.failed_per_s)} hint={texts.aborted(rate(live.aborted_per_s))} />
      <Figure title={texts.refused} value={rate(live.refused_per_s)} hint={texts.errors(rate(live.errors_per_s))} />
      <Figure
        title={texts.degraded}
        value={rate(live.degraded_per_s)}
        hint={texts.streams(number(live.open_streams))}
      />
      <Figure title={texts.latency} value={p50(live.latency_ms)} hint={p99(live.latency_ms)} />
      <Figure title={texts.overhead} value={p50(live.overhead_ms)} hint={p99(live.overhead_ms)} />
    </SimpleGrid>
  );
}
