import { styleText } from "node:util";
import { describe, expect, it } from "vitest";
import { sanitizeForTerminal, paint } from "../../src/commands/io.ts";

describe("untrusted text at a terminal", () => {
  it("does not move the cursor, clear the screen, or set the title or the clipboard", () => {
    const hostile = [
      "\u001b[2J",
      "\u001b[3A\u001b[J",
      "\u001b]0;title\u0007",
      "\u001b]52;c;Y3VybA==\u001b\\",
      "\u009b2J",
      "\u001bc",
      "\u001b[8mhidden",
      "all\rnothing",
      "ab\bc",
      "\u001b\u001b[32m[2J",
    ];
    for (const text of hostile) {
      const shown = sanitizeForTerminal(`failed: ${text}`);
      expect(shown.replaceAll("\u001b[32m", "")).not.toMatch(/(?!\n)\p{Cc}/u);
    }
  });

  it("keeps line breaks, tabs and its own colours", () => {
    const io = { terminal: true, env: {} };
    const painted = Object.values(paint(io)).map((colour) => colour("ok"));
    const text = `one\n\ttwo ${painted.join(" ")} ${styleText("bold", "x")}é\u{1F600}\n`;
    expect(sanitizeForTerminal(text)).toBe(text);
  });
});
