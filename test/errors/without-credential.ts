/** A model whose provider names a credential that nobody has given; the catalogue is as before afterwards. */
import { apiOf, removeEntries } from '../operator-api.ts';
import { stack } from '../shared-stack.ts';

const id = 'no-credential';
export const modelWithoutCredential = 'no-credential/m';

export async function withoutCredential<T>(use: () => Promise<T>): Promise<T> {
  const operator = apiOf(stack);
  const provider = { id, name: id, base_url: `${stack.simulatorUrl}/v1`, credential_ref: 'NOBODY_HAS_IT' };
  const model = { id: modelWithoutCredential, owned_by: id, kind: 'chat', model_class: 'small' };
  const models = { [modelWithoutCredential]: 'sim-small' };
  try {
    await operator.send('POST', '/operator/v1/providers', provider);
    await operator.send('POST', '/operator/v1/models', model);
    await operator.send('POST', '/operator/v1/deployments', { id, provider: id, region: 'eu-north', models, pue: 1.1 });
    return await use();
  } finally {
    await removeEntries(operator, `deployments/${id}`, `models/${modelWithoutCredential}`, `providers/${id}`);
  }
}
