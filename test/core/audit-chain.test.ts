import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AuditEntry } from "../../src/core/account-ports.ts";
import { CHAIN_START, chainVerifier, continueChain, linkOf } from "../../src/core/audit-chain.ts";

type Fields = Omit<AuditEntry, "id" | "hash">;

const FIELDS: Fields = {
  at: "2026-11-21T08:00:00.000Z",
  operation: "publish_workflow",
  target: "weekly-revenue",
  project: "default",
  owner: "ann@example.com",
  keyName: "ci",
  lineage: "key_1",
  surface: "rest",
  client: "curl/8.14.1",
  requestId: "req_8dkq2m0sfj3a",
  details: null,
};

const anyText = fc.string({ unit: "grapheme" });
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const anyFields: fc.Arbitrary<Fields & { older: boolean }> = fc
  .record({
    at: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    operation: anyText,
    target: optional(anyText),
    project: anyText,
    owner: anyText,
    keyName: optional(anyText),
    lineage: anyText,
    surface: fc.constantFrom("rest", "mcp", "cli", "web"),
    client: anyText,
    requestId: optional(anyText),
    details: optional(
      fc.dictionary(anyText, fc.oneof(anyText, fc.integer(), fc.boolean(), fc.array(anyText))),
    ),
    older: fc.boolean(),
  })
  .map((fields) => fields as Fields & { older: boolean });

/** A chain as several releases write it. Those before the chain wrote no lineage, details and hash. */
function chainOf(all: readonly (Fields & { older?: boolean })[], start = CHAIN_START): AuditEntry[] {
  const entries: AuditEntry[] = [];
  for (const { older = false, ...fields } of all) {
    const id = start.id + entries.length + 1;
    const entry = older
      ? { ...fields, id, project: "default", lineage: null, details: null }
      : { ...fields, id };
    const { hash } = linkOf(continueChain(start, entries).hash, entry);
    entries.push({ ...entry, hash: older ? null : hash });
  }
  return entries;
}

const withId = (entry: AuditEntry, id: number): AuditEntry => ({ ...entry, id });

function verify(entries: readonly AuditEntry[], start = CHAIN_START) {
  const verifier = chainVerifier(start);
  for (const entry of entries) if (!verifier.add(entry)) break;
  return verifier.report();
}

/** A generated chain whose last entry has a hash, and an index of one of its entries. */
const chainAndIndex = fc
  .tuple(fc.array(anyFields, { minLength: 1, maxLength: 12 }), anyFields, fc.nat())
  .map(([fields, last, at]) => {
    const entries = chainOf([...fields, { ...last, older: false }]);
    return { entries, index: at % entries.length };
  });

describe("the hash chain of the audit log", () => {
  it("has the documented form", () => {
    const { hash } = linkOf(CHAIN_START.hash, {
      ...FIELDS,
      id: 1,
      target: null,
      details: { b: ["1"], a: "ü\n" },
    });
    // printf '%s\n%s' "$(printf '0%.0s' {1..64})" '{"at":…' | sha256sum
    expect(hash).toBe("81b6484b0ea4a2e82da0260963af62093574bec61f86fb21a6a33f85452637b8");
  });

  it("fits as it was written, with entries of older releases anywhere", () => {
    fc.assert(
      fc.property(fc.array(anyFields, { maxLength: 12 }), (fields) => {
        const entries = chainOf(fields);
        const { broken, verified, unhashed, head } = verify(entries);
        expect(broken).toBeUndefined();
        expect(verified).toBe(entries.length);
        expect(unhashed.ids).toEqual(
          entries
            .filter(({ hash }) => hash === null)
            .map(({ id }) => id)
            .slice(0, 10),
        );
        expect(head).toEqual(continueChain(CHAIN_START, entries));
      }),
    );
  });

  it.each([
    "at",
    "operation",
    "target",
    "project",
    "owner",
    "keyName",
    "lineage",
    "surface",
    "client",
    "requestId",
    "details",
    "hash",
  ] as const)("shows a changed %s", (field) => {
    fc.assert(
      fc.property(chainAndIndex, anyText, ({ entries, index }, text) => {
        const original = entries[index]!;
        const value = field === "details" ? { text } : text;
        fc.pre(value !== original[field]);
        const changed = entries.with(index, { ...original, [field]: value });
        // A hash that an entry of an older release gets afterwards is wrong too.
        const { broken } = verify(changed);
        expect(broken).toBeDefined();
        expect(broken!.id).toBeLessThanOrEqual(original.id);
        expect(broken!.lastId).toBeGreaterThanOrEqual(original.id);
      }),
    );
  });

  it("shows a removed hash, where no older release wrote the entry", () => {
    fc.assert(
      fc.property(chainAndIndex, ({ entries, index }) => {
        const { id, hash } = entries[index]!;
        fc.pre(hash !== null);
        const changed = entries.with(index, { ...entries[index]!, hash: null });
        expect(verify(changed).broken).toEqual({ id, lastId: id, reason: "hash removed" });
        // Made to look like an entry of an older release, it differs from what the next hash covers.
        fc.pre(index < entries.length - 1);
        const disguised = changed.with(index, { ...changed[index]!, lineage: null });
        expect(verify(disguised).broken?.reason).toBe("changed");
      }),
    );
  });

  it("shows a missing entry", () => {
    fc.assert(
      fc.property(chainAndIndex, ({ entries, index }) => {
        fc.pre(index < entries.length - 1);
        const { id } = entries[index]!;
        expect(verify(entries.toSpliced(index, 1)).broken).toEqual({ id, lastId: id, reason: "missing" });
        // Also when the ids after it are moved up.
        const closed = entries
          .toSpliced(index, 1)
          .map((entry, at) => (at < index ? entry : withId(entry, entry.id - 1)));
        expect(verify(closed).broken?.reason).toBe("changed");
      }),
    );
  });

  it("shows an added entry", () => {
    fc.assert(
      fc.property(chainAndIndex, anyFields, ({ entries, index }, { older, ...fields }) => {
        const { id } = entries[index]!;
        const previous = continueChain(CHAIN_START, entries.slice(0, index));
        const forged = { ...fields, ...(older && { lineage: null, details: null }), id };
        const added = { ...forged, hash: older ? null : linkOf(previous.hash, forged).hash };
        const moved = entries.slice(index).map((entry) => withId(entry, entry.id + 1));
        expect(verify([...entries.slice(0, index), added, ...moved]).broken?.reason).toBe("changed");
      }),
    );
  });

  it("shows two entries that changed places", () => {
    fc.assert(
      fc.property(chainAndIndex, fc.nat(), ({ entries, index }, at) => {
        const other = at % entries.length;
        fc.pre(index !== other);
        const [a, b] = [entries[index]!, entries[other]!];
        fc.pre(JSON.stringify({ ...a, id: 0, hash: "" }) !== JSON.stringify({ ...b, id: 0, hash: "" }));
        const swapped = entries.with(index, { ...b, id: a.id }).with(other, { ...a, id: b.id });
        expect(verify(swapped).broken).toBeDefined();
        expect(verify(entries.with(index, b).with(other, a)).broken).toBeDefined();
      }),
    );
  });

  it("goes on after a purge at any point", () => {
    fc.assert(
      fc.property(chainAndIndex, ({ entries, index }) => {
        const anchor = continueChain(CHAIN_START, entries.slice(0, index));
        const { broken, verified, head } = verify(entries.slice(index), anchor);
        expect([broken, verified]).toEqual([undefined, entries.length - index]);
        expect(head).toEqual(verify(entries).head);
        // The anchor of another purge does not fit.
        fc.pre(index > 0);
        expect(verify(entries.slice(index), CHAIN_START).broken?.reason).toBe("missing");
      }),
    );
  });
});
