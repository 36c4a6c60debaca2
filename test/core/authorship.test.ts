import { describe, expect, it } from "vitest";
import {
  type Authorship,
  isContributor,
  unreviewedContribution,
  unreviewedVersion,
} from "../../src/core/authorship.ts";

const person = (owner: string) => ({ owner, keyName: "browser", lineage: `usr_${owner}` });
const by = (owner: string) => ({ owner, keyName: "browser", subject: owner });

/** `wrote` has the newest version of each author, `published` the publications in the order of time. */
const history = (wrote: [string, number][], published: [string, number][]): Authorship => ({
  authors: wrote.map(([owner, version]) => ({ ...by(owner), version })),
  reviews: published.map(([owner, version], order) => ({
    ...by(owner),
    version,
    order,
    lineage: owner === "key" ? "key_1" : `usr_${owner}`,
  })),
});

describe("what ann has contributed to version 3 without a review by another person", () => {
  it.each<[string, [string, number][], [string, number][], string | undefined]>([
    ["nothing, when others wrote and published it", [["ben", 3]], [["ben", 3]], undefined],
    ["her version, when nobody published it", [["ann", 3]], [], "wrote 3"],
    ["her version, when she published it herself", [["ann", 3]], [["ann", 3]], "wrote 3"],
    ["nothing, when ben published her version", [["ann", 3]], [["ben", 3]], undefined],
    [
      "nothing, when ben published it after her",
      [["ann", 3]],
      [
        ["ann", 3],
        ["ben", 3],
      ],
      undefined,
    ],
    [
      "her publication, when it came after ben's",
      [["ann", 3]],
      [
        ["ben", 3],
        ["ann", 3],
      ],
      "published 3",
    ],
    [
      "an earlier version, when nobody else published one since",
      [
        ["ann", 2],
        ["ben", 3],
      ],
      [["ben", 1]],
      "wrote 2",
    ],
    [
      "an earlier version, when its later publication is her own",
      [
        ["ann", 2],
        ["ben", 3],
      ],
      [["ann", 3]],
      "wrote 2",
    ],
    [
      "nothing, when ben published a version after hers",
      [
        ["ann", 1],
        ["ben", 3],
      ],
      [["ben", 2]],
      undefined,
    ],
    [
      "her publication, when ben published an older version after it",
      [["ben", 3]],
      [
        ["ann", 3],
        ["ben", 2],
      ],
      "published 3",
    ],
    ["her publication of ben's version", [["ben", 3]], [["ann", 3]], "published 3"],
    [
      "nothing of an older version that she published",
      [["ben", 3]],
      [
        ["ann", 2],
        ["ben", 3],
      ],
      undefined,
    ],
    [
      "nothing, when ben published a later version than she wrote, and she an older one after that",
      [
        ["ann", 1],
        ["ben", 3],
      ],
      [
        ["ben", 3],
        ["ann", 1],
      ],
      undefined,
    ],
  ])("is %s", (_what, wrote, published, expected) => {
    const found = unreviewedContribution(person("ann"), 3, history(wrote, published));
    expect(found && `${found.kind} ${found.version}`).toBe(expected);
  });
});

describe("a contributor is the same person", () => {
  const operator = { owner: "operator", keyName: "ci", lineage: "key_1" };
  it.each([
    ["for a user with any key or session", person("ann"), { ...by("ann"), keyName: "another" }, true],
    ["for another tag of the address", person("ann@example.com"), by("Ann+2@example.com"), true],
    ["not for another user", person("ann"), by("ben"), false],
    [
      "for a key of the operator and its rotations",
      operator,
      { owner: "operator", keyName: "old", subject: "key_1" },
      true,
    ],
    [
      "not for another key of the operator",
      operator,
      { owner: "operator", keyName: "ci", subject: "key_2" },
      false,
    ],
    [
      "for a key of the same name, where an older release recorded only that",
      operator,
      { owner: "operator", keyName: "ci", subject: "operator" },
      true,
    ],
    [
      "not for one of another name there",
      operator,
      { owner: "operator", keyName: "x", subject: "operator" },
      false,
    ],
    [
      "for a user with any key, where an older release recorded no subject",
      person("ann"),
      { owner: "ann", keyName: "another", subject: "" },
      true,
    ],
    ["not for another user there", person("ann"), { owner: "ben", keyName: "browser", subject: "" }, false],
    [
      "not for a user with the name of such a key",
      person("ann"),
      { owner: "operator", keyName: "browser", subject: "operator" },
      false,
    ],
  ])("%s", (_what, who, contributor, expected) => {
    expect(isContributor(who, contributor)).toBe(expected);
  });
});

describe("what ann wrote up to version 3, which another person must review before it goes live", () => {
  it.each<[string, number | null, [string, number][], [string, number][], number | undefined]>([
    ["nothing, when others wrote it", 1, [["ann", 1]], [["ann", 1]], undefined],
    ["her version", 1, [["ann", 3]], [["ben", 1]], 3],
    [
      "an earlier one, also when another person wrote the last",
      1,
      [
        ["ann", 2],
        ["ben", 3],
      ],
      [["ben", 1]],
      2,
    ],
    ["nothing, when what she wrote is published", 3, [["ann", 3]], [["ann", 3]], undefined],
    ["her version, when a later one is published", 4, [["ann", 3]], [["ben", 1]], 3],
    [
      "nothing, when ben published it before, and a later one is published",
      4,
      [["ann", 3]],
      [["ben", 3]],
      undefined,
    ],
    ["her version, when only she published it before", 4, [["ann", 3]], [["ann", 3]], 3],
    ["her version, when only a key published it before", null, [["ann", 3]], [["key", 3]], 3],
    ["nothing, when ben published it and it was unpublished", null, [["ann", 3]], [["ben", 3]], undefined],
  ])("is %s", (_what, published, wrote, reviews, expected) => {
    expect(unreviewedVersion(person("ann"), 3, published, history(wrote, reviews))).toBe(expected);
  });

  it("counts a publication without a lineage, of an older release, as nobody's review", () => {
    const { authors, reviews } = history([["ann", 3]], [["ben", 3]]);
    const unknown = reviews.map((review) => Object.assign({}, review, { lineage: null }));
    expect(unreviewedVersion(person("ann"), 3, null, { authors, reviews: unknown })).toBe(3);
  });

  it("counts a publication at the command line as a review", () => {
    const { authors, reviews } = history([["ann", 3]], [["operator", 3]]);
    const atCommandLine = reviews.map((review) => Object.assign({}, review, { lineage: "command-line" }));
    expect(unreviewedVersion(person("ann"), 3, null, { authors, reviews: atCommandLine })).toBeUndefined();
  });
});
