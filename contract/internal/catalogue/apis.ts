/** The APIs of inference that a provider can speak. Their names are those of the sidecar's shapes (`ApiShape.name`). */
import { z } from 'zod';
import { type ApiName, apiNames } from '../../api-names.ts';

export { type ApiName, apiNames };

/** A provider speaks these unless its entry says otherwise. */
export const usualApis: readonly ApiName[] = ['chat', 'completions', 'embeddings'];

/** As an operator gives them: each once, in any order. */
export const apisSchema = z
  .array(z.enum(apiNames))
  .min(1)
  .max(apiNames.length)
  .refine((names) => new Set(names).size === names.length, 'must name each API once')
  .transform((names) => apiNames.filter((name) => names.includes(name)));

export const areUsual = (names: readonly string[]): boolean =>
  names.length === usualApis.length && usualApis.every((name) => names.includes(name));

/** Returns the APIs that the provider of a deployment speaks, by its entry in the snapshot. */
export const apisOf = ({
  calls,
}: {
  readonly calls?: { readonly apis?: readonly string[] | undefined } | undefined;
}): readonly string[] => calls?.apis ?? usualApis;
