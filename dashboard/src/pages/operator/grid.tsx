/** The carbon intensity that calls get in each grid zone at this moment, and the sources that it comes from. */
import { Badge, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, must } from '../../api/client.ts';
import type { GridZone } from '../../api/types.ts';
import { whileUsed } from '../../api/while-used.ts';
import { Copyable } from '../../parts/copy.tsx';
import { PageTitle } from '../../parts/shell.tsx';
import { type Column, Empty, Rows } from '../../parts/table.tsx';
import { short, time } from '../../words/format.ts';
import { words } from '../../words/operator-words.ts';

type Source = GridZone['sources'][number] & { readonly zone: string };

export function Grid() {
  const grid = useQuery({
    queryKey: ['grid'],
    queryFn: () => must(api.GET('/operator/v1/grid')),
    refetchInterval: () => whileUsed(15_000),
  });
  const sources = grid.data?.data.flatMap(({ id, sources: own }) => own.map((each) => ({ ...each, zone: id })));
  return (
    <Stack>
      <PageTitle>{words.pages.grid}</PageTitle>
      <Text size="sm">
        The value that the receipts of calls get at this moment. A live value is used until it is 120 minutes old; then
        that of the same hour a week ago stands in for it, and then the yearly average.
      </Text>
      <Rows
        caption={words.pages.grid}
        columns={zoneColumns}
        rows={grid.data?.data}
        idOf={({ id }) => id}
        query={grid}
        empty={<Empty title="No grid zone">A zone comes with the first region: ./gw admin regions add.</Empty>}
      />
      {sources && (
        <>
          <Title order={2} size="h4">
            {words.grid.sources}
          </Title>
          <Rows
            caption={words.grid.sources}
            columns={sourceColumns}
            rows={sources}
            idOf={({ source, zone }) => `${zone} ${source}`}
            empty={<NoSources />}
          />
        </>
      )}
    </Stack>
  );
}

type State = keyof typeof words.grid.states;
const colors: Readonly<Record<State, string>> = {
  live: 'green',
  tooOld: 'red',
  yearly: 'gray',
  missing: 'red',
  unused: 'gray',
};

function stateOf({ reading, regions, too_old }: GridZone): State {
  if (regions.length === 0) return 'unused';
  if (reading === null) return 'missing';
  const { temporal_match: match } = reading;
  if (match === 'annual_fallback' && !too_old) return 'yearly';
  // Another control plane may be configured with other sources.
  return too_old || match === 'prior_week' || match === 'none' ? 'tooOld' : 'live';
}

type Shown = NonNullable<GridZone['reading']>;
/** A cell of what the reading says, if there is one. */
const ofReading =
  (cell: (reading: Shown) => string) =>
  ({ reading }: GridZone) =>
    reading && cell(reading);

const zoneColumns: readonly Column<GridZone>[] = [
  { title: words.grid.zone, cell: ({ id }) => id },
  { title: 'Regions', cell: ({ regions }) => regions.join(', ') || 'no region' },
  { title: 'g CO₂e per kWh', cell: ofReading(({ g_per_kwh }) => short(g_per_kwh)), isNumber: true },
  { title: 'Counts', cell: ofReading(({ basis }) => words.grid.bases[basis]) },
  { title: words.grid.source, cell: ({ reading }) => reading && <Origin reading={reading} /> },
  { title: 'Kind of value', cell: ofReading(({ temporal_match: match }) => words.grid.matches[match]) },
  { title: 'Estimated', cell: ofReading(({ is_estimated }) => (is_estimated ? 'yes' : 'no')) },
  { title: 'Age', cell: ofReading(({ age_minutes }) => age(age_minutes)) },
  {
    title: 'State',
    cell: (zone) => {
      const state = stateOf(zone);
      return (
        <>
          <Badge color={colors[state]} variant="light">
            {words.grid.states[state]}
          </Badge>
          <Text size="xs" miw={180}>
            {words.grid.stateHints[state]}
          </Text>
        </>
      );
    },
  },
];

function Origin({ reading: { edition, source, vintage } }: { readonly reading: Shown }) {
  return (
    <>
      <Text size="sm" miw={180}>
        {vintage === null ? source : `${source}, of ${vintage}`}
      </Text>
      {edition !== null && (
        <Text size="xs" c="dimmed" truncate maw={240} title={edition}>
          {edition}
        </Text>
      )}
    </>
  );
}

/** A forecast has none. */
function age(minutes: number | null): string {
  const { days, hours, minutes: inMinutes, none } = words.grid.ages;
  if (minutes === null || minutes === 0) return none;
  if (minutes < 120) return inMinutes(short(minutes));
  return minutes < 2880 ? hours(short(minutes / 60)) : days(short(Math.floor(minutes / 1440)));
}

const sourceColumns: readonly Column<Source>[] = [
  { title: words.grid.zone, cell: ({ zone }) => zone },
  { title: words.grid.source, cell: ({ source }) => source },
  { title: 'Place', cell: ({ place }) => place || words.none },
  {
    title: 'Last said',
    cell: ({ newest }) =>
      newest === null ? 'nothing for 24 hours' : `${short(newest.g_per_kwh)} g/kWh for ${time(newest.observed_at)}`,
  },
  { title: 'Signal', cell: ({ newest }) => newest && words.grid.signals[newest.signal] },
  {
    title: 'State',
    cell: ({ paused }) => (
      <Badge color={paused === null ? 'green' : 'red'} variant="light">
        {paused === null ? 'is asked' : `not asked for a while: ${paused.replaceAll('_', ' ')}`}
      </Badge>
    ),
  },
];

function NoSources() {
  return (
    <Empty title="No live source">
      <Text>
        Receipts use yearly averages. Sources are named in the settings of the control plane, for example for Sweden and
        Great Britain:
      </Text>
      <Copyable label="A setting with two sources" text="GW_GRID_SOURCES=SWE=electricity-maps:SE,GBR=neso" />
    </Empty>
  );
}
