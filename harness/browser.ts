/** Headless Chromium for tests of the page: a fresh profile, no background traffic, removed afterwards. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { chromium } from "playwright-core";
import { ensurePackages } from "./servers/debian.ts";

const EXECUTABLE = "/usr/bin/chromium";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Null with the reason where Chromium cannot be had. */
export async function browserReady(): Promise<string | null> {
  if (existsSync(EXECUTABLE)) return null;
  const packages = await ensurePackages(["chromium"]);
  return packages.ok ? null : packages.reason;
}

export interface Visit {
  page: Page /** Errors of the console and of the page, and every request beyond the file itself. */;
  complaints: string[];
}

/** Opens the file and hands the page over; the browser and its profile are gone when `use` has returned. */
export async function visit<T>(
  file: string,
  options: BrowserContextOptions,
  use: (visit: Visit) => Promise<T>,
): Promise<T> {
  const profile = await mkdtemp(join(tmpdir(), "meshbench-chromium-"));
  let context: BrowserContext | undefined;
  try {
    context = await chromium.launchPersistentContext(profile, {
      executablePath: EXECUTABLE,
      args: FLAGS,
      headless: true,
      ...options,
    });
    const page = context.pages()[0] ?? (await context.newPage());
    const complaints: string[] = [];
    page.on("console", (m) => {
      if (m.type() === "error" || m.type() === "warning") complaints.push(`${m.type()}: ${m.text()}`);
    });
    page.on("pageerror", (e) => complaints.push(`page error: ${e.message}`));
    page.on("dialog", (d) => {
      complaints.push(`dialog: ${d.message()}`);
      void d.dismiss();
    });
    page.on("request", (r) => {
      if (!r.url().startsWith("file:") && !r.url().startsWith("data:")) complaints.push(`request: ${r.url()}`);
    });
    await page.goto(`file://${file}`);
    return await use({ page, complaints });
  } finally {
    await context?.close();
    await rm(profile, { recursive: true, force: true });
  }
}
