/** What an error says, for a person: a thrown value need not be an Error. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
