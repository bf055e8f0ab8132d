/** One application: what was declared and found at each step, and what is to be decided. */
import { Button, Card, Code, Group, Stack, Text, TextInput, Timeline } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, must } from '../../api/client.ts';
import type { ApplicationStep, OperatorSession } from '../../api/types.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Failed } from '../../parts/failure.tsx';
import { Go } from '../../parts/go.tsx';
import { PageTitle } from '../../parts/shell.tsx';
import { time } from '../../words/format.ts';
import { words } from '../../words/operator-words.ts';
import { type Decision, decisionsIn } from './decisions.ts';
import { StageBadge } from './onboarding.tsx';

export interface ApplicationPageProps {
  readonly id: string;
  readonly role: OperatorSession['role'];
}

export function ApplicationPage({ id, role }: ApplicationPageProps) {
  const [decision, setDecision] = useState<Decision | null>(null);
  const application = useQuery({
    queryKey: ['application', id],
    queryFn: () => must(api.GET('/operator/v1/applications/{account_id}', { params: { path: { account_id: id } } })),
    // The gateway goes on with it by itself.
    refetchInterval: ({ state: { data } }) => (data?.stage.endsWith('_screening') ? 2000 : false),
  });
  if (application.isError) return <Failed of={application} />;
  if (application.data === undefined) return null;
  const { name, stage, steps, tier, billing_contact: billing, technical_contact: technical } = application.data;
  const decisions = role === 'admin' ? decisionsIn(stage) : [];
  return (
    <Stack>
      <Go to="/onboarding">All applications</Go>
      <PageTitle>{name}</PageTitle>
      <Group gap="xs">
        <StageBadge stage={stage} />
        <Text size="sm">{words.limits.tiers[tier]}</Text>
      </Group>
      <Text size="sm">
        {words.onboarding.contacts(`${billing.name} ${billing.email}`, `${technical.name} ${technical.email}`)}
      </Text>
      {decisions.length > 0 && (
        <Group>
          {decisions.map((each) => (
            <Button key={each} {...(each.startsWith('reject') && { color: 'red' })} onClick={() => setDecision(each)}>
              {words.onboarding.decisions[each]}
            </Button>
          ))}
        </Group>
      )}
      <Timeline>
        {steps.map((step, at) => (
          <Timeline.Item key={at} title={`${step.step}. ${step.action}`}>
            <Step step={step} />
          </Timeline.Item>
        ))}
      </Timeline>
      {decision && <Decide id={id} decision={decision} onClose={() => setDecision(null)} />}
    </Stack>
  );
}

function Step({ step }: { readonly step: ApplicationStep }) {
  return (
    <Card withBorder padding="sm" mt="xs">
      <Text size="xs" c="dimmed">
        {time(step.at)} · {step.actor.id}
      </Text>
      <Evidence title="Given" value={step.input} />
      <Evidence title="Found" value={step.outcome} />
    </Card>
  );
}

/** As it was written down: what a screening found is evidence, and is not worded anew. */
function Evidence({ title, value }: { readonly title: string; readonly value: unknown }) {
  if (value === null || value === undefined || JSON.stringify(value) === '{}') return null;
  return (
    <>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Code block tabIndex={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {JSON.stringify(value, null, 2)}
      </Code>
    </>
  );
}

interface DecideProps {
  readonly id: string;
  readonly decision: Decision;
  readonly onClose: () => void;
}

function Decide({ id, decision, onClose }: DecideProps) {
  const [reason, setReason] = useState('');
  const options = { params: { path: { account_id: id } }, body: { reason } };
  return (
    <Confirm
      title={words.onboarding.decisions[decision]}
      hint={
        <Stack>
          <Text size="sm">
            The decision is final for this step, and stands in the audit log with your name and the reason.
          </Text>
          <TextInput
            label="Reason, at least 10 characters; the audit log keeps it"
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
            required
            data-autofocus
          />
        </Stack>
      }
      label={words.onboarding.decisions[decision]}
      isReady={reason.trim().length >= 10}
      isDangerous={decision.startsWith('reject')}
      send={() => must(api.POST(`/operator/v1/applications/{account_id}/${decision}`, options))}
      onClose={onClose}
    />
  );
}
