/** Legs in clouds for tests of what runs when; nothing of them is stood up. */
import { cellsOf, type Leg, legsOf, parseStudy, type Study } from "../../cli/study/file.ts";

const TEXT = `
name: places
config:
  operatorCidr: 203.0.113.7/32
  proxmoxToken: "t@pve!t=00000000-0000-0000-0000-000000000000"
  database: { engine: mariadb }
  proxy: { kind: none }
  driver: { placement: own }
  profile: smoke
  cost: { asOf: "2026-01-31", nodeHour: { home: 1, barn: 1 } }
topologies:
  aws: { sites: [{ name: aws, kind: aws, region: us-east-1, nodes: 1 }] }
  home: { sites: [&home { name: home, kind: proxmox, nodes: 1, endpoint: "https://pve.example.org:8006", address: 192.168.1.40/24, gateway: 192.168.1.1 }] }
  barn: { sites: [{ name: barn, kind: proxmox, nodes: 1, endpoint: "https://barn.example.org:8006", address: 192.168.2.40/24, gateway: 192.168.2.1 }] }
  both: { sites: [{ name: aws, kind: aws, region: us-east-1, nodes: 1 }, *home], driver: { site: aws }, database: { engine: galera } }
  here: { sites: [{ name: here, kind: local, nodes: 1 }] }
`;

export function legsOn(topologies: string[], more: Partial<Study> = {}): { study: Study; legs: Leg[] } {
  const study = { ...parseStudy(TEXT, "places.yaml"), ...more };
  const cells = cellsOf(study, undefined, () => ({}));
  return {
    study,
    legs: legsOf(
      study,
      topologies.map((t) => cells.find((c) => c.name === t)!),
      study.repeats,
    ),
  };
}
