import { parseObject, withoutForgery } from './json-body.ts';

interface Json {
  readonly text: string;
  readonly value: Record<string, unknown>;
}

/** Returns an object, and its text, as its client gets it, but for the additions. */
export function unforged(object: Json): Json {
  const text = withoutForgery(object.text, object.value);
  return text === object.text ? object : { text, value: parseObject(text) ?? object.value };
}
