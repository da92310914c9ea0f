/** A resource that a killed run was making, as far as the state knows it. */

export interface Lost {
  name: string;
  type: string;
  inputs: Record<string, unknown>;
  /** Of its provider, as in the state; secrets are encrypted there. */
  provider: Record<string, unknown>;
}

export interface LostInput {
  root: string;
  stack: string;
  lost: Lost[];
}

export type Say = (line: string) => void;
