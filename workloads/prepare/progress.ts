/** Lines of progress for a load: at most one every two seconds, and always the last. */

export class LoadProgress {
  readonly #total: number;
  readonly #emit: (line: string) => void;
  readonly #started = performance.now();
  #rows = 0;
  #lastLine = performance.now();

  constructor(total: number, emit: (line: string) => void) {
    this.#total = total;
    this.#emit = emit;
  }

  get rows(): number {
    return this.#rows;
  }

  get seconds(): number {
    return (performance.now() - this.#started) / 1000;
  }

  add(rows: number): void {
    this.#rows += rows;
    const now = performance.now();
    if (now - this.#lastLine < 2000 && this.#rows < this.#total) return;
    this.#lastLine = now;
    const rate = this.#rows / Math.max(0.001, this.seconds);
    const left = (this.#total - this.#rows) / rate;
    this.#emit(
      `${this.#rows.toLocaleString("en")} of ${this.#total.toLocaleString("en")} rows (${Math.floor((100 * this.#rows) / this.#total)} %), ` +
        `${Math.round(rate).toLocaleString("en")} rows/s${left >= 1 ? `, about ${Math.ceil(left)} s left` : ""}`,
    );
  }
}
