/** The peer broke the protocol: its connection ends with this code (RFC 9113, section 7). */
export class ProtocolError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
