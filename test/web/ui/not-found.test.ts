import { expect, it } from "vitest";
import { missingIn } from "../../../src/web/ui/not-found.ts";

it.each([
  ["run_not_found", 'There is no run "run_nope". Old ones are deleted.', { id: "run_nope" }],
  [
    "workflow_not_found",
    'There is no workflow "nihong". Did you mean "nihongo"?',
    { id: "nihong", hint: 'Did you mean "nihongo"?' },
  ],
  ["project_not_found", 'There is no project "x" that this key or role can see.', { id: "x" }],
  ["api_key_not_found", 'You have no API key "key_nope".', { id: "key_nope" }],
  // Nothing that has a page of its own.
  ["run_not_found", "No run fits the filter, so there is nothing to do.", undefined],
  ["value_not_found", 'There is no value "x".', undefined],
  ["internal", 'There is no run "run_nope".', undefined],
])("of %s with %j a page says what is missing", (code, message, missing) => {
  expect(missingIn({ code, message })).toEqual(missing && { code, ...missing });
});
