/** A mistake of the user or a broken input file: its message is the whole of what is shown, without a stack trace. */
export class ReportError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ReportError";
  }
}
