import { describe, expect, it } from "vitest";
import * as texts from "#texts/account";
import { PASSWORD_RULE, passwordIssue } from "../../../schemas/password.ts";
import * as german from "../../../src/web/messages/generated/de/account.ts";

const numbersIn = (text: string): string[] => text.match(/\d+/g) ?? [];

describe("the texts of the password rule", () => {
  it("are those of the server", () => {
    expect(texts.passwordRule).toBe(PASSWORD_RULE);
  });

  it.each(["short", "mixedcase", "x".repeat(300), "has a NUL \0 inside"])(
    "explain what is wrong with %j as the server does",
    (password) => {
      const issue = passwordIssue(password)!;
      expect(texts.passwordIssue(issue)).toBe(`The password ${issue.message}.`);
      expect(numbersIn(german.passwordIssue(issue))).toEqual(numbersIn(issue.message));
    },
  );

  it("name the same lengths in German", () => {
    expect(numbersIn(german.passwordRule)).toEqual(numbersIn(PASSWORD_RULE));
  });

  it("have a sentence for a code that this version of the page does not know", () => {
    expect(texts.passwordIssue({ code: "too_old" })).toBe("The password can't be used.");
  });
});
