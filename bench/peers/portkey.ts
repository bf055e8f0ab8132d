/** Portkey's gateway as its package from npm starts it: one process, told by headers of each call which provider to ask. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nodeWith } from '@gw/stack/environments';
import { inPeers, type Peer, pinnedVersion, simulatorHeaders } from './peer.ts';

const packageName = '@portkey-ai/gateway';

export const portkey: Peer = {
  name: 'portkey',
  version: () => pinnedVersion(packageName, 'portkey', 'package.json'),
  install: (log) => nodeWith('peer-portkey', inPeers('portkey'), log),
  plan: ({ dir, installed, port, providerUrl }) => ({
    command: process.execPath,
    args: [
      '--import',
      pathToFileURL(inPeers('portkey', 'loopback.mjs')).href,
      join(installed, 'node_modules', packageName, 'build', 'start-server.js'),
      `--port=${port}`,
      '--headless',
    ],
    // Without "production" it keeps each call for its own page of logs.
    env: { HOME: dir, NODE_ENV: 'production', TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
    files: {},
    headers: {
      authorization: 'Bearer none',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': providerUrl,
      'x-portkey-forward-headers': simulatorHeaders.join(','),
    },
  }),
};
