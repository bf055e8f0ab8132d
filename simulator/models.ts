/** The simulated models, all owned by "simulator". */

export interface SimModel {
  readonly id: string;
  readonly kind: 'chat' | 'embedding';
  /** Whether replies contain measured energy (energy.ts). */
  readonly measuresEnergy: boolean;
  /** Default pace of streams. */
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

/** Every `created` (2025-01-01T00:00:00Z), since the same request has to give the same bytes. */
export const CREATED = 1_735_689_600;

export const modelList: string = JSON.stringify({
  object: 'list',
  data: [...models.keys()].map((id) => ({ id, object: 'model', created: CREATED, owned_by: 'simulator' })),
});
