/** Whether the client of a call is still there, and what has to be done when it goes. */
export class Client {
  #isThere = true;
  #then: (() => void) | null = null;

  get isThere(): boolean {
    return this.#isThere;
  }

  /** Sets what is done when the client goes, in place of what was set before; immediately if it has gone. */
  onGone(then: () => void): void {
    if (this.#isThere) this.#then = then;
    else then();
  }

  /** Has nothing done when the client goes. */
  forget(): void {
    this.#then = null;
  }

  leave(): void {
    this.#isThere = false;
    this.#then?.();
  }
}
