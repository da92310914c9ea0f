/**
 * A stand-in for the vendor's plugin of the Pulumi package `proxmoxve`, version 8.6.0, for tests: download.File,
 * VmLegacy and ContainerLegacy, over gRPC as the engine starts any plugin. It talks to the Proxmox API that the
 * configuration names, and gives every guest that it starts a node of the laboratory on this machine. RULES.md: what it
 * checks, and where that is from.
 *
 * Usage: pulumi-resource-proxmoxve [engine address]; prints the port it listens on. Environment: MESHBENCH_STANDIN_LAB,
 * the laboratory whose sites have the names of the stack's sites.
 */
import { serve } from "../serve.ts";
import { ProxmoxProvider } from "./service.ts";

serve("pulumi-resource-proxmoxve", () => new ProxmoxProvider());
