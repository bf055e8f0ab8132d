/** The query of the inference endpoints and of the list of models, which the same SDKs read. */
import { z } from 'zod';

/** SDKs add these to every address. They select a version of another service's API, so they have no effect here. */
export const inferenceQuerySchema = z.object({
  'api-version': z.string().optional().describe('Clients of Azure OpenAI send it. It has no effect'),
  beta: z.string().optional().describe("Anthropic's SDK sends it. It has no effect"),
});
