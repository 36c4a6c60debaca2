/** What `npm ci` installs is what was reviewed: each package is pinned by a digest of its content, which npm compares. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ROOT } from "../support/documents.ts";

interface LockedPackage {
  integrity?: string;
  /** Part of the archive of the package around it, whose digest covers it. */
  inBundle?: boolean;
}
type LockedPackages = Readonly<Record<string, LockedPackage>>;

/** The packages whose content may change without a change of the lock file: from Git, a folder, or without a digest. */
const unpinned = (packages: LockedPackages): string[] =>
  Object.entries(packages)
    .filter(
      ([path, { integrity, inBundle }]) => path !== "" && !inBundle && !integrity?.startsWith("sha512-"),
    )
    .map(([path]) => path);

describe("the lock file", () => {
  it.each(["package-lock.json", "test/clients/package-lock.json"])(
    "pins every package by a digest of its content: %s",
    (file) => {
      const { packages } = JSON.parse(readFileSync(`${ROOT}${file}`, "utf8")) as { packages: LockedPackages };
      expect(Object.keys(packages).length).toBeGreaterThan(1_000);
      expect(unpinned(packages)).toEqual([]);
    },
  );

  it("is refused with a package of Git, of a folder or with a weak digest", () => {
    expect(
      unpinned({
        "": {},
        "node_modules/good": { integrity: "sha512-x" },
        "node_modules/good/node_modules/inside": { inBundle: true },
        "node_modules/git": {},
        folder: {},
        "node_modules/weak": { integrity: "sha1-x" },
      }),
    ).toEqual(["node_modules/git", "folder", "node_modules/weak"]);
  });
});
