/** The next step of whoever has made no call: the command that makes one. */
import { Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api, must } from '../api/client.ts';
import { useAccount } from '../api/session.ts';
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
  if (model === undefined)
    return <Text>The provider lists no model yet, so no call can be made. Ask the operator of the platform.</Text>;
  return (
    <Stack gap="sm">
      <Text>
        Make the first call with one of your keys in the variable GW_KEY. <Go to="/keys">Issue a key</Go>
      </Text>
      <Copyable label="A call with curl" text={curl(account.data.base_url, model.id)} />
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
