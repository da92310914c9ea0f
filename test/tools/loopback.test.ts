/** A proxy in the environment is for the way out: what the engine and its plugins say to each other stays here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutLoopbackProxy } from "../../tools/run.ts";

test("loopback joins no_proxy, in both spellings, and what was there stays", () => {
  const bare = withoutLoopbackProxy({ http_proxy: "http://proxy.example:3128" });
  assert.equal(bare["no_proxy"], "127.0.0.1,localhost,::1");
  assert.equal(bare["NO_PROXY"], "127.0.0.1,localhost,::1");
  assert.equal(bare["http_proxy"], "http://proxy.example:3128", "the way out still goes through it");
  assert.equal(bare["no_grpc_proxy"], undefined, "unset, so that gRPC looks at no_proxy");
  const given = withoutLoopbackProxy({ NO_PROXY: "example.org, localhost", no_grpc_proxy: "example.net" });
  assert.equal(given["no_proxy"], "example.org,localhost,127.0.0.1,::1");
  assert.equal(given["no_grpc_proxy"], "example.net,127.0.0.1,localhost,::1");
});
