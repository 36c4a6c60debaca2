/** Requests that are still running when their key or session loses its rights. */
import { describe, expect, it } from "vitest";
import { SECOND } from "../../src/core/clock.ts";
import { createProject } from "../../tools/projects/create-project.ts";
import { revokeApiKey } from "../../tools/api-keys/revoke-api-key.ts";
import { updateUser } from "../../tools/users/update-user.ts";
import { createWorkflow } from "../../tools/workflows/create-workflow.ts";
import { apiClient } from "../support/http.ts";
import { fakeClock, testInstance } from "../support/instance.ts";
import { mockHttpServer, sendJson } from "../support/mock-http-server.ts";
import { addUser, callAs, signedInUser, signIn } from "../support/users.ts";

/** Two servers, an executor, and a peer that answers its first request when the test says so. */
async function open() {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const peer = await mockHttpServer((_request, response) => {
    asked.resolve();
    void answered.promise.then(() => sendJson(response, { secret: 42 }));
  });
  const clock = fakeClock();
  const config = { http: { allowed_hosts: [peer.host] } };
  const instance = await testInstance({ clock, config });
  await instance.executor({ config });
  const { url } = await instance.rest({ config });
  const root = await signedInUser(instance, { email: "root@example.com", role: "admin" });
  const admin = callAs(instance, root.principal);
  await admin(createProject, { name: "Sales" });
  const ann = await addUser(instance, { email: "ann@example.com", role: "editor" });
  const steps = [{ id: "ask", type: "http", url: peer.url }];
  const definition = {
    steps,
    output: "${{ steps.ask.body }}",
    schedule: { cron: "0 3 * * *" },
    examples: [{ name: "all", inputs: {}, expect: { secret: 42 } }],
  };
  const { id } = await admin(createWorkflow, { name: "Slow", definition });
  const { value: key, record } = await instance.key({
    owner: ann.email,
    scopes: ["read", "write", "publish", "run"],
  });
  /** Lets the peer answer after something happened, a while after the request began. */
  const during = async <T>(request: Promise<T>, happens: () => Promise<unknown>): Promise<T> => {
    await Promise.race([asked.promise, request.then((early) => expect(early).toBe("not answered yet"))]);
    clock.advance(2 * SECOND);
    await happens();
    answered.resolve();
    return request;
  };
  return { admin, ann, call: apiClient(url, key), during, id, instance, record, url };
}

const RUN = { wait: 20 };

describe("stillAllowed", () => {
  it("gives no output of a run to a key that was revoked while it waited, and lets the run go on", async () => {
    const { admin, call, during, id, instance, record } = await open();
    const answer = await during(call("POST", `/workflows/${id}/runs`, { ...RUN, version: 1 }), () =>
      admin(revokeApiKey, { key_id: record.id }),
    );
    expect([answer.status, answer.body.code]).toEqual([401, "unauthorized"]);
    expect(JSON.stringify(answer.body)).not.toContain("42");
    const { items } = await instance.read.runs.page({ filter: {}, after: null, limit: 5 });
    expect(items).toMatchObject([{ status: "succeeded" }]);
  });

  it("publishes nothing for a key whose owner lost the role meanwhile", async () => {
    const { admin, ann, call, during, id, instance } = await open();
    const answer = await during(call("POST", `/workflows/${id}/publish`, {}), () =>
      admin(updateUser, { user_id: ann.id, role: "viewer" }),
    );
    expect([answer.status, answer.body.code]).toEqual([403, "missing_scope"]);
    expect((await instance.read.workflows.find(id))!.published_version).toBeNull();
    expect(await instance.read.schedules.find(id)).toBeUndefined();
  });

  it("gives no output to a person who was deactivated meanwhile", async () => {
    const { admin, ann, during, id, instance, url } = await open();
    const { cookie } = await signIn(instance, ann);
    const headers = { Cookie: cookie, "Sec-Fetch-Site": "same-origin" };
    const request = apiClient(url)("POST", `/workflows/${id}/runs`, { ...RUN, version: 1 }, headers);
    const answer = await during(request, () => admin(updateUser, { user_id: ann.id, status: "deactivated" }));
    expect([answer.status, answer.body.code]).toEqual([401, "unauthorized"]);
  });

  it("answers a key that has expired meanwhile, whose client would renew it and send the request again", async () => {
    const { call, during, id, instance, record } = await open();
    const expires_at = new Date(instance.clock.now() + SECOND).toISOString();
    const answer = await during(call("POST", `/workflows/${id}/runs`, { ...RUN, version: 1 }), () =>
      instance.store.transaction((trx) =>
        trx.updateTable("api_keys").set({ expires_at }).where("id", "=", record.id).execute(),
      ),
    );
    expect(answer.body).toMatchObject({ status: "succeeded", output: { secret: 42 } });
  });

  it("answers as before where nothing was lost, also if rights were added", async () => {
    const { admin, call, during, id, instance } = await open();
    const answer = await during(call("POST", `/workflows/${id}/publish`, {}), () =>
      admin(createProject, { name: "Third" }),
    );
    expect(answer.status).toBe(200);
    expect((await instance.read.workflows.find(id))!.published_version).toBe(1);
  });
});
