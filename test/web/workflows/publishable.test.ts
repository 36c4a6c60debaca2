import { expect, it } from "vitest";
import { whyNotPublishable } from "../../../src/web/workflows/publishable.ts";

const candidate = {
  isEmpty: false,
  isChanged: true,
  isSaving: false,
  mayPublish: true,
  isPublished: false,
  errors: 0,
  state: "checked",
} as const;

it("lets a text be published that has no errors, or whose check is still running", () => {
  expect(whyNotPublishable(candidate)).toBeUndefined();
  expect(whyNotPublishable({ ...candidate, state: "checking" })).toBeUndefined();
  expect(whyNotPublishable({ ...candidate, isPublished: true })).toBeUndefined();
});

it.each([
  [{ errors: 1 }, "Fix 1 error first."],
  [{ errors: 2, state: "checking" }, "Fix 2 errors first."],
  [{ state: "unavailable", reason: "you are offline." }, "Not checked: you are offline."],
  [{ isChanged: false, isPublished: true }, "The newest version is already published."],
  [{ isEmpty: true }, "There is no definition to publish."],
  [{ isSaving: true }, "Your changes are being saved."],
  [{ mayPublish: false }, "Your role does not allow you to publish in this project."],
] as const)("says why it can't be published: %j", (changed, reason) => {
  expect(whyNotPublishable({ ...candidate, ...changed })).toBe(reason);
});
