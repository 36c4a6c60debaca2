/** The layout follows the direction of the language: no style or component says left or right, except for what is so in every language. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { directionOf } from "../../../src/web/locale/direction.ts";
import { findInCode, findInStyles, iconClass, importedIcons } from "./find-directions.ts";

const WEB = join(import.meta.dirname, "../../../src/web");

interface Exception {
  found: readonly string[];
  reason: string;
}

const TIME = "time runs from left to right in every language";

const EXCEPTIONS: Readonly<Record<string, Exception>> = {
  "editor/editor-theme.ts": {
    found: ["borderLeftColor", "borderLeftWidth", "borderLeft", "padding: 8px 32px 8px 8px", "left", "right"],
    reason: "overrides the rules of CodeMirror, in an editor that is left to right",
  },
  "graph/step-canvas.tsx": {
    found: ['"bottom-right"', '"bottom-right"'],
    reason: "the graph is left to right in every language",
  },
  "main.tsx": { found: ['"bottom-left"', '"bottom-right"'], reason: "chosen by the direction" },
  "timeline/place-label.ts": { found: ["left", "right", "right"], reason: TIME },
  "timeline/run-timeline.module.css": {
    found: [
      "border-top-right-radius: 0",
      "border-bottom-right-radius: 0",
      "margin: -4.5px 0 0 -4.5px",
      "border-left: 1px solid var(--mantine-color-default-border)",
    ],
    reason: TIME,
  },
  "timeline/run-timeline.tsx": { found: ["ml", "mr", "left"], reason: TIME },
  "timeline/segments.tsx": { found: ["left", "left", "right", "left", "left"], reason: TIME },
  "timeline/timeline-row.tsx": { found: ["left", "left", "right", "left"], reason: TIME },
  "values/rows-chart.tsx": {
    found: ['"right"', '"left"', '"left"', '"left"'],
    reason: "names of the axes of a chart, which is left to right in every language",
  },
  "values/rows-table.tsx": {
    found: ['"right"', '"right"', "ml"],
    reason: "numbers have their units under each other",
  },
  "workflows/backfills.tsx": { found: ["left"], reason: "how many runs are left, not a side" },
  "workflows/editor-tools.tsx": { found: ['"right"'], reason: "the drawer of the library mirrors it" },
};

/** Icons whose names or shapes have a direction, and that are not turned. */
const FIXED_ICONS: Readonly<Record<string, string>> = {
  IconPlayerSkipForward: "players have the same signs in every language",
};

const read = (file: string): string => readFileSync(join(WEB, file), "utf8");

const files = readdirSync(WEB, { recursive: true, encoding: "utf8" })
  .filter((file) => /\.(?:css|tsx?)$/.test(file) && !file.startsWith("messages/"))
  .toSorted();

describe("the search", () => {
  it("finds the sides in styles", () => {
    const css = `
      /* left: 1px; */
      .a { left: 0; margin-left: 2px; margin-inline-start: 3px; text-align: right; border-left-width: 1px }
      .b:hover { padding: 1px 2px 3px 4px; padding: 1px 2px 1px 2px; border-radius: 4px 0 0 4px }
      @media (max-width: 36em) { .c { transform: translateX(4px); border-top-right-radius: 0; inset: 0 } }
      .d { background: linear-gradient(to right, red, blue); float: left; }`;
    expect(findInStyles(css)).toEqual([
      "left: 0",
      "margin-left: 2px",
      "text-align: right",
      "border-left-width: 1px",
      "padding: 1px 2px 3px 4px",
      "border-radius: 4px 0 0 4px",
      "transform: translateX(4px)",
      "border-top-right-radius: 0",
      "background: linear-gradient(to right, red, blue)",
      "float: left",
    ]);
  });

  it("finds the sides in components", () => {
    const code = `
      import left from "./left.ts";
      interface Place { left: number; side: "right" }
      const { right } = place;
      const style = { marginLeft: 4, left: 0, paddingInlineStart: 2, padding: "1px 2px 3px 4px" };
      const css = \`padding-left:\${left}px\`;
      const one = <Box ml={4} me={4} ta="right" style={style}>a → b <span className="arrow">→</span></Box>;`;
    expect(findInCode("a.tsx", code)).toEqual([
      "marginLeft",
      "left",
      "padding: 1px 2px 3px 4px",
      '"padding-left:"',
      "ml",
      '"right"',
      "→",
    ]);
  });

  it("knows the classes of icons", () => {
    expect(
      importedIcons('import { IconArrowBackUp, type Icon, IconUser as U } from "@tabler/icons-react";'),
    ).toEqual(["IconArrowBackUp", "IconUser"]);
    expect(iconClass("IconArrowBackUp")).toBe("tabler-icon-arrow-back-up");
    expect(iconClass("IconArrowsSplit2")).toBe("tabler-icon-arrows-split-2");
  });
});

describe("the interface", () => {
  it("says left and right only where that is so in every language", () => {
    const found = Object.fromEntries(
      files.flatMap((file) => {
        const sides = file.endsWith(".css") ? findInStyles(read(file)) : findInCode(file, read(file));
        return sides.length > 0 ? [[file, sides] as const] : [];
      }),
    );
    // Say start and end instead: inset-inline-start, margin-inline-end, the props ms, me, ps and pe, text-align: start.
    expect(found).toEqual(
      Object.fromEntries(Object.entries(EXCEPTIONS).map(([file, exception]) => [file, exception.found])),
    );
  });

  it("turns the icons that point along the reading direction", () => {
    const css = read("app/app.css");
    const icons = new Set(
      files.filter((file) => file.endsWith(".tsx")).flatMap((file) => importedIcons(read(file))),
    );
    const directed = [...icons].filter((icon) =>
      /(?:Left|Right|Back|Forward|Next|Prev|Login|Logout|Indent|List|Symlink|Send|External)/.test(icon),
    );
    expect(directed).toContain("IconChevronRight");
    const fixed = directed.filter((icon) => !new RegExp(`\\.${iconClass(icon)}\\b`).test(css));
    expect(fixed.toSorted()).toEqual(Object.keys(FIXED_ICONS).toSorted());
  });
});

describe("directionOf", () => {
  it.each([
    ["en", "ltr"],
    ["de-AT", "ltr"],
    ["ar", "rtl"],
    ["he", "rtl"],
    ["fa-IR", "rtl"],
    ["az", "ltr"],
    ["az-Arab", "rtl"],
  ])("of %s is %s", (language, direction) => {
    expect(directionOf(language)).toBe(direction);
  });
});
