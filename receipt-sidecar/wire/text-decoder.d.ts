/** The declarations of gpt-tokenizer use the browsers' global type, which Node has under another name. */
interface TextDecoder extends InstanceType<typeof import('node:util').TextDecoder> {}
