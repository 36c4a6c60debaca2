import { describe, expect, it } from "vitest";
import { openPasswords } from "../../src/auth/passwords.ts";
import { AppError } from "../../src/core/errors.ts";

const CHEAP = { logN: 4, r: 8, p: 1 };
const cheap = () => openPasswords({ parameters: CHEAP });
const PASSWORD = "plant lamp river";

const thrown = async (promise: Promise<unknown>): Promise<AppError> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(AppError);
  return error as AppError;
};

const check = (password: string, email = "ada.lovelace@example.com") => cheap().validate(password, email);

describe("a password's hash", () => {
  it("matches the password and no other", async () => {
    const passwords = cheap();
    const hash = await passwords.hash(PASSWORD);
    expect(await passwords.verify(PASSWORD, hash)).toEqual({ ok: true, stale: false });
    for (const wrong of ["", "plant lamp rivex", `${PASSWORD} `, PASSWORD.toUpperCase()])
      expect(await passwords.verify(wrong, hash)).toMatchObject({ ok: false });
  });

  it("is different each time", async () => {
    const passwords = cheap();
    expect(await passwords.hash(PASSWORD)).not.toBe(await passwords.hash(PASSWORD));
  });

  it("matches both Unicode forms of the same letters", async () => {
    const passwords = cheap();
    const hash = await passwords.hash("Grünkohl mit Pinkel".normalize("NFD"));
    expect(await passwords.verify("Grünkohl mit Pinkel".normalize("NFC"), hash)).toMatchObject({ ok: true });
    expect(await passwords.verify("Grunkohl mit Pinkel", hash)).toMatchObject({ ok: false });
  });

  it.each([
    { logN: 5, r: 8, p: 1 },
    { logN: 4, r: 4, p: 1 },
    { logN: 4, r: 8, p: 2 },
  ])("matches and is stale if it was made with other parameters (%o)", async (parameters) => {
    const hash = await openPasswords({ parameters }).hash(PASSWORD);
    expect(await cheap().verify(PASSWORD, hash)).toEqual({ ok: true, stale: true });
    expect(await cheap().verify("wrong", hash)).toMatchObject({ ok: false });
  });

  it("matches nothing if it is invalid", async () => {
    for (const hash of [null, "", "nonsense", "!", "c2NyeXB0"])
      expect(await cheap().verify("", hash)).toEqual({ ok: false, stale: false });
  });
});

describe("hashing", () => {
  it("runs 2 calls at a time, queues 3, and refuses the rest", async () => {
    const passwords = openPasswords({ parameters: { logN: 10, r: 8, p: 1 }, waiting: 3, atATime: 2 });
    const all = await Promise.allSettled(Array.from({ length: 8 }, () => passwords.hash(PASSWORD)));
    expect(all.map(({ status }) => status)).toEqual([
      ...Array<string>(5).fill("fulfilled"),
      ...Array<string>(3).fill("rejected"),
    ]);
    const refused = all.at(-1) as PromiseRejectedResult;
    expect(refused.reason).toMatchObject({ code: "busy", details: { headers: { "Retry-After": "2" } } });
    // Refused calls leave nothing behind, so the next call succeeds.
    expect(await passwords.hash(PASSWORD)).toHaveLength(128);
  });
});

describe("a new password", () => {
  it.each([
    "correct horse battery",
    "Tr0ub4dor&3 is out",
    "Kx9$mQ2!",
    "Kcom$xQ2",
    "vmzptrxkqjvb",
    "Grünkohl mit Pinkel",
    "🐴🔋📎🐙🌊🧊🎻🪁🦀🗝️🧅🪐",
    `correct horse battery ${"x".repeat(200)}`,
  ])("can be %j", async (password) => {
    await expect(check(password)).resolves.toBeUndefined();
  });

  it.each([
    ["Xy1!", "too_short"],
    ["passwordpassword", "too_common"],
    ["Password2026!", "too_common"],
    ["P@ssw0rd12345", "too_common"],
    ["drowssap4321", "too_common"],
    ["Summer2026!!", "too_common"],
    ["qwertyuiop[]", "too_common"],
    ["1q2w3e4r5t6y", "too_common"],
    ["aaaaaaaaaaaa", "too_common"],
    ["a".repeat(256), "too_common"],
    // Only the first characters are analysed, because that takes more than linear time.
    [`${"a".repeat(100)} plant lamp river`, "too_common"],
    ["123456789012", "too_common"],
    ["administrator", "too_common"],
    // Full-width letters count as the same password.
    ["ｐａｓｓｗｏｒｄ１２３４", "too_common"],
    ["ada.lovelace@example.com", "like_address"],
    ["Ada.Lovelace", "like_address"],
    ["AdaLovelace1!", "like_address"],
    ["lovelace-2026", "like_address"],
    ["Millrace-2026!", "like_address"],
  ])("cannot be %j: %s", async (password, code) => {
    const error = await thrown(check(password));
    expect(error).toMatchObject({ code: "invalid_input", details: { errors: [{ path: "password", code }] } });
    expect(error.message).toMatch(/^The password .*\. [A-Z].*\.$/);
    expect(JSON.stringify([error.message, error.details])).not.toContain(password);
  });

  it("can contain the name of another user", async () => {
    await expect(check("lovelace-2026-orbit", "bob@example.com")).resolves.toBeUndefined();
  });
});
