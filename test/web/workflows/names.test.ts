import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createElement, type ReactElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { MemoryRouter } from "react-router";
import { afterEach, describe, expect, it, vi } from "vitest";
import { invalidateWorkflows, workflowQuery } from "../../../src/web/workflows/queries.ts";
import { WorkflowLink, WorkflowName, workflowNameQuery } from "../../../src/web/workflows/names.tsx";

/** An element as HTML. */
function render(client: QueryClient, element: ReactElement): string {
  const page = createElement(
    QueryClientProvider,
    { client },
    createElement(MemoryRouter, null, createElement(MantineProvider, null, element)),
  );
  return renderToStaticMarkup(page).replaceAll(/<style.*?<\/style>/gs, "");
}

const nameOf = (client: QueryClient, id: string): string =>
  render(client, createElement(WorkflowName, { id }));

/** A server that has these workflows. @returns the ids of each request */
function serve(names: Readonly<Record<string, string>>): (string[] | undefined)[] {
  const requests: (string[] | undefined)[] = [];
  // Where the application has its path from.
  vi.stubGlobal("document", { querySelector: () => ({ content: "" }) });
  vi.stubGlobal("fetch", async (url: string) => {
    const ids = new URL(url, "http://millrace").searchParams.get("ids")?.split(",");
    requests.push(ids);
    const found = (ids ?? []).flatMap((id) => (id in names ? [{ id, name: names[id] }] : []));
    return new Response(JSON.stringify(found));
  });
  return requests;
}

afterEach(() => vi.unstubAllGlobals());

describe("the name of a workflow", () => {
  it("stands for its id, which is the tooltip", () => {
    const client = new QueryClient();
    client.setQueryData(workflowNameQuery("nihongo").queryKey, "週間売上レポート");
    expect(nameOf(client, "nihongo")).toMatch(/^<bdi[^>]* title="nihongo">週間売上レポート<\/bdi>$/);
    expect(render(client, createElement(WorkflowLink, { id: "nihongo" }))).toContain(
      'href="/workflows/nihongo"',
    );
  });

  it("is its id as code if the user can't see the workflow", () => {
    const client = new QueryClient();
    client.setQueryData(workflowNameQuery("secret").queryKey, null);
    expect(nameOf(client, "secret")).toMatch(/^<code[^>]*>secret<\/code>$/);
  });

  it("shows no id while it is loaded", () => {
    expect(nameOf(new QueryClient(), "slow")).toMatch(/^<bdi[^>]* aria-busy="true">…<\/bdi>$/);
  });

  it("is taken from the page of the workflow until it is loaded", () => {
    const client = new QueryClient();
    const workflow = { id: "nihongo", name: "週間売上レポート" };
    client.setQueryData(workflowQuery("nihongo").queryKey, { workflow, etag: "1" } as never);
    expect(nameOf(client, "nihongo")).toContain("週間売上レポート");
  });

  it("is read for all ids at once, and again after a change of workflows", async () => {
    const requests = serve({ a: "First", b: "Second" });
    const client = new QueryClient();
    const read = async () => Promise.all(["a", "b", "c"].map((id) => client.query(workflowNameQuery(id))));
    expect(await read()).toEqual(["First", "Second", null]);
    expect(await read()).toEqual(["First", "Second", null]);
    expect(requests).toEqual([["a", "b", "c"]]);
    await invalidateWorkflows(client);
    await read();
    expect(requests).toHaveLength(2);
  });
});
