import { Text } from "@codemirror/state";
import { describe, expect, it } from "vitest";
import type { EditorIssue } from "../../../src/web/editor/format.ts";
import { diagnostics } from "../../../src/web/editor/diagnostics.ts";
import { DARK, LIGHT } from "../../../src/web/editor/palette.ts";

const lines = [
  "steps:",
  "  - id: a",
  "    for: 10 minutes # long",
  "    headers: { A: { secret: nope } }",
  "    n: ${{ isBig ? huge : small }}",
];
const issue = (line: number, column: number): EditorIssue => ({
  path: "p",
  message: "is wrong",
  line,
  column,
  severity: "error",
});

const markedText = (line: number, column: number): string =>
  diagnostics(Text.of(lines), [issue(line, column)])
    .map(({ from, to }) => lines.join("\n").slice(from, to))
    .join();

describe("diagnostics", () => {
  it("marks a key with its value", () => {
    expect(markedText(3, 5)).toBe("for: 10 minutes");
    expect(markedText(4, 21)).toBe("secret: nope");
    expect(markedText(2, 1)).toBe("-");
  });

  it("marks a word inside of a value", () => {
    expect(markedText(3, 13)).toBe("minutes");
    expect(markedText(5, 20)).toBe("huge");
  });

  it("stays within the text when it has become shorter", () => {
    expect(markedText(99, 99)).toBe("");
  });

  it("keeps the order of the text", () => {
    const found = diagnostics(Text.of(lines), [issue(3, 5), issue(1, 1)]);
    expect(found.map(({ from }) => from)).toEqual([0, 21]);
  });
});

const channel = (hex: string, at: number): number => {
  const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
};
const luminance = (hex: string): number =>
  0.2126 * channel(hex, 1) + 0.7152 * channel(hex, 3) + 0.0722 * channel(hex, 5);
const contrast = (a: string, b: string): number =>
  (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);

describe("palette", () => {
  const TEXTS = ["text", "key", "string", "keyword", "muted", "expression"] as const;
  const BACKGROUNDS = [
    "page",
    "line",
    "selection",
    "inserted",
    "insertedText",
    "deleted",
    "deletedText",
  ] as const;

  it.each([
    ["light", LIGHT],
    ["dark", DARK],
  ])("has a contrast of at least 4.5:1 on every background, %s", (_, palette) => {
    for (const text of TEXTS)
      for (const background of BACKGROUNDS)
        expect(
          contrast(palette[text], palette[background]),
          `${text} on ${background}`,
        ).toBeGreaterThanOrEqual(4.5);
  });
});
