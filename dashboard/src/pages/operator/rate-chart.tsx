import '@mantine/charts/styles.css';
import { LineChart } from '@mantine/charts';
import type { LiveTraffic } from '../../api/types.ts';
import { short } from '../../words/format.ts';
import { words } from '../../words/operator-words.ts';

const texts = words.live.traffic;

interface RateChartProps {
  readonly points: readonly LiveTraffic[];
  /** Two points that lie further apart are not joined: nobody looked in between. */
  readonly brokenAfterMs: number;
}

export default function RateChart({ points, brokenAfterMs }: RateChartProps) {
  const isBroken = (point: LiveTraffic, before: LiveTraffic | undefined): boolean =>
    before !== undefined && Date.parse(point.at) - Date.parse(before.at) > brokenAfterMs;
  return (
    <LineChart
      h={220}
      role="img"
      aria-label={texts.chart}
      data={points.flatMap((point, at) => [
        ...(isBroken(point, points[at - 1]) ? [{ at: '…' }] : []),
        {
          at: point.at.slice(11, 19),
          [texts.rate]: point.calls_per_s,
          [texts.failed]: point.failed_per_s,
          [texts.refused]: point.refused_per_s,
          [texts.degraded]: point.degraded_per_s,
        },
      ])}
      connectNulls={false}
      dataKey="at"
      withDots={false}
      withLegend
      curveType="linear"
      series={[
        { name: texts.rate, color: 'green.8' },
        { name: texts.failed, color: 'red.7', strokeDasharray: '6 3' },
        { name: texts.refused, color: 'orange.8', strokeDasharray: '1 2' },
        { name: texts.degraded, color: 'gray.6', strokeDasharray: '2 3' },
      ]}
      valueFormatter={short}
    />
  );
}
