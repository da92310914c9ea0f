// The arrows of docs/architecture.md: cli -> infra, report -> workloads/contract.ts; lab and workloads stand alone.
const nothingBut = (name, from, allowed, comment) => ({
  name,
  comment,
  severity: "error",
  from: { path: from },
  to: { path: "^(bench|cli|harness|infra|lab|report|standins|test|tools|workloads)/", pathNot: [from, ...allowed] },
});

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    { name: "no-orphans", severity: "error", from: { orphan: true, pathNot: ["\\.d\\.ts$"] }, to: {} },
    nothingBut("workloads-alone", "^workloads/", [], "it runs on the driver node and knows nothing of Pulumi"),
    {
      name: "workloads-by-registry",
      comment: "engine, loader and commands are handed plans and tables, whoever declares them",
      severity: "error",
      from: { path: "^workloads/", pathNot: "^workloads/(registry\\.ts|sysbench/)" },
      to: { path: "^workloads/sysbench/" },
    },
    {
      name: "contract-by-its-index",
      comment: "the parts share workloads/contract.ts, whatever files it is made of",
      severity: "error",
      from: { pathNot: "^workloads/contract(\\.ts|/)" },
      to: { path: "^workloads/contract/" },
    },
    nothingBut("lab-alone", "^lab/", [], "a program of its own behind a command line, as a cloud would be"),
    nothingBut(
      "infra-arrows",
      "^infra/",
      ["^workloads/(contract|spec-check|keep|engine/figures/merge)\\.ts$"],
      "infra and workloads share the contract and its checks",
    ),
    nothingBut(
      "report-arrows",
      "^report/",
      ["^workloads/(contract|keep|student)\\.ts$"],
      "a result is read without the code that made it",
    ),
    nothingBut("tools-arrows", "^tools/", [], "what brings an engine needs nothing of the product"),
    nothingBut(
      "cli-arrows",
      "^cli/",
      ["^infra/", "^report/", "^workloads/(contract|cli)\\.ts$", "^tools/"],
      "the commands around Pulumi",
    ),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { extensions: [".ts", ".js", ".mjs"] },
  },
};
