/** The models on offer. They are honest about themselves: all are owned by "simulator". */

export interface SimModel {
  readonly id: string;
  readonly kind: 'chat' | 'embedding';
  /** Whether replies carry measured energy, in the shape of energy.ts. */
  readonly measuresEnergy: boolean;
  /** Streams run at this pace unless the request says otherwise. */
  readonly tokensPerSecond: number;
  readonly firstTokenMs: number;
}

const chat = (id: string, tokensPerSecond: number, firstTokenMs: number, measuresEnergy = false): SimModel => ({
  id,
  kind: 'chat',
  measuresEnergy,
  tokensPerSecond,
  firstTokenMs,
});

export const models: ReadonlyMap<string, SimModel> = new Map(
  [
    chat('sim-small', 80, 60),
    chat('sim-large', 40, 150),
    chat('sim-measured', 60, 100, true),
    { id: 'sim-embed', kind: 'embedding' as const, measuresEnergy: false, tokensPerSecond: 0, firstTokenMs: 0 },
  ].map((model) => [model.id, model]),
);

/**
 * Every `created` is this second (2025-01-01T00:00:00Z), in the list of models and in replies: the same request has to
 * give the same bytes, so nothing in a reply may come from a clock.
 */
export const CREATED = 1_735_689_600;

export const modelList: string = JSON.stringify({
  object: 'list',
  data: [...models.keys()].map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'simulator' })),
});
