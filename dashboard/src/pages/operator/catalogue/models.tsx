/** The models: what each one is, who says so, and by how many deployments it is served. */
import { Text } from '@mantine/core';
import { useDeployments, useModels } from '../../../api/operator-queries.ts';
import type { Model } from '../../../api/types.ts';
import { type Column, Empty } from '../../../parts/table.tsx';
import { number } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';
import { Entries, lastChangeColumn, warningsColumn } from './entries.tsx';

export function Models() {
  const models = useModels();
  const deployments = useDeployments().data?.data;
  const columns: readonly Column<Model>[] = [
    { title: words.catalogue.id, cell: ({ id }) => id },
    { title: 'Kind', cell: ({ kind }) => words.catalogue.modelKinds[kind] },
    { title: 'Made by', cell: ({ owned_by }) => owned_by },
    { title: 'Context window', cell: ({ context_window }) => number(context_window), isNumber: true },
    { title: 'Parameters', cell: (model) => <Parameters model={model} /> },
    {
      title: 'Deployments',
      cell: ({ id }) => number(deployments?.filter((each) => Object.hasOwn(each.models, id)).length),
      isNumber: true,
    },
    lastChangeColumn,
    warningsColumn,
  ];
  return (
    <Entries
      kind="models"
      columns={columns}
      entries={models.data?.data}
      idOf={({ id }) => id}
      query={models}
      empty={
        <Empty title="No model">
          Add the first one: ./gw admin models add, or read what a provider lists: ./gw admin providers import.
        </Empty>
      }
    />
  );
}

function Parameters({ model }: { readonly model: Model }) {
  const { active_parameters_b: active, model_class: size, parameters_source: source, total_parameters_b } = model;
  const total = total_parameters_b ?? active;
  if (total === null) return <Text size="sm">{sizeText(size)}</Text>;
  return (
    <>
      <Text size="sm">{words.catalogue.parametersOf(total, active)}</Text>
      {source !== null && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {`Source: ${source}`}
        </Text>
      )}
    </>
  );
}

function sizeText(size: Model['model_class']): string {
  if (size === null) return words.unknown;
  return size === 'unknown' ? 'size unknown' : `not known; counted as ${size.replaceAll('_', ' ')}`;
}
