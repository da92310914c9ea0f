/**
 * A stand-in for the vendor's plugin of the Pulumi package `command`, version 1.2.1, for machines
 * that can't install it: local.Command, remote.Command and remote.CopyToRemote, over gRPC as the
 * engine starts any plugin. The vendor's plugin is used wherever it's installed.
 *
 * Usage: pulumi-resource-command [engine address]; prints the port it listens on.
 */
import { serve } from "../serve.ts";
import { CommandProvider } from "./service.ts";

serve("pulumi-resource-command", (engineAddress) => new CommandProvider(engineAddress));
