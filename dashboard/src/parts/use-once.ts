import { useState } from 'react';

/** An id for what a person wants done in this window: however often it is sent, it is done once. */
export const useOnce = (): string => useState(() => crypto.randomUUID())[0];
