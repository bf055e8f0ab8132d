/** Where an account hears of its budgets, and how the last delivery went. */
import { Alert, Button, Code, Group, Modal, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, must } from '../../../api/client.ts';
import { RefusedError } from '../../../api/refused.ts';
import type { BudgetWebhook } from '../../../api/types.ts';
import { whileUsed } from '../../../api/while-used.ts';
import { Confirm } from '../../../parts/confirm.tsx';
import { Failed, Failure } from '../../../parts/failure.tsx';
import { ShownOnce } from '../../../parts/shown-once.tsx';
import { Empty } from '../../../parts/table.tsx';
import { useOnce } from '../../../parts/use-once.ts';
import { number, time } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';

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

const webhookPath = '/operator/v1/accounts/{accountId}/budget-webhook';

interface SetWebhookProps {
  readonly accountId: string;
  /** The one that is set, or nothing. */
  readonly url: string;
  readonly onClose: () => void;
}

/** Sets the address that hears of budgets. The secret that signs what is sent is shown once. */
function SetWebhook({ accountId, url, onClose }: SetWebhookProps) {
  const queries = useQueryClient();
  const once = useOnce();
  const set = useMutation({
    mutationFn: (body: { url: string }) =>
      once(body, (headers) => must(api.PUT(webhookPath, { params: { path: { accountId } }, body, headers }))),
    // Not waited for: the secret is shown at once, whatever becomes of the rest of the page.
    onSuccess: () => void queries.invalidateQueries(),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    set.mutate({ url: String(new FormData(event.currentTarget).get('url')).trim() });
  };
  if (set.data)
    return (
      <ShownOnce
        title={texts.secretTitle}
        hint={texts.secretOnce}
        label={texts.secretTitle}
        text={set.data.secret}
        done={texts.secretDone}
        onClose={onClose}
      />
    );
  return (
    <Modal
      opened
      onClose={() => !set.isPending && onClose()}
      title={texts.title}
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <form onSubmit={submit}>
        <Stack>
          <Text size="sm">{texts.setHint}</Text>
          <TextInput name="url" type="url" label={texts.url} defaultValue={url} required data-autofocus />
          <Failure error={set.error} />
          <Button type="submit" loading={set.isPending}>
            {texts.set}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
