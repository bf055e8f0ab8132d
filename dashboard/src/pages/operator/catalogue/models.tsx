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
    { title: words.catalogue.kind, cell: ({ kind }) => words.catalogue.modelKinds[kind] },
    { title: words.catalogue.owner, cell: ({ owned_by }) => owned_by },
    { title: words.catalogue.window, cell: ({ context_window }) => number(context_window), isNumber: true },
    { title: words.catalogue.parameters, cell: (model) => <Parameters model={model} /> },
    {
      title: words.catalogue.servedBy,
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
      empty={<Empty title={words.catalogue.modelsEmpty}>{words.catalogue.modelsEmptyHint}</Empty>}
    />
  );
}

function Parameters({ model }: { readonly model: Model }) {
  const { active_parameters_b: active, model_class: size, parameters_source: source, total_parameters_b } = model;
  const total = total_parameters_b ?? active;
  if (total === null) return <Text size="sm">{size === null ? words.unknown : words.catalogue.ofClass(size)}</Text>;
  return (
    <>
      <Text size="sm">{words.catalogue.parametersOf(total, active)}</Text>
      {source !== null && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {words.catalogue.sourceOf(source)}
        </Text>
      )}
    </>
  );
}
