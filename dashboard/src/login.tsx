import { Alert, Button, Card, Center, SegmentedControl, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, must } from './api/client.ts';
import { useLookAgain } from './api/session.ts';
import { CodeField, codeIn, failureBeside, useAskedCode } from './parts/code-field.tsx';
import { CredentialField } from './parts/credential-field.tsx';
import { Failure } from './parts/failure.tsx';
import { words } from './words/words.ts';

type Kind = 'operator' | 'organisation_admin';

/** The server says it with the page. */
const said = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name=${name}]`)?.content;
const hasProvider = (kind: Kind): boolean => said('oidc')?.split(' ').includes(kind) === true;

/** Why a login with an identity provider has just failed, and whose it was. Forgotten with the first login that succeeds. */
let lastFailure = said('login-failed');
const firstKind: Kind = location.search.includes('as=operator') ? 'operator' : 'organisation_admin';
// A page that is loaded again tells nothing old.
if (lastFailure) history.replaceState(null, '', location.pathname);

/** To the provider of the organisation, which the domain of the e-mail names. */
function logInWithOrganisation(form: HTMLFormElement): void {
  const email = form.elements.namedItem('email') as HTMLInputElement;
  if (!email.reportValidity()) return;
  location.assign(
    `/session/oidc?${new URLSearchParams({ domain: email.value.slice(email.value.lastIndexOf('@') + 1) })}`,
  );
}

export function Login() {
  const [kind, setKind] = useState<Kind>(firstKind);
  const lookAgain = useLookAgain();
  const code = useAskedCode();
  const logIn = useMutation({
    mutationFn: (body: { email: string; credential: string; as: Kind; code?: string }) =>
      must(api.POST('/session', { body })),
    onSuccess: () => {
      lastFailure = undefined;
      return lookAgain();
    },
    onError: code.hear,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    logIn.mutate({
      email: String(form.get('email')),
      credential: String(form.get('credential')),
      as: kind,
      ...codeIn(form),
    });
  };
  return (
    <Center mih="100vh" p="md" component="main">
      <Card withBorder padding="lg" w="100%" maw={420}>
        <form onSubmit={submit}>
          <Stack>
            <title>{`${words.login.title} · ${words.product}`}</title>
            <Title order={1} size="h2">
              {words.login.title}
            </Title>
            {logIn.isIdle && lastFailure && (
              <Alert color="red" title={words.login.providerFailed} role="alert">
                {lastFailure}
              </Alert>
            )}
            <SegmentedControl
              aria-label="Log in as"
              value={kind}
              onChange={(value) => {
                setKind(value as Kind);
                code.forget();
              }}
              data={[
                { value: 'organisation_admin', label: 'Customer' },
                { value: 'operator', label: 'Operator' },
              ]}
            />
            <TextInput
              name="email"
              type="email"
              label={words.login.email}
              autoComplete="username"
              onChange={code.forget}
              required
            />
            <CredentialField name="credential" label={words.login.credential} />
            {code.isAsked && <CodeField />}
            <Failure error={failureBeside(logIn.error)} />
            <Button type="submit" loading={logIn.isPending}>
              Log in
            </Button>
            {kind === 'operator' && hasProvider(kind) && (
              <Button component="a" href="/session/oidc" variant="default">
                {words.login.withProvider}
              </Button>
            )}
            {kind === 'organisation_admin' && hasProvider(kind) && (
              <Button
                variant="default"
                onClick={({ currentTarget: { form } }) => form !== null && logInWithOrganisation(form)}
              >
                {words.login.withOrganisation}
              </Button>
            )}
            <Text size="xs" c="dimmed">
              {kind === 'operator'
                ? 'An admin creates your login. ./gw up prints where to find the first one.'
                : 'Your platform operator creates your login and gives you the credential. Operators log in under Operator.'}
            </Text>
          </Stack>
        </form>
      </Card>
    </Center>
  );
}
