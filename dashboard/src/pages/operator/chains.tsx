/** The audit log: a chain for each account, and one for what concerns none. */
import { Alert, NativeSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChain } from '../../api/audit.ts';
import { api, must } from '../../api/client.ts';
import { useHealth } from '../../api/operator-queries.ts';
import { Failed } from '../../parts/failure.tsx';
import { More } from '../../parts/pages.tsx';
import { PageTitle } from '../../parts/shell.tsx';
import { Empty, Rows } from '../../parts/table.tsx';
import { number } from '../../words/format.ts';
import { words } from '../../words/operator-words.ts';
import { auditColumns } from '../audit.tsx';

const ofOperators = 'operators';
const checkedEveryMs = 30_000;

export function Chains() {
  const [chain, setChain] = useState(ofOperators);
  const heads = useQuery({ queryKey: ['heads'], queryFn: () => must(api.GET('/operator/v1/audit/heads')) });
  const entries = useChain({ chain });
  const names = new Set([ofOperators, ...(heads.data?.data.map((head) => head.chain) ?? [])]);
  const head = heads.data?.data.find((each) => each.chain === chain);
  return (
    <>
      <PageTitle>{words.pages.audit}</PageTitle>
      <Failed of={heads} />
      <Checked />
      <NativeSelect
        maw={360}
        mb="sm"
        label="Chain"
        value={chain}
        onChange={({ currentTarget }) => setChain(currentTarget.value)}
        data={[...names]}
      />
      <Text size="sm" mb="md" style={{ overflowWrap: 'anywhere' }}>
        {head
          ? `${head.seq} entries. Head: ${head.hash ?? words.unknown}. Keep it somewhere that nobody with the database can write to.`
          : words.audit.chain}
      </Text>
      <Rows
        caption={words.pages.audit}
        columns={auditColumns}
        rows={entries.rows}
        idOf={({ seq }) => String(seq)}
        query={entries}
        empty={<Empty title={words.audit.empty} />}
      />
      <More {...entries} />
    </>
  );
}

/** The findings of the job that checks all chains. */
function Checked() {
  const health = useHealth(checkedEveryMs);
  if (health.isError) return <Failed of={health} />;
  if (health.data === undefined) return null;
  const { audit_chain_faults: faults, integrity_check_overdue: isOverdue } = health.data;
  const isKnown = faults !== null && isOverdue !== null;
  const color = faults ? 'red' : isKnown && !isOverdue ? 'green' : 'orange';
  const title = faults
    ? `Entries that are not what was written: ${number(faults)}`
    : isKnown
      ? 'All chains are whole'
      : 'Nobody has checked the chains yet';
  return (
    <Alert color={color} title={title} mb="md" role="status">
      {isOverdue
        ? 'The last full check is too long ago: look at the log of the control plane.'
        : faults
          ? 'They were altered, put in or taken out. The log of the control plane names each, and so does ./gw admin audit verify.'
          : 'Each entry holds the digest of the one before it and a seal. A job of the gateway goes through all of them; ./gw admin audit verify does it at once.'}
    </Alert>
  );
}
