/** Makes fail-over chains. */
import type { Candidate } from '@gw/receipt-sidecar/internals/catalogue/snapshot';
import type { Route } from '@gw/receipt-sidecar/internals/routing/route';
import { plainDeployment, plainModel } from '../catalogue.ts';

/** `name`: the provider's name for the model. */
export const candidate = (id: string, name: string, calls?: Candidate['deployment']['calls']): Candidate => ({
  deployment: {
    ...plainDeployment,
    id,
    region: 'r',
    models: { m: name },
    pue: 1,
    calls,
  },
  region: { code: 'r', name: 'r', country: 'r', gridZone: 'SWE', status: 'active', preference: 0 },
  gridAt: () => null,
  priceAt: () => null,
  signals: [],
});

export const routeOver = (...failoverChain: readonly [Candidate, ...Candidate[]]) =>
  ({ model: plainModel, modelOf: () => plainModel, failoverChain }) as unknown as Route;

/** The ids of the deployments in the order of attempts. */
export const chainOf = ({ failoverChain }: Pick<Route, 'failoverChain'>): string =>
  failoverChain.map(({ deployment }) => deployment.id).join('>');
