/** LiteLLM's proxy as its package from PyPI starts it: one worker, without a database. */
import { dirname, join } from 'node:path';
import { pythonWith } from '@gw/stack/environments';
import { inPeers, type Peer, pinnedVersion } from './peer.ts';

/** LiteLLM would otherwise download these when it starts; this way it reads them from its package. */
const local = ['MODEL_COST_MAP', 'BLOG_POSTS', 'ANTHROPIC_BETA_HEADERS', 'AUTOROUTER_PRESETS', 'POLICY_TEMPLATES'];

export const litellm: Peer = {
  name: 'litellm',
  version: () => pinnedVersion('litellm', 'litellm', 'requirements.txt'),
  install: (log) => pythonWith('litellm', inPeers('litellm', 'requirements.txt'), log),
  plan: ({ dir, installed, model, port, providerUrl }) => ({
    command: installed,
    args: [
      join(dirname(installed), 'litellm'),
      '--config',
      join(dir, 'config.yaml'),
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      '--telemetry',
      'False',
    ],
    env: {
      HOME: dir,
      LANG: 'C.UTF-8',
      DISABLE_ADMIN_UI: 'True',
      HF_HUB_OFFLINE: '1',
      LITELLM_DISABLE_ACCESS_LOG_PATHS: '/v1/chat/completions',
      ...Object.fromEntries(local.map((name) => [`LITELLM_LOCAL_${name}`, 'True'])),
    },
    // JSON is YAML too.
    files: { 'config.yaml': JSON.stringify(configOf(model, providerUrl), null, 2) },
    headers: {},
  }),
};

function configOf(model: string, providerUrl: string): object {
  const params = { model: `openai/${model}`, api_base: providerUrl, api_key: 'none' };
  return {
    model_list: [{ model_name: model, litellm_params: params }],
    litellm_settings: { telemetry: false, num_retries: 0 },
    general_settings: {
      forward_client_headers_to_llm_api: true,
      // It has no key, and would not start.
      dangerously_permit_weak_or_unset_master_key: true,
    },
  };
}
