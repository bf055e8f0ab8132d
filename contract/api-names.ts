/** The APIs of inference, by the names that the ledger, the catalogue and the sidecar's shapes (`ApiShape.name`) have for them. */
export const apiNames = ['chat', 'completions', 'embeddings', 'responses', 'messages'] as const;
export type ApiName = (typeof apiNames)[number];
