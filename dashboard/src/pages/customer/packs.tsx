/** Evidence packs: ordered, watched while they are made, and taken along. */
import { Alert, Button, Card, Group, NativeSelect, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { useAccount } from '../../api/account.ts';
import { Failed, Failure } from '../../parts/failure.tsx';
import { PageTitle } from '../../parts/shell.tsx';
import { Empty } from '../../parts/table.tsx';
import { useOnce } from '../../parts/use-once.ts';
import { number } from '../../words/format.ts';
import { words } from '../../words/words.ts';
import { formats, type Order, type Ordered, orderPack } from './order-pack.ts';
import { PacksMade } from './packs-made.tsx';
import { VerifyWindow } from './verify/verify-window.tsx';

const dayMs = 86_400_000;
const day = (at: number): string => new Date(at).toISOString().slice(0, 10);

export function Packs() {
  const [orders, setOrders] = useState(0);
  const [isVerifying, setIsVerifying] = useState(false);
  const account = useAccount();
  if (account.data?.scopes.includes('gw:export') === false)
    return (
      <>
        <PageTitle>{words.pages.packs}</PageTitle>
        <Empty title={words.packs.notInTier}>{words.packs.notInTierHint}</Empty>
      </>
    );
  return (
    <>
      <PageTitle>{words.pages.packs}</PageTitle>
      <Stack>
        <Failed of={account} />
        <Text size="sm">{words.packs.hint}</Text>
        {/* Another order is another one, though it asks for the same. */}
        <OrderForm key={orders} onAgain={() => setOrders(orders + 1)} />
        <PacksMade />
        <Text size="sm">{words.packs.keep}</Text>
        <Group>
          <Button variant="default" onClick={() => setIsVerifying(true)}>
            {words.packs.verify}
          </Button>
        </Group>
        {isVerifying && <VerifyWindow given={null} onClose={() => setIsVerifying(false)} />}
      </Stack>
    </>
  );
}

function OrderForm({ onAgain }: { readonly onAgain: () => void }) {
  const [format, setFormat] = useState<Order['format']>('jsonld');
  const once = useOnce();
  const queries = useQueryClient();
  const order = useMutation({
    mutationFn: (wanted: Order) => once(wanted, (headers) => orderPack(wanted, headers)),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['packs'] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    order.mutate({
      from: String(form.get('from')),
      to: String(form.get('to')),
      format,
      include_lineage: form.get('lineage') !== null,
    });
  };
  if (order.data)
    return (
      <Stack>
        {order.data.kind === 'pack' ? <Taken {...order.data} /> : <Alert color="green">{words.packs.entered}</Alert>}
        <Group>
          <Button variant="default" onClick={onAgain}>
            {words.packs.again}
          </Button>
        </Group>
      </Stack>
    );
  return (
    <Card withBorder>
      <form onSubmit={submit}>
        <Stack>
          <Group align="end">
            <TextInput
              type="date"
              name="from"
              label={words.packs.from}
              defaultValue={day(Date.now() - 30 * dayMs)}
              required
            />
            <TextInput type="date" name="to" label={words.packs.to} defaultValue={day(Date.now() + dayMs)} required />
            <NativeSelect
              label={words.packs.format}
              value={format}
              onChange={({ currentTarget }) => setFormat(currentTarget.value as Order['format'])}
              data={formats.map((value) => ({ value, label: words.packs.formats[value] }))}
            />
          </Group>
          {format === 'jsonld' && <Switch name="lineage" label={words.packs.lineage} />}
          <Failure error={order.error} />
          <Group>
            <Button type="submit" loading={order.isPending}>
              {words.packs.order}
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

function Taken({ name, pack, receipts, url }: Extract<Ordered, { kind: 'pack' }>) {
  const [isVerifying, setIsVerifying] = useState(false);
  // A pack is held in memory until it is left.
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return (
    <Alert color="green" title={words.packs.ready(number(receipts))}>
      <Group>
        <Button component="a" href={url} download={name} size="xs">
          {words.packs.download} {name}
        </Button>
        <Button variant="default" size="xs" onClick={() => setIsVerifying(true)}>
          {words.packs.verifyThis}
        </Button>
      </Group>
      {isVerifying && <VerifyWindow given={{ name, read: async () => pack }} onClose={() => setIsVerifying(false)} />}
    </Alert>
  );
}
