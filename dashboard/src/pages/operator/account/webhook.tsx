/** Where an account hears of its budgets, and how the last delivery went. */
import { Alert, Button, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, must } from '../../../api/client.ts';
import { RefusedError } from '../../../api/refused.ts';
import type { BudgetWebhook } from '../../../api/types.ts';
import { whileUsed } from '../../../api/while-used.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Failed } from '../../../parts/failure.tsx';
import { Empty } from '../../../parts/table.tsx';
import { number, time } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';
import { SetWebhook, webhookPath } from './set-webhook.tsx';

const texts = words.webhook;

export function Webhook({ accountId }: { readonly accountId: string }) {
  const [deed, setDeed] = useState<'set' | 'remove' | null>(null);
  const webhook = useQuery({
    queryKey: ['webhook of', accountId],
    queryFn: () => readWebhook(accountId),
    refetchInterval: ({ state }) => (state.data ? whileUsed(15_000) : false),
  });
  const close = () => setDeed(null);
  return (
    <>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {texts.title}
        </Title>
        {webhook.data !== undefined && (
          <Group gap="xs">
            <Button variant="default" size="xs" onClick={() => setDeed('set')}>
              {webhook.data === null ? texts.set : texts.setAgain}
            </Button>
            {webhook.data && (
              <Button variant="default" size="xs" onClick={() => setDeed('remove')}>
                {texts.remove}
              </Button>
            )}
          </Group>
        )}
      </Group>
      <Text size="sm">{texts.hint}</Text>
      <Failed of={webhook} />
      {webhook.data === null && <Empty title={texts.empty}>{texts.emptyHint}</Empty>}
      {webhook.data && <State of={webhook.data} />}
      {deed === 'set' && <SetWebhook accountId={accountId} url={webhook.data?.url ?? ''} onClose={close} />}
      {deed === 'remove' && <Remove accountId={accountId} onClose={close} />}
    </>
  );
}

/** Null where no address is set. */
async function readWebhook(accountId: string): Promise<BudgetWebhook | null> {
  try {
    return await must(api.GET(webhookPath, { params: { path: { accountId } } }));
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) return null;
    throw error;
  }
}

function State({ of }: { readonly of: BudgetWebhook }) {
  const facts: readonly (readonly [string, string])[] = [
    [texts.address, of.url],
    [texts.setAt, time(of.set_at)],
    [texts.waiting, number(of.waiting)],
    [texts.givenUp, number(of.given_up)],
    [texts.last, lastOf(of)],
  ];
  return (
    <Stack gap={4}>
      {!of.readable && <Alert color="red">{texts.unreadable}</Alert>}
      {facts.map(([name, value]) => (
        <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {name}: <Code>{value}</Code>
        </Text>
      ))}
    </Stack>
  );
}

function lastOf({ last_delivery: last }: BudgetWebhook): string {
  if (last === null) return texts.noDelivery;
  const status = last.status === null ? null : texts.status(last.status);
  const said = texts.delivery(texts.outcomes[last.outcome], time(last.at), last.month, last.threshold);
  return [said, status, last.error].filter(Boolean).join('. ');
}

const Remove = ({ accountId, onClose }: { readonly accountId: string; readonly onClose: () => void }) => (
  <Confirm
    title={texts.remove}
    hint={texts.removeHint}
    label={texts.remove}
    isDangerous
    send={() => must(api.DELETE(webhookPath, { params: { path: { accountId } } }))}
    onClose={onClose}
  />
);
