/** The declarations of gpt-tokenizer name a type that browsers have; Node's is the same under another name. */
interface TextDecoder extends InstanceType<typeof import('node:util').TextDecoder> {}
