/** One step of a lineage: the formula, what goes in and from where, what comes out. */
import { Accordion, Anchor, Code, Group, Stack, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { LineageStep } from '../../../api/types.ts';
import { exact } from '../../../words/format.ts';

export interface StepProps {
  readonly step: LineageStep;
  /** Shows the step with this id. */
  readonly onFollow: (id: string) => void;
}

export function Step({ step, onFollow }: StepProps) {
  const { factors, inputs, output, uncertainty } = step;
  return (
    <>
      <Accordion.Control>
        <Group justify="space-between" gap="xs">
          <Text size="sm" fw={600}>
            {step.id}
          </Text>
          <Text size="sm">{withUnit(output)}</Text>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="xs">
          <Code block tabIndex={0}>
            {step.formula}
          </Code>
          <Text size="xs" c="dimmed">
            Formula by {step.origin}
          </Text>
          {inputs.length > 0 && (
            <Parts caption="Goes in">
              {inputs.map((input) => (
                <Part key={input.name} name={input.name} value={withUnit(input)}>
                  <Source source={input.source} fact={input.fact} onFollow={onFollow} />
                </Part>
              ))}
            </Parts>
          )}
          {factors.length > 0 && (
            <Parts caption="Factors">
              {factors.map((factor) => (
                <Part key={factor.name} name={factor.name} value={withUnit(factor)}>
                  <FactorSource {...factor} />
                </Part>
              ))}
            </Parts>
          )}
          {uncertainty && (
            <Text size="sm">
              Bounds: {exact(uncertainty.low)} – {exact(uncertainty.high)} {output.unit} ({uncertainty.basis})
            </Text>
          )}
        </Stack>
      </Accordion.Panel>
    </>
  );
}

const withUnit = ({ value, unit }: { readonly value: number | null; readonly unit: string }): string =>
  `${exact(value)} ${unit === '1' ? '' : unit}`;

function Parts({ caption, children }: { readonly caption: string; readonly children: ReactNode }) {
  return (
    <Table.ScrollContainer minWidth={420}>
      <Table aria-label={caption} verticalSpacing={2}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{caption}</Table.Th>
            <Table.Th>Value</Table.Th>
            <Table.Th>Source</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Part({
  name,
  value,
  children,
}: {
  readonly name: string;
  readonly value: string;
  readonly children: ReactNode;
}) {
  return (
    <Table.Tr>
      <Table.Td>
        <Code>{name}</Code>
      </Table.Td>
      <Table.Td>{value}</Table.Td>
      <Table.Td>{children}</Table.Td>
    </Table.Tr>
  );
}

const stepMark = 'step ';

function Source({ source, fact, onFollow }: LineageSource & Pick<StepProps, 'onFollow'>) {
  if (!source.startsWith(stepMark)) return [source, fact].filter(Boolean).join(' · ');
  const id = source.slice(stepMark.length);
  return (
    <Anchor component="button" type="button" size="sm" onClick={() => onFollow(id)}>
      {id}
    </Anchor>
  );
}
type LineageSource = Pick<LineageStep['inputs'][number], 'source' | 'fact'>;

function FactorSource({ source, version, date, licence, locator }: LineageStep['factors'][number]) {
  const named = [source, version, date, licence].filter(Boolean).join(' · ');
  // Anyone may have written the locator, so it becomes a link only if it is an https address.
  if (!locator || !/^https:\/\//.test(locator)) return [named, locator].filter(Boolean).join(' · ');
  return (
    <Anchor href={locator} size="sm" target="_blank" rel="noreferrer noopener">
      {named}
    </Anchor>
  );
}
