import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CheckResult } from "../../src/commands/doctor/check-result.ts";
import { checkSignatures } from "../../src/commands/doctor/signatures.ts";
import { apiClient } from "../support/http.ts";
import { temporaryDirectory, testInstance } from "../support/instance.ts";
import { runCommand } from "../support/process.ts";
import { freePort } from "../support/postgres.ts";

const SECRETS = [
  { name: "svix", key_var: "HOOK_SVIX", hosts: [] },
  { name: "slack-app", key_var: "HOOK_SLACK", hosts: [] },
  { name: "good", key_var: "HOOK_GOOD", hosts: [] },
  { name: "words", key_var: "HOOK_WORDS", hosts: [] },
  { name: "token", key_var: "HOOK_TOKEN", hosts: [] },
];
const GOOD = {
  HOOK_SVIX: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  HOOK_SLACK: "8f742231b10e8888abcd99yyyzzz85a5",
  HOOK_WORDS: "plain",
  HOOK_TOKEN: "tökén",
};

const trigger = (id: string, scheme: string, secret: string | string[]) => ({
  id,
  type: "webhook",
  signature: { scheme, secret },
  deduplicate: "event.body.id",
});

/** An installation with a published workflow whose webhooks have secrets of several schemes. */
async function installed() {
  return published({
    triggers: [
      trigger("svix", "standard_webhooks", "svix"),
      trigger("slack", "slack", ["good", "slack-app"]),
      trigger("github", "github", "good"),
      { ...trigger("shared", "shared_secret", "words"), handshake: { type: "meta", verify_token: "token" } },
    ],
    steps: [
      { id: "paid", type: "wait", event: { signature: { scheme: "slack", secret: "good" } }, timeout: "1h" },
    ],
  });
}

async function published(definition: object) {
  const env = { ...GOOD, HOOK_GOOD: "anything" };
  const instance = await testInstance();
  const { url } = await instance.rest({ config: { secrets: SECRETS }, env });
  const { value: key } = await instance.key({ scopes: ["read", "write", "run", "publish"] });
  const call = apiClient(url, key);
  await call("POST", "/workflows", { name: "Hooked", definition });
  expect(await call("POST", "/workflows/hooked/publish", { version: 1 })).toMatchObject({ status: 200 });
  return instance;
}

describe("millrace doctor", () => {
  it("finds secrets of published webhooks without the form of their scheme, and prints no value", async () => {
    const instance = await installed();
    const { stateDir } = instance;
    await instance.close();
    const file = join(temporaryDirectory(), "config.yaml");
    writeFileSync(file, JSON.stringify({ secrets: SECRETS }));
    const doctor = async (env: Record<string, string>): Promise<CheckResult[]> => {
      const ports = ["--port", String(await freePort()), "--mcp-port", String(await freePort())];
      const { out } = await runCommand(["doctor", "--json", "--config", file, ...ports], {
        MILLRACE_STATE_DIR: stateDir,
        ...env,
      });
      expect(out).not.toContain("polar_whs");
      return (JSON.parse(out) as CheckResult[]).filter(({ check }) => check === "webhooks");
    };
    const wrong = {
      ...GOOD,
      HOOK_SVIX: "polar_whs_abc",
      HOOK_GOOD: "anything",
      HOOK_WORDS: "wörter",
      HOOK_TOKEN: "  ",
    };
    expect(await doctor(wrong)).toMatchObject([
      {
        status: "warning",
        detail: expect.stringContaining(
          "the secret words of hooked, trigger shared, has characters beyond ASCII",
        ),
        fix: "Set a secret of ASCII characters here and at the sender.",
      },
      {
        status: "error",
        detail: expect.stringContaining(
          "the secret token of hooked, handshake of shared, is only white space",
        ),
      },
      {
        status: "warning",
        detail: expect.stringContaining(
          "the secret good of hooked, trigger slack, is not 32 hexadecimal digits",
        ),
      },
      { status: "warning", detail: expect.stringContaining("the secret slack-app of hooked, trigger slack") },
      {
        status: "error",
        detail: expect.stringContaining("the secret svix of hooked, trigger svix, must be base64"),
        fix: "Copy the secret from the sender's settings once more.",
      },
      {
        status: "warning",
        detail: expect.stringContaining("the secret good of hooked, step paid, is not 32 hexadecimal digits"),
      },
    ]);
    const right = { ...GOOD, HOOK_SLACK: "0".repeat(32), HOOK_GOOD: "f".repeat(32) };
    expect(await doctor(right)).toMatchObject([{ status: "ok" }]);
  });

  it("says that it lists no more than 20 secrets", async () => {
    const names = ["svix", "slack-app", "good"];
    const { store } = await published({
      triggers: Array.from({ length: 7 }, (_, n) => trigger(`t${n}`, "github", names)),
      steps: [{ id: "kept", type: "set", values: { done: true } }],
    });
    const unfit = {
      scheme: "github",
      severity: "warning",
      message: "is short",
      fix: "set it",
      names,
    } as const;
    const results = await checkSignatures(store.read, [{ ...unfit, names: [...names] }]);
    expect(results).toHaveLength(21);
    expect(results.at(-1)).toMatchObject({ status: "warning", detail: "1 more secret is not listed" });
  });

  it("says nothing of webhooks where no version that is published has some", async () => {
    const { store } = await testInstance();
    expect(await checkSignatures(store.read, [])).toEqual([]);
  });
});
