/** The steps from the facts of a call to its numbers, and whether they hold. */
import { Accordion, Alert, Anchor, Code, Group, Loader, Stack, Switch, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Lineage, LineageStep, Receipt } from '../../../api/types.ts';
import { Failed } from '../../../parts/failure.tsx';
import { Empty } from '../../../parts/table.tsx';
import { exact } from '../../../words/format.ts';

export interface LineageChainProps {
  readonly lineage: Lineage | null;
  /** Why there is none. */
  readonly explanation: string | null;
  readonly receipt: Receipt;
}

export function LineageChain({ lineage, explanation, receipt }: LineageChainProps) {
  const [open, setOpen] = useState<string[]>([]);
  const [showsAll, setShowsAll] = useState(false);
  if (lineage === null) return <Empty title="There is no lineage">{explanation}</Empty>;
  const central = centralSteps(lineage.steps);
  const steps = lineage.steps.filter(({ id }) => showsAll || central.has(id));
  /** Goes on to the step that gives a value: the link of an input. */
  const follow = (id: string) => {
    flushSync(() => {
      if (!central.has(id)) setShowsAll(true);
      setOpen((before) => [...new Set([...before, id])]);
    });
    // The focus goes along, and the page scrolls with it.
    document.getElementById(stepId(id))?.querySelector('button')?.focus();
  };
  return (
    <Stack>
      <Title order={2} size="h4">
        Where the numbers come from
      </Title>
      <Verdict lineage={lineage} receipt={receipt} />
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {steps.length} steps · {lineage.methodology}
        </Text>
        <Switch
          label="Show the steps of the bounds too"
          checked={showsAll}
          onChange={({ currentTarget }) => setShowsAll(currentTarget.checked)}
        />
      </Group>
      {/* From the numbers back to the facts: who asks begins at the end. */}
      <Accordion multiple value={open} onChange={setOpen} variant="separated">
        {steps.toReversed().map((step) => (
          <Accordion.Item key={step.id} value={step.id} id={stepId(step.id)}>
            <Step step={step} lineage={lineage} onFollow={follow} />
          </Accordion.Item>
        ))}
      </Accordion>
    </Stack>
  );
}

const stepId = (id: string): string => `step-${id}`;

/** The page checks the lineage with its own methodology and believes nothing that the lineage says about itself. */
function Verdict({ lineage, receipt }: { readonly lineage: Lineage; readonly receipt: Receipt }) {
  const verified = useQuery({
    queryKey: ['verified', receipt.id, receipt.version, lineage.digest],
    queryFn: async () => {
      const { verify } = await import('@gw/methodology/recompute');
      // The console is where a browser shows the stack of an error in the program.
      return verify(lineage as unknown as Parameters<typeof verify>[0], receipt, (error) => console.error(error));
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (verified.error) return <Failed of={verified} />;
  const { data: found } = verified;
  if (found === undefined)
    return (
      <Group gap="xs">
        <Loader size="xs" /> Recomputing in this browser
      </Group>
    );
  if (found.ok)
    return (
      <Alert color="green" title={`Recomputed in this browser: all ${found.checks.length} checks hold`}>
        {`Every number follows from the facts of the call by ${lineage.methodology}, of which this page holds its own copy.`}
      </Alert>
    );
  return (
    <Alert color="red" title="The lineage does not give this receipt" role="alert">
      <ul>
        {found.mismatches.map((mismatch) => (
          <li key={mismatch}>{mismatch}</li>
        ))}
      </ul>
    </Alert>
  );
}

const asked = ['energy_wh', 'carbon_g', 'water_ml'];

/** The ids of the steps that energy, carbon and water are made of; the others are of bounds and comparisons. */
function centralSteps(steps: readonly LineageStep[]): ReadonlySet<string> {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const found = new Set<string>();
  const left = [...asked];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    const step = byId.get(id);
    if (step === undefined || found.has(id)) continue;
    found.add(id);
    left.push(...step.inputs);
  }
  return found;
}

interface StepProps {
  readonly step: LineageStep;
  readonly lineage: Lineage;
  /** Shows the step with this id. */
  readonly onFollow: (id: string) => void;
}

/** One step of a lineage: the formula, what goes in and from where, what comes out. */
function Step({ step, lineage, onFollow }: StepProps) {
  const { output, uncertainty } = step;
  const isRead = ({ name }: { readonly name: string }): boolean => step.inputs.includes(name);
  const steps = lineage.steps.filter(({ id }) => step.inputs.includes(id));
  const [inputs, factors] = [lineage.inputs.filter(isRead), lineage.factors.filter(isRead)];
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
          {steps.length + inputs.length > 0 && (
            <Parts caption="Goes in">
              {steps.map((each) => (
                <Part key={each.id} name={each.id} value={withUnit(each.output)}>
                  <Anchor component="button" type="button" size="sm" onClick={() => onFollow(each.id)}>
                    {each.id}
                  </Anchor>
                </Part>
              ))}
              {inputs.map((input) => (
                <Part key={input.name} name={input.name} value={withUnit(input)}>
                  {[input.source, input.fact].filter(Boolean).join(' · ')}
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

function FactorSource({ source, version, date, licence, locator }: Lineage['factors'][number]) {
  const named = [source, version, date, licence].filter(Boolean).join(' · ');
  // Anyone may have written the locator, so it becomes a link only if it is an https address.
  if (!locator || !/^https:\/\//.test(locator)) return [named, locator].filter(Boolean).join(' · ');
  return (
    <Anchor href={locator} size="sm" target="_blank" rel="noreferrer noopener">
      {named}
    </Anchor>
  );
}
