import { describe, expect, it } from "vitest";
import { formValues } from "../../../src/surfaces/decide/form.ts";

const form = {
  type: "object",
  properties: {
    count: { type: "integer" },
    amount: { type: "number" },
    note: { type: "string" },
    urgent: { type: "boolean" },
  },
};

describe("formValues", () => {
  it.each([
    [
      { form_count: "7", form_amount: " -1.50 ", form_note: "01067", form_urgent: "true" },
      { count: 7, amount: -1.5, note: "01067", urgent: true },
    ],
    [
      { form_count: "9007199254740993", form_amount: "900719925474099.23" },
      { count: "9007199254740993", amount: "900719925474099.23", urgent: false },
    ],
    [
      { form_amount: "-.5", form_count: "", form_note: "" },
      { amount: -0.5, urgent: false },
    ],
    [
      { form_count: "007", form_amount: "+5" },
      { count: 7, amount: 5, urgent: false },
    ],
    [
      { form_count: "-00", form_amount: "-007.250e-1" },
      { count: -0, amount: -0.725, urgent: false },
    ],
    [
      { form_count: "009007199254740993", form_amount: "+.12345678901234567890" },
      { count: "9007199254740993", amount: "0.12345678901234567890", urgent: false },
    ],
    [
      { form_count: "5.", form_amount: "1e999" },
      { count: 5, amount: "1e999", urgent: false },
    ],
    [
      { form_count: "--7", form_amount: "." },
      { count: "--7", amount: ".", urgent: false },
    ],
    [
      { form_count: "seven", form_amount: "0x1F" },
      { count: "seven", amount: "0x1F", urgent: false },
    ],
    [
      { form_note: ["a", "b"], form_count: ["1", "2"] },
      { note: ["a", "b"], count: ["1", "2"], urgent: false },
    ],
  ])("leaves %j for the schema without a loss", (body, values) => {
    expect(formValues(form, body)).toEqual(values);
  });
});
