#!/usr/bin/env node
// Plain JavaScript on purpose: an older Node must be able to read it in order to say that it is too old.
import { requireNode } from "../tools/node-version.js";

requireNode();
await import("./main.ts");
