/** Statements that go out in one write, and whose answers come in their order. */
export class StatementGroup<S> {
  readonly #parts: Uint8Array[] = [];
  readonly #statements: S[] = [];
  readonly #kept: boolean[] = [];
  #at = 0;
  /** Bytes of the answers that have ended. */
  #passed = 0;

  /** @param bytes may be filled anew after the call @param kept its rows are wanted */
  add(bytes: Uint8Array, statement: S, kept: boolean): void {
    this.#parts.push(Uint8Array.from(bytes));
    this.#statements.push(statement);
    this.#kept.push(kept);
  }

  get size(): number {
    return this.#parts.length;
  }

  get over(): boolean {
    return this.#at === this.#parts.length;
  }

  /** @param end what follows the last statement */
  bytes(end?: Uint8Array): Buffer {
    return Buffer.concat(end === undefined ? this.#parts : [...this.#parts, end]);
  }

  /**
   * The answer in hand has ended.
   * @param received everything that has come for the group, null when no rows are wanted
   * @param position where in it the answer ends
   * @returns the answer's own bytes where they are wanted
   */
  answered(received: readonly Buffer[] | null, position: number): { bytes: Buffer; statement: S } | null {
    const at = this.#at++;
    const from = this.#passed;
    this.#passed = position;
    if (received === null || this.#kept[at] !== true) return null;
    return { bytes: Buffer.concat(received).subarray(from, position), statement: this.#statements[at] as S };
  }
}
