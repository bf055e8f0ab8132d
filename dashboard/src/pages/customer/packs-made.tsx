/** The packs that a job makes or has made, the newest first. */
import { Anchor, Badge, Button, Group, Progress, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, must } from '../../api/client.ts';
import type { Pack } from '../../api/types.ts';
import { At } from '../../parts/at.tsx';
import { Failure } from '../../parts/failure.tsx';
import { type Column, Rows } from '../../parts/table.tsx';
import { date, number } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { VerifyWindow } from './verify/verify-window.tsx';

const isUnderWay = ({ state }: Pack): boolean => state === 'queued' || state === 'building';

const columns: readonly Column<Pack>[] = [
  { title: 'Ordered', cell: ({ created_at }) => <At time={created_at} /> },
  {
    title: 'Period',
    cell: ({ selection: { from, to } }) => (from === null ? 'named receipts' : `${date(from)} – ${date(to)}`),
  },
  { title: words.packs.format, cell: ({ format }) => format },
  { title: words.keys.state, cell: (pack) => <State pack={pack} /> },
  { title: words.keys.actions, cell: (pack) => <Deed pack={pack} /> },
];

export function PacksMade() {
  const packs = useQuery({
    queryKey: ['packs'],
    queryFn: () => must(api.GET('/organisation/v1/evidence-packs', { params: { query: { limit: 100 } } })),
    refetchInterval: ({ state: { data } }) => (data?.data.some(isUnderWay) ? 1000 : false),
  });
  if (packs.data?.data.length === 0) return null;
  return (
    <Stack>
      <Title order={2} size="h4">
        {words.packs.made}
      </Title>
      <Rows
        caption={words.packs.made}
        columns={columns}
        rows={packs.data?.data}
        idOf={({ id }) => id}
        query={packs}
        empty={null}
      />
    </Stack>
  );
}

function State({ pack }: { readonly pack: Pack }) {
  const { state, reason, receipts_done: done, receipts_total: total } = pack;
  const word = words.packs.states[state];
  if (!isUnderWay(pack))
    return (
      <>
        <Badge color={state === 'ready' ? 'green' : 'gray'} variant="light">
          {word}
        </Badge>
        {reason && <Text size="xs">{reason}</Text>}
      </>
    );
  return (
    <Stack gap={2} miw={160}>
      <Progress value={total ? (100 * done) / total : 0} animated aria-label={word} />
      <Text size="xs">
        {word}: {`${number(done)} of ${number(total)} versions of receipts`}
      </Text>
    </Stack>
  );
}

function Take({ pack: { format, id } }: { readonly pack: Pack }) {
  const [isVerifying, setIsVerifying] = useState(false);
  const name = `evidence-${id}.${format}`;
  const read = () =>
    must(api.GET('/organisation/v1/evidence-pack/{id}', { params: { path: { id } }, parseAs: 'blob' }));
  return (
    <Group gap="xs">
      <Anchor href={`/organisation/v1/evidence-pack/${id}`} download={name}>
        {words.packs.download}
      </Anchor>
      {format === 'jsonld' && (
        <Button size="compact-xs" variant="default" onClick={() => setIsVerifying(true)}>
          {words.packs.verifyThis}
        </Button>
      )}
      {isVerifying && <VerifyWindow given={{ name, read }} onClose={() => setIsVerifying(false)} />}
    </Group>
  );
}

function Deed({ pack }: { readonly pack: Pack }) {
  const queries = useQueryClient();
  const path = { params: { path: { id: pack.id } } };
  const cancel = useMutation({
    mutationFn: () => must(api.DELETE('/organisation/v1/evidence-pack/{id}', path)),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['packs'] }),
  });
  if (pack.state === 'ready') return <Take pack={pack} />;
  if (!isUnderWay(pack)) return null;
  return (
    <>
      <Button size="compact-xs" variant="default" onClick={() => cancel.mutate()} loading={cancel.isPending}>
        {words.cancel}
      </Button>
      <Failure error={cancel.error} />
    </>
  );
}
