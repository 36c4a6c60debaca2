import { List, MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { PublishedStarts } from "../../../src/web/workflows/published-starts.tsx";

const textOf = (definition: Record<string, unknown>): string => {
  const list = createElement(List, null, createElement(PublishedStarts, { definition }));
  const page = createElement(QueryClientProvider, { client: new QueryClient() }, list);
  return renderToStaticMarkup(createElement(MantineProvider, null, page))
    .replace(/<style[^]*?<\/style>/g, "")
    .replace(/<[^>]+>/g, "");
};

const triggers = [{ id: "pushed", type: "webhook" }];
const schedule = { cron: "0 3 * * *", timezone: "Europe/Berlin" };

describe("what starts a published workflow", () => {
  it("is its webhooks and its schedule", () => {
    expect(textOf({ triggers })).toBe(
      "The webhook pushed starts runs. Its URL is on the page of the workflow.",
    );
    expect(textOf({ schedule })).toMatch(/^Schedule: .* \(Europe\/Berlin\)\.$/);
    expect(textOf({ schedule, triggers })).toMatch(/^Schedule: .*The webhook pushed starts runs/);
  });

  it("is somebody, without both", () => {
    expect(textOf({})).toBe("No schedule and no webhook: it runs only when somebody starts it.");
  });
});
