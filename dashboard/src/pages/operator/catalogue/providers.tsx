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
    { title: words.catalogue.address, cell: (provider) => <Address provider={provider} /> },
    {
      title: words.catalogue.credential,
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
      empty={<Empty title={words.catalogue.providersEmpty}>{words.catalogue.providersEmptyHint}</Empty>}
    >
      <Failed of={credentials} />
      <Failed of={changes} />
      <Text size="sm">{words.catalogue.credentialsHint}</Text>
      <Copyable label={words.catalogue.credentialCommand} text="./gw admin credentials set NAME < key.txt" />
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

function Address({ provider: { base_url, kind } }: { readonly provider: Provider }) {
  return (
    <>
      <Text size="sm" miw={180} style={{ overflowWrap: 'anywhere' }}>
        {base_url}
      </Text>
      {kind === 'simulator' && (
        <Badge color="gray" variant="light">
          {words.catalogue.simulator}
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
    state === 'elsewhere' && known?.origin && words.catalogue.setFor(known.origin),
    state === 'unreadable' && words.catalogue.unreadableHint,
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
    label: words.catalogue.testModel,
    value: model,
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => setModel(currentTarget.value),
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={words.catalogue.testTitle(name)}
      closeButtonProps={{ 'aria-label': words.close }}
    >
      <Stack>
        <Text size="sm">{words.catalogue.testHint}</Text>
        {offered.length > 0 ? <NativeSelect {...field} data={[...offered]} /> : <TextInput {...field} />}
        <Failure error={test.error} />
        {test.data && !test.isPending && <Result result={test.data} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {words.close}
          </Button>
          <Button disabled={model.trim() === ''} loading={test.isPending} onClick={() => test.mutate()}>
            {words.catalogue.testSend}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function Result({ result }: { readonly result: ProviderTest }) {
  const { asked, duration_ms, fields, message, status, works } = result;
  const answer = status === null ? words.catalogue.noAnswer : words.catalogue.answered(status, number(duration_ms));
  return (
    <Alert
      color={works ? 'green' : 'red'}
      title={works ? words.catalogue.works : words.catalogue.worksNot}
      role="status"
    >
      <Stack gap="xs">
        <Text size="sm">{message}</Text>
        <Fact name={words.catalogue.asked} value={asked} />
        <Fact name={words.catalogue.answer} value={answer} />
        <Fact name={words.catalogue.fields} value={fields.length === 0 ? words.none : fields.join(', ')} />
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
