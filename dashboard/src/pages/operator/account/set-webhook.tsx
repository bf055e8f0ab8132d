/** Sets the address that hears of budgets. The secret that signs what is sent is shown once. */
import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { api, must } from '../../../api/client.ts';
import { Failure } from '../../../parts/failure.tsx';
import { ShownOnce } from '../../../parts/shown-once.tsx';
import { useOnce } from '../../../parts/use-once.ts';
import { words } from '../../../words/operator-words.ts';

export const webhookPath = '/operator/v1/accounts/{accountId}/budget-webhook';
const texts = words.webhook;

export interface SetWebhookProps {
  readonly accountId: string;
  /** The one that is set, or nothing. */
  readonly url: string;
  readonly onClose: () => void;
}

export function SetWebhook({ accountId, url, onClose }: SetWebhookProps) {
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
