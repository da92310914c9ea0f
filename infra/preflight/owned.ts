/** By what a stack's own is known: what is there already does not count a second time. */
export interface Owned {
  /** Of the stack, random, on everything that it made. Undefined for one that is not there yet, which owns nothing. */
  id: string | undefined;
  /** Of the stack as it was first, by which its guests and files on a Proxmox host are called. */
  name: string;
}
