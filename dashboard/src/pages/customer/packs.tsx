/** Evidence packs: ordered, watched while they are made, and taken along. */
import { Alert, Button, Card, Group, NativeSelect, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import { api } from '../../api/client.ts';
import { RefusedError } from '../../api/refused.ts';
import { useAccount } from '../../api/session.ts';
import { Failed, Failure } from '../../parts/failure.tsx';
import { PageTitle } from '../../parts/shell.tsx';
import { Empty } from '../../parts/table.tsx';
import { type OnceHeaders, useOnce } from '../../parts/use-once.ts';
import { number } from '../../words/format.ts';
import { words } from '../../words/words.ts';
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
        <Empty title="Evidence packs are not in the tier of this account">
          They come with Audit Plus and Enterprise. Ask the operator of the platform.
        </Empty>
      </>
    );
  return (
    <>
      <PageTitle>{words.pages.packs}</PageTitle>
      <Stack>
        <Failed of={account} />
        <Text size="sm">
          A pack holds the receipts of a period, signed, so that an auditor can check each number without the gateway.
        </Text>
        {/* Another order is another one, though it asks for the same. */}
        <OrderForm key={orders} onAgain={() => setOrders(orders + 1)} />
        <PacksMade />
        <Text size="sm">
          Keep a pack: the next one proves that nothing of it was changed. ./gw verify FILE --jwks KEYS checks it
          without this page; the keys are at /.well-known/jwks.json of the gateway.
        </Text>
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
      include_routing: form.get('routing') !== null,
    });
  };
  if (order.data)
    return (
      <Stack>
        {order.data.kind === 'pack' ? (
          <Taken {...order.data} />
        ) : (
          <Alert color="green">The pack is large, and is made now. It stands in the list below.</Alert>
        )}
        <Group>
          <Button variant="default" onClick={onAgain}>
            Order another one
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
              label="From (UTC day, inclusive)"
              defaultValue={day(Date.now() - 30 * dayMs)}
              required
            />
            <TextInput
              type="date"
              name="to"
              label="To (UTC day, exclusive)"
              defaultValue={day(Date.now() + dayMs)}
              required
            />
            <NativeSelect
              label={words.packs.format}
              value={format}
              onChange={({ currentTarget }) => setFormat(currentTarget.value as Order['format'])}
              data={formats.map((value) => ({ value, label: words.packs.formats[value] }))}
            />
          </Group>
          <Switch name="routing" label="With the routing of each call, so that pins and savings can be checked" />
          {format === 'jsonld' && (
            <Switch name="lineage" label="With the lineage of each receipt, so that its numbers can be made again" />
          )}
          <Failure error={order.error} />
          <Group>
            <Button type="submit" loading={order.isPending}>
              Order the pack
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
    <Alert color="green" title={`The pack is ready. Versions of receipts in it: ${number(receipts)}`}>
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

const formats = ['jsonld', 'csv', 'parquet'] as const;

interface Order {
  readonly from: string;
  readonly to: string;
  readonly format: (typeof formats)[number];
  readonly include_lineage: boolean;
  readonly include_routing: boolean;
}

type Ordered =
  /** A small pack is the reply itself, and lies in this page. */
  | {
      readonly kind: 'pack';
      readonly pack: Blob;
      readonly url: string;
      readonly name: string;
      readonly receipts: number;
    }
  | { readonly kind: 'job'; readonly id: string };

/** Orders a pack. Throws RefusedError. */
async function orderPack(body: Order, headers: OnceHeaders): Promise<Ordered> {
  const { error, data, response } = await api.POST('/organisation/v1/evidence-pack', {
    body,
    headers,
    parseAs: 'text',
  });
  const text = data as unknown as string;
  if (!response.ok) throw new RefusedError(response.status, error, response.headers.get('x-request-id'));
  const reply: unknown = JSON.parse(text);
  if (typeof reply !== 'object' || reply === null) throw new Error('The gateway sent neither a pack nor a job.');
  if (response.status === 202 && 'id' in reply) return { kind: 'job', id: String(reply.id) };
  const receipts = 'receipts' in reply && Array.isArray(reply.receipts) ? reply.receipts.length : 0;
  // To the byte as it was signed.
  const pack = new Blob([text], { type: 'application/ld+json' });
  return {
    kind: 'pack',
    pack,
    url: URL.createObjectURL(pack),
    name: `evidence-${body.from}-${body.to}.jsonld`,
    receipts,
  };
}
