/** The audit log: a chain for each account, and one for what concerns none. */
import { NativeSelect, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useChain } from '../../api/audit.ts';
import { api, must } from '../../api/client.ts';
import { Failed } from '../../parts/failure.tsx';
import { More } from '../../parts/more.tsx';
import { Empty, Rows } from '../../parts/table.tsx';
import { PageTitle } from '../../shell.tsx';
import { words } from '../../words/operator-words.ts';
import { auditColumns } from '../audit.tsx';

const ofOperators = 'operators';

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
      <NativeSelect
        maw={360}
        mb="sm"
        label={words.chains.chain}
        value={chain}
        onChange={({ currentTarget }) => setChain(currentTarget.value)}
        data={[...names]}
      />
      <Text size="sm" mb="md" style={{ overflowWrap: 'anywhere' }}>
        {head ? words.chains.head(head.seq, head.hash ?? words.unknown) : words.audit.chain}
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
