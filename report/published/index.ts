/** All published sets, by id. */
import { ReportError } from "../errors.ts";
import { distanceStudy } from "./distance.ts";
import { hybridStudy } from "./hybrid.ts";
import { leaseholderStudy } from "./leaseholder.ts";
import { replicationStudy } from "./replication.ts";
import type { PublishedSet } from "./set.ts";
import { storageStudy } from "./storage.ts";

export const publishedSets: readonly PublishedSet[] = [
  ...hybridStudy,
  ...distanceStudy,
  ...replicationStudy,
  ...leaseholderStudy,
];

/** Finds "000/hybrid", or every set of "000". Throws ReportError with what there is. */
export function findPublished(id: string): PublishedSet[] {
  if (id.split("/")[0] === storageStudy.id) {
    throw new ReportError(
      `published:${id}: study 002 gives its figures only in charts; its ${storageStudy.configurations.length} configurations are on record, numbers are not`,
    );
  }
  const found = publishedSets.filter((s) => s.id === id || s.id.startsWith(`${id}/`));
  if (found.length === 0)
    throw new ReportError(
      `published:${id}: there is no such set; there are ${publishedSets.map((s) => s.id).join(", ")}`,
    );
  return found;
}
