/** Where a person sets and removes the second factor of the own login. */
import { Button, Center, Modal, Paper, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { QRCodeSVG } from 'qrcode.react';
import type { FormEvent, ReactNode } from 'react';
import { api, must } from '../api/client.ts';
import { useLookAgain } from '../api/session.ts';
import { time } from '../words/format.ts';
import { words } from '../words/words.ts';
import { CodeField } from './code-field.tsx';
import { Copyable } from './copy.tsx';
import { CredentialField } from './credential-field.tsx';
import { Failed, Failure } from './failure.tsx';

const key = ['second-factor'];
const texts = words.secondFactor;

export default function SecondFactor({ onClose }: { readonly onClose: () => void }) {
  const state = useQuery({ queryKey: key, queryFn: () => must(api.GET('/session/second-factor')) });
  return (
    <Modal opened onClose={onClose} title={texts.title} closeButtonProps={{ 'aria-label': words.close }}>
      <Failed of={state} />
      {state.data &&
        (state.data.set_at !== null ? (
          <Remove setAt={state.data.set_at} />
        ) : state.data.can_be_set ? (
          <Make />
        ) : (
          <Text size="sm">
            No second factor can be set here: the control plane has no GW_CREDENTIALS_KEY, which encrypts the secret.
          </Text>
        ))}
    </Modal>
  );
}

function Make() {
  const make = useMutation({
    mutationFn: (form: FormData) =>
      must(api.POST('/session/second-factor', { body: { credential: String(form.get('credential')) } })),
  });
  if (make.data !== undefined) return <Try made={make.data} />;
  return (
    <Form of={make} label="Set it up">
      <Text size="sm">
        With it a login needs a code of an authenticator (TOTP) beside the credential. Show your credential to set it
        up.
      </Text>
      <Credential />
    </Form>
  );
}

/** It counts only once its person has shown to have it. */
function Try({ made }: { readonly made: { readonly secret: string; readonly uri: string } }) {
  const lookAgain = useLookAgain();
  const confirm = useMutation({
    mutationFn: (form: FormData) =>
      must(api.PUT('/session/second-factor', { body: { code: String(form.get('code')) } })),
    onSuccess: lookAgain,
  });
  return (
    <Form of={confirm} label="Ask for codes from now on">
      <Text size="sm">Scan this with an authenticator, or type the secret into it. Then show a code of it.</Text>
      <Center>
        {/* Cameras read dark on light, in the dark too. */}
        <Paper bg="white" p="sm">
          <QRCodeSVG value={made.uri} size={200} title="QR code for an authenticator" />
        </Paper>
      </Center>
      <Copyable text={made.secret} label="Secret" />
      <CodeField />
      <Text size="xs" c="dimmed">
        You log in anew afterwards, on every device. If you lose the authenticator, an admin of the platform resets your
        credential.
      </Text>
    </Form>
  );
}

function Remove({ setAt }: { readonly setAt: string }) {
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: (form: FormData) =>
      must(
        api.POST('/session/second-factor/remove', {
          body: { credential: String(form.get('credential')), code: String(form.get('code')) },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: key }),
  });
  return (
    <Form of={remove} label="Remove it" isDangerous>
      <Text size="sm">{`Logins have asked for a code since ${time(setAt)}.`}</Text>
      <Credential />
      <CodeField />
    </Form>
  );
}

interface FormProps {
  readonly of: {
    readonly mutate: (form: FormData) => void;
    readonly error: Error | null;
    readonly isPending: boolean;
  };
  readonly label: string;
  readonly isDangerous?: boolean;
  readonly children: ReactNode;
}

function Form({ of, label, isDangerous, children }: FormProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    of.mutate(new FormData(event.currentTarget));
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        {children}
        <Failure error={of.error} />
        <Button type="submit" loading={of.isPending} {...(isDangerous && { color: 'red' })}>
          {label}
        </Button>
      </Stack>
    </form>
  );
}

const Credential = () => <CredentialField name="credential" label={words.login.credential} />;
