/** Legacy completions, embeddings and the catalogue by the official client for Node. */
import { modelListSchema, modelSchema, regionListSchema, regionSchema } from '@gw/contract/catalogue';
import { completionResponseSchema } from '@gw/contract/completions';
import { embeddingResponseSchema } from '@gw/contract/embeddings';
import { expect, test } from 'vitest';
import { additionsOf, collect, get, openAi, quick, receiptOf } from './gateway.ts';

const client = openAi();
const gw = { region: 'eu-north' };

test('legacy completions answer each prompt, with one receipt for all of them', async () => {
  const request = { model: 'sim-small', prompt: ['One', 'Two'], gw };
  const reply = await client.completions.create(request);
  expect(reply.choices).toHaveLength(2);
  const { gw: receipt } = completionResponseSchema.parse(reply);
  expect(receipt).toMatchObject({
    region: 'eu-north',
    prompt_tokens: reply.usage?.prompt_tokens,
    completion_tokens: reply.usage?.completion_tokens,
  });
});

test('the stream of a legacy completion has the words of the JSON reply, and ends with the receipt', async () => {
  const request = { model: 'sim-small', prompt: 'Once' };
  const whole = await client.completions.create(request);
  const chunks = await collect(await client.completions.create({ ...request, stream: true }));
  expect(chunks.every((chunk) => chunk.choices[0] !== undefined)).toBe(true);
  expect(chunks.map((chunk) => chunk.choices[0]?.text).join('')).toBe(whole.choices[0]?.text);
  expect(chunks.filter((chunk) => additionsOf(chunk).gw)).toEqual([chunks.at(-1)]);
  expect(receiptOf(chunks.at(-1)).completion_tokens).toBe(whole.usage?.completion_tokens);
  const options = { ...request, stream: true as const, stream_options: { include_usage: true } };
  const last = (await collect(await client.completions.create(options))).at(-1);
  const { id: receipt_id, energy_wh, carbon_g } = receiptOf(last);
  expect(last).toMatchObject({ choices: [], usage: { ...whole.usage, gw: { receipt_id, energy_wh, carbon_g } } });
  expect(receiptOf(last).completion_tokens).toBe(whole.usage?.completion_tokens);
});

test("embeddings are the same as base64, the client's default, and as numbers, and cost more than nothing", async () => {
  const request = { model: 'sim-embed', input: ['One', 'Two'], dimensions: 8, gw };
  const packed = await client.embeddings.create(request);
  const plain = await client.embeddings.create({ ...request, encoding_format: 'float' });
  expect(packed.data.map((item) => Array.from(item.embedding))).toEqual(plain.data.map((item) => item.embedding));
  expect(plain.data[0]?.embedding).toHaveLength(8);
  for (const reply of [packed, plain]) {
    // The client has unpacked the vectors into typed arrays, which the wire never carries.
    const data = reply.data.map((item) => ({ ...item, embedding: Array.from(item.embedding) }));
    const { gw: receipt } = embeddingResponseSchema.parse({ ...reply, data });
    expect(receipt).toMatchObject({ region: 'eu-north', prompt_tokens: 2, completion_tokens: 0, tier: 'parametric' });
    expect(receipt.energy_wh).toBeGreaterThan(0);
    expect(receipt.carbon_g).toBeGreaterThan(0);
  }
});

test('token arrays are embedded as well', async () => {
  const reply = await client.embeddings.create({
    model: 'sim-embed',
    input: [
      [1, 2, 3],
      [4, 5],
    ],
  });
  expect(reply.data).toHaveLength(2);
  expect(receiptOf(reply).prompt_tokens).toBe(5);
});

test('models are listed and read one by one, and say what they offer', async () => {
  const list = await collect(client.models.list());
  expect(list.map((model) => model.id).sort()).toEqual(['sim-embed', 'sim-large', 'sim-measured', 'sim-small']);
  for (const model of list) {
    expect(modelSchema.parse(model).owned_by).toBe('simulator');
    expect(await client.models.retrieve(model.id)).toMatchObject(JSON.parse(JSON.stringify(model)));
  }
  expect(modelListSchema.parse((await get('/v1/models')).body).has_more).toBe(false);
});

test('regions are listed and read one by one, and every model says which of them serve it', async () => {
  const { data: regions } = regionListSchema.parse((await get('/v1/regions')).body);
  expect(regions.map((region) => region.code)).toEqual(['us-east', 'eu-north', 'eu-west']);
  for (const region of regions) {
    expect(region.grid_intensity_g_per_kwh).toBeGreaterThan(0);
    const one = regionSchema.parse((await get(`/v1/regions/${region.code}`)).body);
    expect(one).toMatchObject({ code: region.code, models: region.models, grid_zone: region.grid_zone });
  }
  const { data: models } = modelListSchema.parse((await get('/v1/models')).body);
  for (const model of models) {
    const serving = regions.filter((region) => region.models.includes(model.id)).map((region) => region.code);
    expect(model.regions).toEqual(serving);
  }
});

test('every model answers in every region that it names, and the receipt names that region', async () => {
  const { data: models } = modelListSchema.parse((await get('/v1/models')).body);
  const headers = { ...quick, 'x-sim-tokens': '2' };
  for (const { id, regions } of models) {
    for (const region of regions) {
      const options = { model: id, gw: { region } };
      const reply =
        id === 'sim-embed'
          ? await client.embeddings.create({ ...options, input: 'x' })
          : await client.completions.create({ ...options, prompt: 'x' }, { headers });
      expect(receiptOf(reply), `${id} in ${region}`).toMatchObject({ model: id, region, status: 'complete' });
    }
  }
});
