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
              {webhook.data === null ? texts.set : 'Set it anew'}
            </Button>
            {webhook.data && (
              <Button variant="default" size="xs" onClick={() => setDeed('remove')}>
                {texts.remove}
              </Button>
            )}
          </Group>
        )}
      </Group>
      <Text size="sm">It is told once for each budget and month when 80 % and when 100 % are used.</Text>
      <Failed of={webhook} />
      {webhook.data === null && (
        <Empty title="No address is set">
          Set one, and keep the secret that is shown: what is sent is signed with it.
        </Empty>
      )}
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
    ['Address', of.url],
    ['Set', time(of.set_at)],
    ['Waiting', number(of.waiting)],
    ['Given up', number(of.given_up)],
    ['Last delivery', lastOf(of)],
  ];
  return (
    <Stack gap={4}>
      {!of.readable && (
        <Alert color="red">
          Its secret was set with another GW_CREDENTIALS_KEY, and nothing is sent. Set the address anew.
        </Alert>
      )}
      {facts.map(([name, value]) => (
        <Text key={name} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {name}: <Code>{value}</Code>
        </Text>
      ))}
    </Stack>
  );
}

function lastOf({ last_delivery: last }: BudgetWebhook): string {
  if (last === null) return 'nothing was sent yet';
  const status = last.status === null ? null : `HTTP ${last.status}`;
  const said = `${texts.outcomes[last.outcome]}, ${time(last.at)}: ${last.threshold} % of a budget of ${last.month}`;
  return [said, status, last.error].filter(Boolean).join('. ');
}

const Remove = ({ accountId, onClose }: { readonly accountId: string; readonly onClose: () => void }) => (
  <Confirm
    title={texts.remove}
    hint="Nobody is told of budgets any more, and what waits to be sent is forgotten."
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
        hint="It is shown this once. Hand it to those who verify x-gw-signature."
        label={texts.secretTitle}
        text={set.data.secret}
        done="I have handed it on"
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
          <Text size="sm">A new secret is made and shown once. One that was set before signs no more.</Text>
          <TextInput name="url" type="url" label="Address (https)" defaultValue={url} required data-autofocus />
          <Failure error={set.error} />
          <Button type="submit" loading={set.isPending}>
            {texts.set}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
