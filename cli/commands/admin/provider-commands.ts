/** `./gw admin providers test|import`: what a provider itself says. */
import { modelIdSchema } from '@gw/contract/internal/catalogue/model-fields';
import { Problem } from '@gw/stack/problem';
import { stringify } from 'yaml';
import { z } from 'zod';
import { type AdminCall, type AdminCommand, type AdminResult, given } from './command.ts';
import { card } from './table.ts';

const at = ({ arg }: AdminCall): string => `/operator/v1/providers/${encodeURIComponent(arg(0))}`;
const testSchema = z.looseObject({
  works: z.boolean(),
  apis: z.record(z.string(), z.string()).nullable(),
  proposed_apis: z.array(z.string()).nullable(),
});
const modelsSchema = z.object({
  models: z.array(
    z.object({
      id: z.string(),
      offered_as: z.array(z.string()),
      /** Fields of an entry, as the catalogue takes them. */
      proposed: z.record(z.string(), z.unknown()),
      because: z.string(),
    }),
  ),
});
type Listed = z.infer<typeof modelsSchema>['models'][number];

const entryOf = ({ id, proposed }: Listed, provider: string) => ({
  id,
  owned_by: provider,
  ...Object.fromEntries(Object.entries(proposed).filter(([, value]) => value !== null)),
});

/** As it stands in `gw.yaml`, each entry below what it says in words. */
function asYaml(models: readonly Listed[], provider: string): string {
  const entries = models.map((each) => {
    const [first = '', ...rest] = stringify([entryOf(each, provider)])
      .trimEnd()
      .split('\n');
    return [`  # ${each.because}`, ...[first, ...rest].map((line) => `  ${line}`)].join('\n');
  });
  const offers = stringify(Object.fromEntries(models.map(({ id }) => [id, id]))).trimEnd();
  const indented = offers.replace(/^/gm, '#       ');
  return `models:\n${entries.join('\n')}\n# In a deployment:\n#     models:\n${indented}\n`;
}

async function importModels(call: AdminCall): Promise<AdminResult> {
  const provider = call.arg(0);
  const { deployment } = given(call, 'deployment');
  const { models } = modelsSchema.parse(await call.api.get(`${at(call)}/models`));
  const usable = models.filter(({ id }) => modelIdSchema.safeParse(id).success);
  const odd = models.filter((each) => !usable.includes(each)).map(({ id }) => JSON.stringify(id));
  const note =
    odd.length === 0
      ? ''
      : `Left out, since they cannot be ids: ${odd.join(', ')}. Offer them under another: --model id=name.\n`;
  if (deployment !== undefined) return offerAll(call, usable, deployment, note);
  const fresh = usable.filter(({ offered_as }) => offered_as.length === 0);
  if (fresh.length === 0) return { value: [], text: `All models of ${provider} are offered already.\n`, note };
  return {
    value: fresh.map((each) => entryOf(each, provider)),
    text: asYaml(fresh, provider),
    note: `${note}Put into gw.yaml what is to be offered, or add all: ./gw admin providers import ${provider} --deployment <id>\n`,
  };
}

const deploymentSchema = z.object({ provider: z.string(), models: z.record(z.string(), z.string()) });
const idsSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

async function offerAll(
  { api, arg }: AdminCall,
  models: readonly Listed[],
  deployment: string,
  note: string,
): Promise<AdminResult> {
  const path = `/operator/v1/deployments/${encodeURIComponent(deployment)}`;
  const before = deploymentSchema.parse(await api.get(path));
  if (before.provider !== arg(0))
    throw new Problem(`The deployment ${deployment} is one of ${before.provider}, not of ${arg(0)}.`);
  const offered = new Set(Object.values(before.models));
  const fresh = models.filter(({ id }) => !offered.has(id));
  if (fresh.length === 0) return { value: before, text: `${deployment} offers all of them already.\n`, note };
  const known = new Set(idsSchema.parse(await api.get('/operator/v1/models')).data.map(({ id }) => id));
  for (const each of fresh)
    if (!known.has(each.id)) await api.send('POST', '/operator/v1/models', entryOf(each, arg(0)));
  const value = await api.send('PATCH', path, { models: Object.fromEntries(fresh.map(({ id }) => [id, id])) });
  const told = fresh.map(({ because, id }) => `${id}: ${known.has(id) ? 'as the catalogue has it' : because}\n`);
  return {
    value,
    text: told.join(''),
    note: `${note}Sizes that are guessed or unknown are set by ./gw admin models set.\n`,
  };
}

export const providerCommands: readonly AdminCommand[] = [
  {
    name: 'providers test',
    args: ['provider'],
    options: {
      model: 'as the provider knows it; the first that chats, of those that a deployment offers, unless given',
      'set-apis': 'yes: enter in the catalogue which APIs it was found to speak',
    },
    summary:
      'make a few calls to a provider and say what came back, which APIs it speaks, and which fields it refuses; the provider may charge for them',
    run: async (call) => {
      const value = await call.api.send('POST', `${at(call)}/test`, given(call, 'model'));
      const { apis, proposed_apis: proposed, works } = testSchema.parse(value);
      const sets = call.option('set-apis') === 'yes' && proposed !== null;
      if (sets) await call.api.send('PATCH', at(call), { apis: proposed });
      const found = Object.entries(apis ?? {}).map(([name, how]) => `${name} ${how}`);
      const text = card({ ...(value as Record<string, unknown>), apis: found.length === 0 ? null : found });
      const note = sets ? `Its entry now says apis: ${proposed.join()}.\n` : '';
      return { value, text, note, exitCode: works ? 0 : 1 };
    },
  },
  {
    name: 'providers import',
    args: ['provider'],
    options: { deployment: 'that is to offer all of them; unless given, they are printed as they stand in gw.yaml' },
    summary: "list a provider's models with what is known of each, or guessed from its name",
    run: importModels,
  },
];
