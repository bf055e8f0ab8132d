/**
 * Energy that a provider reports of one call, by the one shape that the deployment that served it is configured for.
 *
 * Invariant: what looks like the energy of another shape is not believed. Where a provider says it several times its
 * last word counts, even if that word is refused. Nothing here throws.
 */
import { readEcologitsImpacts } from '@gw/methodology/telemetry/ecologits-impacts';
import { readEnergyHeader } from '@gw/methodology/telemetry/energy-header';
import { readGreenpt } from '@gw/methodology/telemetry/greenpt';
import { readMelious } from '@gw/methodology/telemetry/melious';
import { readNeuralwatt, readNeuralwattComment } from '@gw/methodology/telemetry/neuralwatt';
import type { TelemetryResult } from '@gw/methodology/telemetry/reading';

/** Where a shape has its energy, in Wh after reading. */
interface Shape {
  /** Reads a JSON reply, or a chunk of a stream. */
  readonly object?: (body: unknown) => TelemetryResult;
  /** Reads one comment line of a stream. */
  readonly comment?: (line: string) => TelemetryResult;
  /** Reads headers, whose names are in lower case. */
  readonly headers?: (headers: unknown) => TelemetryResult;
}

/** `gpu_counters` is not among them: no reply holds them. */
const shapes: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['neuralwatt', { object: readNeuralwatt, comment: readNeuralwattComment }],
  ['greenpt', { object: readGreenpt }],
  ['melious', { object: readMelious }],
  ['ecologits_impacts', { object: readEcologitsImpacts }],
  ['energy_header', { headers: readEnergyHeader }],
]);

export class EnergyReader {
  readonly #shape: Shape;
  #said: TelemetryResult = null;

  constructor(shape: Shape) {
    this.#shape = shape;
  }

  /** The last reading or refusal so far; null if nothing was said. */
  get said(): TelemetryResult {
    return this.#said;
  }

  /** Whether a stream can name its energy later than its usage. */
  get comesLate(): boolean {
    return this.#shape.object !== undefined;
  }

  takeHeaders(headers: Readonly<Record<string, string>>): void {
    this.#take(this.#shape.headers?.(headers));
  }

  takeObject(value: Readonly<Record<string, unknown>>): void {
    this.#take(this.#shape.object?.(value));
  }

  /** Takes a comment line of a stream, with its colon. */
  takeComment(line: string): void {
    this.#take(this.#shape.comment?.(line));
  }

  #take(result: TelemetryResult | undefined): void {
    if (result) this.#said = result;
  }
}

/** `shape` is that of the deployment, from the catalogue. Null if its replies have no energy that can be read. */
export function createEnergyReader(
  shape: string | null,
  headers: () => Readonly<Record<string, string>>,
): EnergyReader | null {
  const known = shape === null ? undefined : shapes.get(shape);
  if (!known) return null;
  const reader = new EnergyReader(known);
  if (known.headers) reader.takeHeaders(headers());
  return reader;
}
