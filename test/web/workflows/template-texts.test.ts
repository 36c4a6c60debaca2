import { expect, it } from "vitest";
import { TEMPLATES } from "../../../src/web/workflows/templates.ts";

it("names and describes each template in the choice as the workflow that is made from it", () => {
  for (const { title, about, name, description } of TEMPLATES)
    expect({ title, about }).toEqual({ title: name, about: description });
});
