import { expect, it } from "vitest";
import { distinctTags, filterOptions, isDuplicate } from "../../../src/web/ui/filter-options.ts";

const options = [
  { value: "a", label: "Größe", disabled: false },
  { group: "More", items: [{ value: "b", label: "GRO\u0308SSER", disabled: false }] },
  { value: "c", label: "Grosse", disabled: false },
];

it.each([
  ["gröss", ["a", "b"]],
  [" GRO\u0308ß ", ["a", "b"]],
  ["gross", ["c"]],
  ["", ["a", "b", "c"]],
])("filterOptions finds by %j whatever the case and the form of the letters", (search, values) => {
  const found = filterOptions({ options, search, limit: 10 });
  expect(found.flatMap((one) => ("group" in one ? one.items : [one])).map(({ value }) => value)).toEqual(
    values,
  );
});

it("isDuplicate and distinctTags take tags for one that differ in case and form", () => {
  expect([isDuplicate("gro\u0308sse", ["x", "Größe"]), isDuplicate("grosse", ["Größe"])]).toEqual([
    true,
    false,
  ]);
  expect(distinctTags(["sales", "Größe", "gro\u0308sse", "Sales"])).toEqual(["Größe", "sales"]);
});
