import { expect, it } from "vitest";
import { checkResources } from "../../src/engine/check-resources.ts";

type Sources = Parameters<typeof checkResources>[0];

/** Ann administers, Vic views the default project, Eve is a member of finance, and Zoe's account is deactivated. */
const USERS: Readonly<Record<string, { role: string; status: string }>> = {
  "ann@example.com": { role: "admin", status: "active" },
  "vic@example.com": { role: "viewer", status: "active" },
  "eve@example.com": { role: "member", status: "active" },
  "zoe@example.com": { role: "admin", status: "deactivated" },
};

it("knows as users only people with a role in the project, so that it tells nothing about others", async () => {
  const resourcesOf = checkResources({
    views: { of: () => Promise.resolve({ connections: {}, key: "" }) },
    users: { findByEmail: (email: string) => Promise.resolve(USERS[email]) },
    projects: {
      membershipsOf: (email: string) =>
        Promise.resolve(new Map(email.startsWith("eve") ? [["finance", "viewer"]] : [])),
    },
  } as unknown as Sources);
  const knownIn = async (project?: string): Promise<string[]> => {
    const { isActiveUser } = await resourcesOf({ ...(project !== undefined && { project }) });
    const known: string[] = [];
    for (const email of [...Object.keys(USERS), "nobody@example.com"])
      if (await isActiveUser!(email.toUpperCase())) known.push(email);
    return known;
  };
  expect(await knownIn()).toEqual(["ann@example.com", "vic@example.com"]);
  expect(await knownIn("finance")).toEqual(["ann@example.com", "eve@example.com"]);
  expect(await knownIn("other")).toEqual(["ann@example.com"]);
});
