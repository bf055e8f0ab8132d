import { Button, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { api, must } from '../api/client.ts';
import { useLookAgain } from '../api/session.ts';
import { words } from '../words/words.ts';
import { CodeField, codeIn, failureBeside, useAskedCode } from './code-field.tsx';
import { CredentialField } from './credential-field.tsx';
import { Failure } from './failure.tsx';

/** Ends all sessions of the person, this one too: the login shows then. */
export function ChangeCredential({ onClose }: { readonly onClose: () => void }) {
  const lookAgain = useLookAgain();
  const code = useAskedCode();
  const change = useMutation({
    mutationFn: (body: { current: string; next: string; code?: string }) =>
      must(api.PUT('/session/credential', { body })),
    onSuccess: lookAgain,
    onError: code.hear,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    change.mutate({ current: String(form.get('current')), next: String(form.get('next')), ...codeIn(form) });
  };
  return (
    <Modal opened onClose={onClose} title="Change your credential" closeButtonProps={{ 'aria-label': words.close }}>
      <form onSubmit={submit}>
        <Stack>
          <CredentialField name="current" label="Current credential" />
          <CredentialField name="next" label="New credential, at least 12 characters" isNew />
          {code.isAsked && <CodeField />}
          <Failure error={failureBeside(change.error)} />
          <Text size="xs" c="dimmed">
            You log in anew afterwards, on every device.
          </Text>
          <Button type="submit" loading={change.isPending}>
            Change it
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
