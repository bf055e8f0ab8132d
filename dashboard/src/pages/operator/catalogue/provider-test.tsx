/** One call to a provider, made by the control plane, and what came back. */
import { Alert, Button, Code, Group, Modal, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, must } from '../../../api/client.ts';
import type { Deployment, Provider, ProviderTest } from '../../../api/types.ts';
import { Failure } from '../../../parts/failure.tsx';
import { number } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';

/** Returns what the deployments of a provider offer, by the names that it knows them by. */
export const offeredBy = (provider: string, deployments: readonly Deployment[]): readonly string[] => [
  ...new Set(deployments.filter((each) => each.provider === provider).flatMap(({ models }) => Object.values(models))),
];

export interface ProviderTestProps {
  readonly provider: Provider;
  readonly offered: readonly string[];
  readonly onClose: () => void;
}

export function ProviderTestDialog({ provider: { id, name }, offered, onClose }: ProviderTestProps) {
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
