import { DescribeImagesCommand, type EC2Client } from "@aws-sdk/client-ec2";
import { plainObject, type Values } from "../pulumi-resource-command/values.ts";

/** `aws.ec2.getAmi`: exactly one image, or the newest of several when that is asked for. */
export async function getAmi(args: Values, ec2: EC2Client): Promise<Values> {
  const { owners, filters, mostRecent } = plainObject(args) as {
    owners?: string[];
    filters?: { name: string; values: string[] }[];
    mostRecent?: boolean;
  };
  const { Images = [] } = await ec2.send(
    new DescribeImagesCommand({
      ...(owners === undefined ? {} : { Owners: owners }),
      Filters: (filters ?? []).map(({ name, values }) => ({ Name: name, Values: values })),
    }),
  );
  if (Images.length === 0)
    throw new Error("Your query returned no results. Please change your search criteria and try again.");
  if (Images.length > 1 && !mostRecent)
    throw new Error(
      "Your query returned more than one result. Please try a more specific search criteria, or set `most_recent` attribute to true.",
    );
  const newest = [...Images].sort((a, b) => (a.Name ?? "").localeCompare(b.Name ?? "")).at(-1);
  return {
    ...args,
    id: newest?.ImageId ?? "",
    imageId: newest?.ImageId ?? "",
    name: newest?.Name ?? "",
    ownerId: newest?.OwnerId ?? "",
    architecture: newest?.Architecture ?? "",
  };
}
