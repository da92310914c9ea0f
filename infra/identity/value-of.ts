import type * as pulumi from "@pulumi/pulumi";

/** Undefined for a value that only an `up` will bring. */
export async function valueOf<T>(output: pulumi.Output<T>): Promise<T | undefined> {
  // The SDK tells it to itself only; an `apply` on an unknown value would be waited for in vain.
  const { isKnown } = output as unknown as { isKnown: Promise<boolean> };
  return (await isKnown) ? new Promise((resolve) => void output.apply(resolve)) : undefined;
}
