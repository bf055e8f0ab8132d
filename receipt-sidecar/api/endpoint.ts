/** The endpoints of inference, by their paths. */
export type Endpoint = 'chat' | 'completions' | 'embeddings';

export const endpoints: Readonly<Record<string, Endpoint>> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'completions',
  '/v1/embeddings': 'embeddings',
};
