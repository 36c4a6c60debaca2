import { expect, it } from "vitest";
import type { ApiKey } from "../../../schemas/api-key.ts";
import { groupApplications } from "../../../src/web/keys/application-groups.ts";

const access = (id: string, fields: Partial<ApiKey> = {}): ApiKey => ({
  id,
  name: "Claude (claude.ai)",
  owner: "ann@example.com",
  last_four: "abcd",
  scopes: ["read"],
  created_at: "2026-11-01T00:00:00.000Z",
  expires_at: "2026-12-01T00:00:00.000Z",
  last_used_at: null,
  state: "active",
  application: { client_id: `client_${id}`, host: "claude.ai" },
  ...fields,
});

it("An application is one entry, however often it was connected", () => {
  const groups = groupApplications([
    access("key_3", { state: "expiring", last_used_at: "2026-11-03T00:00:00.000Z" }),
    access("key_2", { last_used_at: "2026-11-05T00:00:00.000Z" }),
    access("key_1", { state: "revoked", last_used_at: "2026-11-01T00:00:00.000Z" }),
    access("key_0", { owner: "ben@example.com" }),
    access("key_x", { application: { client_id: "x", host: "claude.ai.evil.example.com" } }),
  ]);
  expect(
    groups.map(({ latest, usable, lastUsedAt }) => [latest.id, usable.map(({ id }) => id), lastUsedAt]),
  ).toEqual([
    ["key_3", ["key_3", "key_2"], "2026-11-05T00:00:00.000Z"],
    ["key_0", ["key_0"], null],
    ["key_x", ["key_x"], null],
  ]);
});
