/** Tools that a provider runs by itself: each can be allowed by the catalogue, and nothing of what it does can be measured. */
import type { HostedTool } from '../port/shape.ts';

/** Providers date the versions of their tools: `web_search_20250305`, `web_search_2025_08_26`. */
const date = /_(?:\d{8}|\d{4}_\d{2}_\d{2})$/;

export const hostedTool = (type: unknown, at: string): HostedTool => ({
  kind: String(type).slice(0, 64).replace(date, ''),
  at,
});
