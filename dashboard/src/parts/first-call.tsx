/** The next step of whoever has made no call: the command that makes one. */
import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useAccount } from '../api/account.ts';
import { api, must } from '../api/client.ts';
import { words } from '../words/words.ts';
import { Copyable } from './copy.tsx';
import { Failed } from './failure.tsx';
import { Go } from './go.tsx';

export function FirstCall() {
  const account = useAccount();
  const models = useQuery({ queryKey: ['models'], queryFn: () => must(api.GET('/organisation/v1/models')) });
  if (account.data === undefined || models.data === undefined)
    return (
      <>
        <Failed of={account} />
        <Failed of={models} />
      </>
    );
  const [model] = models.data.data;
  if (model === undefined) return <Text>{words.firstCall.noModel}</Text>;
  return (
    <Stack gap="sm">
      <Text>
        {words.firstCall.hint} <Go to="/keys">{words.firstCall.keys}</Go>
      </Text>
      <Copyable label={words.firstCall.command} text={curl(account.data.base_url, model.id)} />
    </Stack>
  );
}

const curl = (base: string, model: string): string =>
  [
    `curl -sS ${base}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer $GW_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }).replaceAll("'", "'\\''")}'`,
  ].join('\n');
