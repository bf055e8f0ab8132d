/** The providers, the state of their credentials, and a test call for admins. No credential is ever shown. */
import { Alert, Badge, Button, Code, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, must } from '../../../api/client.ts';
import { useCredentials, useDeployments, useProviderChanges, useProviders } from '../../../api/operator-queries.ts';
import type { Credential, Deployment, Provider, ProviderTest } from '../../../api/types.ts';
import { Copyable } from '../../../parts/copy.tsx';
import { Failed, Failure } from '../../../parts/failure.tsx';
import { type Column, Empty } from '../../../parts/table.tsx';
import { number, time } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';
import { Entries, type KindProps, LastChange, warningsColumn } from './entries.tsx';
import { credentialState } from './states.ts';

export function Providers({ mayChange }: KindProps) {
  const [chosen, setChosen] = useState<Provider | null>(null);
  const providers = useProviders();
  const credentials = useCredentials();
  const changes = useProviderChanges();
  const deployments = useDeployments();
  const columns: readonly Column<Provider>[] = [
    { title: words.catalogue.id, cell: ({ id }) => id },
    { title: words.catalogue.name, cell: ({ name }) => name },
    { title: 'Address', cell: (provider) => <Address provider={provider} /> },
    { title: 'APIs', cell: (provider) => <Apis provider={provider} /> },
    {
      title: 'Credential',
      cell: (provider) => credentials.data && <State provider={provider} credentials={credentials.data.data} />,
    },
    {
      title: words.catalogue.lastChange,
      cell: ({ id }) => <LastChange change={changes.data?.get(`provider:${id}`)} />,
    },
    warningsColumn,
    ...(mayChange ? [{ title: words.keys.actions, cell: testButton(setChosen) }] : []),
  ];
  return (
    <Entries
      kind="providers"
      columns={columns}
      entries={providers.data?.data}
      idOf={({ id }) => id}
      query={providers}
      empty={
        <Empty title="No provider">Add the first one: ./gw admin providers add, with --as for a well-known one.</Empty>
      }
    >
      <Failed of={credentials} />
      <Failed of={changes} />
      <Text size="sm">
        A credential is never shown. What is set here is what this control plane has; set or rotate one from the shell,
        where it is read from a file:
      </Text>
      <Copyable label="The command that sets a credential" text="./gw admin credentials set NAME < key.txt" />
      {chosen && deployments.data && (
        <ProviderTestDialog
          provider={chosen}
          offered={offeredBy(chosen.id, deployments.data.data)}
          onClose={() => setChosen(null)}
        />
      )}
    </Entries>
  );
}

const testButton = (onChoose: (provider: Provider) => void) => (provider: Provider) => (
  <Button
    size="compact-xs"
    variant="default"
    aria-label={`${words.catalogue.test}: ${provider.id}`}
    onClick={() => onChoose(provider)}
  >
    {words.catalogue.test}
  </Button>
);

/** The APIs that it speaks, and the tools that it may run for clients. */
function Apis({ provider: { apis, hosted_tools } }: { readonly provider: Provider }) {
  return (
    <>
      <Text size="sm">{apis.join(', ')}</Text>
      {hosted_tools.length > 0 && <Text size="xs">{`runs ${hosted_tools.join(', ')}`}</Text>}
    </>
  );
}

function Address({ provider: { base_url, kind } }: { readonly provider: Provider }) {
  return (
    <>
      <Text size="sm" miw={180} style={{ overflowWrap: 'anywhere' }}>
        {base_url}
      </Text>
      {kind === 'simulator' && (
        <Badge color="gray" variant="light">
          simulator
        </Badge>
      )}
    </>
  );
}

const colors = { none: 'gray', set: 'green', missing: 'red', elsewhere: 'red', unreadable: 'red' } as const;

interface StateProps {
  readonly provider: Provider;
  readonly credentials: readonly Credential[];
}

function State({ provider, credentials }: StateProps) {
  const state = credentialState(provider, credentials);
  const known = credentials.find(({ name }) => name === provider.credential_ref);
  const hints = [
    provider.credential_ref,
    known && [words.catalogue.from[known.source], known.set_at && time(known.set_at)].filter(Boolean).join(', '),
    state === 'elsewhere' && known?.origin && `It goes to ${known.origin} alone.`,
    state === 'unreadable' && 'It was set with another GW_CREDENTIALS_KEY.',
  ].filter((hint) => typeof hint === 'string');
  return (
    <>
      <Badge color={colors[state]} variant="light">
        {words.catalogue.credentialStates[state]}
      </Badge>
      {hints.map((hint) => (
        <Text key={hint} size="xs">
          {hint}
        </Text>
      ))}
    </>
  );
}

/** Returns what the deployments of a provider offer, by the names that it knows them by. */
const offeredBy = (provider: string, deployments: readonly Deployment[]): readonly string[] => [
  ...new Set(deployments.filter((each) => each.provider === provider).flatMap(({ models }) => Object.values(models))),
];

interface ProviderTestProps {
  readonly provider: Provider;
  readonly offered: readonly string[];
  readonly onClose: () => void;
}

function ProviderTestDialog({ provider: { id, name }, offered, onClose }: ProviderTestProps) {
  const [model, setModel] = useState(offered[0] ?? '');
  const test = useMutation({
    mutationFn: () =>
      must(api.POST('/operator/v1/providers/{id}/test', { params: { path: { id } }, body: { model: model.trim() } })),
  });
  const field = {
    label: 'Model, as the provider knows it',
    value: model,
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => setModel(currentTarget.value),
  };
  return (
    <Modal opened onClose={onClose} title={`Test call to ${name}`} closeButtonProps={{ 'aria-label': words.close }}>
      <Stack>
        <Text size="sm">
          The control plane makes one call of at most 16 tokens, which the provider may charge for. Nothing of it is in
          anybody’s usage.
        </Text>
        {offered.length > 0 ? <NativeSelect {...field} data={[...offered]} /> : <TextInput {...field} />}
        <Failure error={test.error} />
        {test.data && !test.isPending && <Result result={test.data} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {words.close}
          </Button>
          <Button disabled={model.trim() === ''} loading={test.isPending} onClick={() => test.mutate()}>
            Make the call
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Result({ result }: { readonly result: ProviderTest }) {
  const { asked, duration_ms, fields, message, status, works } = result;
  const answer = status === null ? 'no reply' : `HTTP ${status} after ${number(duration_ms)} ms`;
  return (
    <Alert
      color={works ? 'green' : 'red'}
      title={works ? 'The provider works' : 'The provider does not work'}
      role="status"
    >
      <Stack gap="xs">
        <Text size="sm">{message}</Text>
        <Fact name="Asked" value={asked} />
        <Fact name="Answer" value={answer} />
        <Fact name="Fields of usage and energy" value={fields.length === 0 ? words.none : fields.join(', ')} />
      </Stack>
    </Alert>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
      {name}: <Code>{value}</Code>
    </Text>
  );
}
