import { describe, expect, it } from "vitest";
import { mailboxOf, samePerson } from "../../src/core/mailbox.ts";

describe("mailboxOf", () => {
  it.each([
    ["ann@example.com", "ann@example.com"],
    ["Ann+2@Example.COM", "ann@example.com"],
    ["A@Example.com", "a@example.com"],
    ["@Example.com", "@Example.com"],
    ["ann+a+b@example.com", "ann@example.com"],
    ["ann@example+x.com", "ann@example+x.com"],
    ["+ann@example.com", "+ann@example.com"],
    ["J\u00D6RG+x@example.com", "j\u00F6rg@example.com"],
    ["Jo\u0308rg@example.com", "j\u00F6rg@example.com"],
    // Other subjects: the command line, and lineages of keys.
    ["operator", "operator"],
    ["key_A+b", "key_A+b"],
  ])("of %s is %s", (address, mailbox) => {
    expect(mailboxOf(address)).toBe(mailbox);
  });
});

describe("samePerson", () => {
  it("compares addresses without case and tag, and different mailboxes as different people", () => {
    expect(samePerson("ann@example.com", "ANN+approvals@example.com")).toBe(true);
    expect(samePerson("ann+1@example.com", "ann+2@example.com")).toBe(true);
    expect(samePerson("ann@example.com", "ben@example.com")).toBe(false);
    expect(samePerson("ann@example.com", "ann@example.org")).toBe(false);
    expect(samePerson("key_a", "key_A")).toBe(false);
    expect(samePerson("ann@bücher.example", "Ann+2@XN--bcher-kva.example")).toBe(true);
    expect(samePerson("ann@faß.example", "ann@fass.example")).toBe(false);
    expect(samePerson("DÖRTE@example.com", "do\u0308rte@example.com")).toBe(true);
    expect(samePerson("\uFF41nn@example.com", "ann@example.com")).toBe(true);
  });
});
