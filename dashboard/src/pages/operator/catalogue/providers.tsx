/** The providers, the state of their credentials, and a test call for admins. No credential is ever shown. */
import { Badge, Button, Text } from '@mantine/core';
import { useState } from 'react';
import { useCredentials, useDeployments, useProviderChanges, useProviders } from '../../../api/catalogue.ts';
import type { Credential, Provider } from '../../../api/types.ts';
import { Copyable } from '../../../parts/copy.tsx';
import { Failed } from '../../../parts/failure.tsx';
import { type Column, Empty } from '../../../parts/table.tsx';
import { time } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';
import { credentialState } from './credential-state.ts';
import { Entries, type KindProps, LastChange, warningsColumn } from './entries.tsx';
import { offeredBy, ProviderTestDialog } from './provider-test.tsx';

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
