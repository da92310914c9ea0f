// Pulumi's entry stands in the root: a program's folder is where Pulumi looks for package.json, and where plugins run.
export { default } from "./infra/start.js";
