import { describe, expect, it } from "vitest";
import { apiClient } from "../support/http.ts";
import { testInstance } from "../support/instance.ts";

async function opened() {
  const instance = await testInstance();
  const executor = await instance.executor();
  const { url } = await instance.rest();
  const { value } = await instance.key({ scopes: ["read", "write", "publish", "run", "approve"] });
  return { instance, executor, call: apiClient(url, value) };
}

interface Entry {
  at: string;
  kind: string;
  step_id?: string;
  attempt?: number;
}

describe("the log of a run", () => {
  it("has its start, steps, retries and end in the order of time, in pages", async () => {
    const { call } = await opened();
    const steps = [
      { id: "first", type: "set", values: { n: 1 } },
      { id: "later", type: "wait", for: "1ms" },
      {
        id: "check",
        type: "assert",
        that: "steps.first.n == 2",
        needs: ["later"],
        retry: { attempts: 2, initial: "1ms", on: ["assert_failed"] },
      },
      { id: "never", type: "set", values: {}, needs: ["check"] },
    ];
    await call("POST", "/workflows", { name: "Log", definition: { steps } });
    const { body: run } = await call("POST", "/workflows/log/runs", { wait: 50 });
    expect(run.status).toBe("failed");
    const { body: entries } = (await call("GET", `/runs/${run.id}/log`)) as { body: Entry[] };
    expect(
      entries.map(({ kind, step_id: step, attempt }) =>
        [step, kind, attempt].filter((part) => part !== undefined).join(" "),
      ),
    ).toEqual([
      "run_created",
      "run_started",
      "first step_started",
      "first step_succeeded",
      "later step_started",
      "later step_waiting",
      "later step_succeeded",
      "check step_started 1",
      "check attempt_failed 1",
      "check attempt_started 2",
      "check step_failed",
      "run_failed",
    ]);
    expect(entries.map(({ at }) => at)).toEqual(entries.map(({ at }) => at).toSorted());
    expect(entries.at(-1)).toMatchObject({ error: { code: "assert_failed", step_id: "check" } });

    const paged: Entry[] = [];
    for (let link: string | null = `/runs/${run.id}/log?limit=5`; link !== null;) {
      const page: Awaited<ReturnType<typeof call>> = await call("GET", link);
      paged.push(...(page.body as Entry[]));
      link = /<([^>]+)>; rel="next"/.exec(page.headers.get("Link") ?? "")?.[1] ?? null;
    }
    expect(paged).toEqual(entries);
  });

  it("is a page without limit and cursor too, because each page is made of the whole log", async () => {
    const { call } = await opened();
    const steps = Array.from({ length: 101 }, (_, index) => ({ id: `s${index}`, type: "set", values: {} }));
    await call("POST", "/workflows", { name: "Long", definition: { steps } });
    const { body: run } = await call("POST", "/workflows/long/runs", { wait: 50 });
    const { body, headers } = await call("GET", `/runs/${run.id}/log`);
    expect(body).toHaveLength(200);
    expect(headers.get("X-Total-Count")).toBe("205");
    expect(headers.get("Link")).toContain('rel="next"');
  });

  it("says who cancelled the run, and what was asked of people", async () => {
    const { call } = await opened();
    const steps = [{ id: "ask", type: "approval", message: "Send it?" }];
    await call("POST", "/workflows", { name: "Ask", definition: { steps } });
    const { body: run } = await call("POST", "/workflows/ask/runs", { wait: 20 });
    await call("POST", `/runs/${run.id}/cancel`, {});
    const { body: entries } = await call("GET", `/runs/${run.id}/log`);
    expect(entries).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: "approval_requested", step_id: "ask", note: "Send it?" }),
        expect.objectContaining({ kind: "approval_cancelled", step_id: "ask" }),
        expect.objectContaining({ kind: "run_cancelled", by: "operator" }),
      ]),
    );
  });
});

describe("a search of runs over REST", () => {
  it("finds runs by what they took and gave, and names their workflow", async () => {
    const { call } = await opened();
    const definition = {
      inputs: { type: "object", properties: { city: { type: "string" } } },
      steps: [{ id: "a", type: "set", values: { text: "Hello ${{ inputs.city }}" } }],
    };
    await call("POST", "/workflows", { name: "Greet people", definition });
    const { body: run } = await call("POST", "/workflows/greet-people/runs", {
      inputs: { city: "Lisbon" },
      wait: 20,
    });
    await call("POST", "/workflows/greet-people/runs", { inputs: { city: "Porto" }, wait: 20 });
    for (const search of ["lisbon", "LISBON hello", run.id]) {
      const { body } = await call("GET", `/runs?search=${encodeURIComponent(search)}`);
      expect(body).toMatchObject([{ id: run.id, workflow_name: "Greet people" }]);
      expect(body).toHaveLength(1);
    }
    expect((await call("GET", "/runs?search=madrid")).body).toEqual([]);
  });
});
