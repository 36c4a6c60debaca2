import { describe, expect, it } from "vitest";
import { isNamed, placeOfId } from "../../../src/web/find/places.ts";

describe("placeOfId", () => {
  it.each([
    ["run_9RSHvvYTbXCX", "/runs/run_9RSHvvYTbXCX", "Run"],
    ["apr_5pXq0aZr4mXw1kq0Zr4mXw", "/approvals/apr_5pXq0aZr4mXw1kq0Zr4mXw", "Approval"],
    ["rev_9RSHvvYTbXCX", "/reviews/rev_9RSHvvYTbXCX", "Review"],
    ["key_9RSHvvYTbXCX", "/keys/key_9RSHvvYTbXCX", "API key"],
    ["blk_9RSHvvYTbXCX", "/bulk-actions/blk_9RSHvvYTbXCX", "Bulk action"],
    ['{"run_id":"run_9R-HvvYT_XCX"}', "/runs/run_9R-HvvYT_XCX", "Run"],
    ["http://localhost:3000/ui/runs/run_9RSHvvYTbXCX?step=a", "/runs/run_9RSHvvYTbXCX", "Run"],
  ])("leads from %s to %s", (text, path, noun) => {
    expect(placeOfId(text)).toMatchObject({ path, noun });
  });

  it.each(["", "revenue", "run_", "dry_run_9RSHvvYTbXCX", "usr_9RSHvvYTbXCX", "weekly-run"])(
    "finds no id in %j",
    (text) => expect(placeOfId(text)).toBeUndefined(),
  );
});

describe("isNamed", () => {
  it("takes parts of words in any order, and words that stand for the label", () => {
    const page = { label: "New workflow", words: "create add" };
    for (const text of ["", "work new", "CREATE", "add new"]) expect(isNamed(page, text)).toBe(true);
    for (const text of ["delete", "new run"]) expect(isNamed(page, text)).toBe(false);
  });
});
