/**
 * A stand-in for the vendor's plugin of the Pulumi package `aws`, for tests without an account: what it keeps is in a
 * moto server, and every instance boots as a node on this machine. It never speaks with AWS. Which rules it has, and
 * from where: RULES.md. It is put on PATH by tests only.
 *
 * Environment: AWS_ENDPOINT_URL (moto), MESHBENCH_STANDIN_LAB.
 * Usage: pulumi-resource-aws [engine address]; prints the port it listens on.
 */
import { serve } from "../serve.ts";
import { AwsProvider } from "./service.ts";

serve("pulumi-resource-aws", (engineAddress) => new AwsProvider(engineAddress));
