/** `owned`: the stack's own tags, whose instances and addresses are there already and do not count a second time. */
export interface Owned {
  project: string;
  stack: string;
}
