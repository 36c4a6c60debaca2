import { MantineProvider } from "@mantine/core";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { MarkedText } from "../../../src/web/ui/id.tsx";

/** A text as HTML, without styles. */
const render = (text: string): string =>
  renderToStaticMarkup(createElement(MantineProvider, null, createElement(MarkedText, { text })))
    .replaceAll(/<style.*?<\/style>/gs, "")
    .replaceAll(/<code[^>]*>/g, "<code>");

it.each([
  ["Retry from `enough`, then `b`.", "Retry from <code>enough</code>, then <code>b</code>."],
  ["No id.", "No id."],
  ["A single ` sign.", "A single ` sign."],
  ["`two\nlines`", "`two\nlines`"],
  ["`<b>`", "<code>&lt;b&gt;</code>"],
])("sets apart the ids of %j", (text, html) => expect(render(text)).toBe(html));
