/** IPv4 arithmetic for the checks of addresses and networks. Pure. */

export interface Network {
  first: number;
  last: number;
}

/** "192.168.1.40" -> a number; undefined when it is no IPv4 address. */
export function parseAddress(text: string): number | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number);
  return parts === undefined || parts.some((p) => p > 255) ? undefined : parts.reduce((sum, p) => sum * 256 + p, 0);
}

export const formatAddress = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".");

/** "192.168.1.40/24" -> address and prefix length; undefined when it is none, or the mask is missing. */
export function parseCidr(text: string): { address: number; prefix: number } | undefined {
  const [address = "", mask = "", ...more] = text.split("/");
  const value = parseAddress(address);
  const prefix = /^\d{1,2}$/.test(mask) ? Number(mask) : NaN;
  return value === undefined || more.length > 0 || !(prefix >= 1 && prefix <= 32)
    ? undefined
    : { address: value, prefix };
}

/** The network that an address with its mask belongs to. */
export function networkOf(cidr: { address: number; prefix: number }): Network {
  const size = 2 ** (32 - cidr.prefix);
  const first = Math.floor(cidr.address / size) * size;
  return { first, last: first + size - 1 };
}

export const overlap = (a: Network, b: Network): boolean => a.first <= b.last && b.first <= a.last;
