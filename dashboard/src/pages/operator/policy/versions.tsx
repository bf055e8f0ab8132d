/** All versions of the rules, the newest first: it holds. An admin can publish the rules of an older one again. */
import { Badge, Button, Code, Group } from '@mantine/core';
import { useState } from 'react';
import { api, must } from '../../../api/client.ts';
import { useMaker, usePolicy } from '../../../api/operator-queries.ts';
import type { ListedVersion } from '../../../api/types.ts';
import { At } from '../../../parts/at.tsx';
import { More, usePages } from '../../../parts/pages.tsx';
import { type Column, Empty, Rows } from '../../../parts/table.tsx';
import { number } from '../../../words/format.ts';
import { words } from '../../../words/operator-words.ts';
import { Publish } from './publish.tsx';

export function Versions({ mayChange }: { readonly mayChange: boolean }) {
  const [chosen, setChosen] = useState<ListedVersion | null>(null);
  const policy = usePolicy();
  const maker = useMaker();
  const versions = usePages(['policy', 'versions'], (after) =>
    must(
      api.GET('/operator/v1/policy/versions', {
        params: { query: { limit: 50, ...(after !== undefined && { after: Number(after) }) } },
      }),
    ),
  );
  const holding = policy.data?.version;
  const columns: readonly Column<ListedVersion>[] = [
    { title: words.policy.version, cell: ({ version }) => <Version version={version} holds={version === holding} /> },
    { title: 'Published', cell: ({ created_at }) => <At time={created_at} /> },
    { title: words.policy.who, cell: ({ created_by }) => maker(created_by) },
    { title: 'Note', cell: ({ note }) => note },
    { title: 'Rules', cell: ({ rule_count }) => number(rule_count), isNumber: true },
    { title: words.policy.hash, cell: ({ sha256 }) => <Code style={{ overflowWrap: 'anywhere' }}>{sha256}</Code> },
    ...(mayChange ? [{ title: words.keys.actions, cell: againOf(holding, setChosen) }] : []),
  ];
  return (
    <>
      <Rows
        caption={words.policy.views.versions}
        columns={columns}
        rows={versions.rows}
        idOf={({ version }) => String(version)}
        query={versions}
        empty={<Empty title={words.policy.noRules} />}
      />
      <More {...versions} />
      {chosen && holding !== undefined && (
        <Publish
          title={words.policy.againTitle(chosen.version)}
          set={{ version: chosen.version }}
          basedOn={holding}
          onDone={() => {}}
          onClose={() => setChosen(null)}
        />
      )}
    </>
  );
}

function Version({ version, holds }: { readonly version: number; readonly holds: boolean }) {
  return (
    <Group gap="xs" wrap="nowrap">
      {version}
      {holds && (
        <Badge color="green" variant="light">
          holds
        </Badge>
      )}
    </Group>
  );
}

function againOf(holding: number | undefined, onChoose: (version: ListedVersion) => void) {
  return (listed: ListedVersion) =>
    holding !== undefined &&
    listed.version !== holding && (
      <Button
        size="compact-xs"
        variant="default"
        aria-label={words.policy.againTitle(listed.version)}
        onClick={() => onChoose(listed)}
      >
        Publish again
      </Button>
    );
}
