/** The steps from the facts of a call to its numbers, and whether they hold. */
import { Accordion, Alert, Group, Loader, Stack, Switch, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { flushSync } from 'react-dom';
import type { Lineage, Receipt } from '../../../api/types.ts';
import { Failed } from '../../../parts/failure.tsx';
import { Empty } from '../../../parts/table.tsx';
import { words } from '../../../words/words.ts';
import { centralSteps } from './central-steps.ts';
import { Step } from './step.tsx';

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
          {words.receipt.steps(steps.length)} · {lineage.methodology}
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
            <Step step={step} onFollow={follow} />
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
      <Alert color="green" title={words.receipt.holds(found.checks.length)}>
        {words.receipt.holdsHint(lineage.methodology)}
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
