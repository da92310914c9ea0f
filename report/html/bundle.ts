/** The page's script: client/ and the needed parts of echarts in one minified file, made once per process. */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export interface Script {
  text: string /** For the page's Content-Security-Policy. */;
  sha256: string;
}

let made: Promise<Script> | undefined;

export function clientScript(): Promise<Script> {
  made ??= bundle();
  return made;
}

async function bundle(): Promise<Script> {
  const result = await build({
    entryPoints: [fileURLToPath(new URL("client/main.ts", import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: "es2022",
    legalComments: "none",
    logLevel: "silent",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const text = result.outputFiles[0]!.text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  return { text, sha256: createHash("sha256").update(text).digest("base64") };
}
