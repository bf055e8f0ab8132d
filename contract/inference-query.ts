/** The query of the inference endpoints and of the list of models, which the same SDKs read. */
import { z } from 'zod';

/** SDKs add these to every address. They select a version of another service's API, so they have no effect here. */
export const inferenceQuerySchema = z.object({
  'api-version': z.string().optional().describe('Clients of Azure OpenAI send it. It has no effect'),
  beta: z.string().optional().describe("Anthropic's SDK sends it. It has no effect"),
});

/** Claude Code and others ask for one page of all models. */
export const modelsQuerySchema = inferenceQuerySchema.extend({
  limit: z.coerce.number().int().min(1).max(1000).optional().describe('Models per page; all if absent'),
  after_id: z.string().optional().describe('`last_id` of the page before'),
});
export type ModelsQuery = z.infer<typeof modelsQuerySchema>;
