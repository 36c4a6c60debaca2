import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkCel, checkValue, compileValue } from "../../../../src/engine/definition/expressions/index.ts";
import { evaluate, failure, scope, typeScope } from "./scope.ts";

describe("range", () => {
  it.each([
    ["range(3)", [0, 1, 2]],
    ["range(2, 5)", [2, 3, 4]],
    ["range(-1, 1)", [-1, 0]],
    ["range(0)", []],
    ["range(5, 2)", []],
    ["range(3).map(n, n * n).sum()", 5],
  ])("%s is %j", (source, value) => {
    expect(evaluate(source)).toEqual(value);
  });

  it.each([
    ["range(1.5)", "expression_failed"],
    ["range(1000001)", "expression_failed"],
    ["range(0, 9007199254740991)", "expression_failed"],
    ["range(1000).map(a, range(1000000))", "expression_limit"],
  ])("%s fails", (source, code) => {
    expect(failure(source).code).toBe(code);
  });
});

describe("parse_csv", () => {
  it.each([
    ["a,b\n1,2\n", [{ a: "1", b: "2" }]],
    [
      "a,b\r\n1,\r\n\r\n,2",
      [
        { a: "1", b: "" },
        { a: "", b: "2" },
      ],
    ],
    ['\uFEFFa,"b ""x"", y"\n"1\n2",3', [{ a: "1\n2", 'b "x", y': "3" }]],
    ["a", []],
    ["", []],
    ["a\n\n\n1", [{ a: "1" }]],
    ['a\n""\n1', [{ a: "" }, { a: "1" }]],
    ["__proto__\n1", [JSON.parse('{"__proto__":"1"}')]],
  ])("reads %j", (text, rows) => {
    expect(evaluate("parse_csv(inputs.text)", { text })).toEqual(rows);
  });

  it("reads lists without a header, and other separators", () => {
    expect(evaluate("'1;2\\n3;4'.parse_csv({'header': false, 'separator': ';'})")).toEqual([
      ["1", "2"],
      ["3", "4"],
    ]);
  });

  it("fails with the line, what was found and the fix", () => {
    expect(failure("parse_csv(inputs.text)", { text: "a,b\n1" })).toMatchObject({
      message: expect.stringContaining(
        "parses CSV that can't be read: line 2 has 1 value, but the header in line 1 has 2",
      ),
      options: { fix: expect.stringContaining('set ragged to "pad"'), details: { line: 2 } },
    });
  });

  it.each([
    ["{'header': 1}", "another value for the option header", undefined],
    ["{'separator': ''}", "one character", undefined],
    ["{'separator': '\\n'}", "one character", undefined],
    ["{'ragged': 'fill'}", '"error" or "pad"', undefined],
    ["{'delimiter': ','}", 'unknown option "delimiter"', "separator"],
    ["{'seperator': inputs.name}", 'unknown option "seperator"', "separator"],
    ["{'quote': ','}", 'unknown option "quote"', undefined],
  ])("refuses the options %s when they are checked", (options, message, near) => {
    const source = `parse_csv(inputs.name, ${options})`;
    const [issue] = checkCel(source, typeScope).issues;
    expect(issue).toMatchObject({ code: "not_allowed", message: expect.stringContaining(message) });
    expect(issue?.did_you_mean).toBe(near);
  });

  it("refuses options that are known at run time only", () => {
    const source = "parse_csv('a', inputs.options)";
    expect(failure(source, { options: { delimiter: ";" } })).toMatchObject({
      message: expect.stringContaining('unknown option "delimiter"'),
      options: { fix: "Write separator." },
    });
    expect(checkCel("parse_csv(inputs.name, {'separator': inputs.name})", typeScope).issues).toEqual([]);
  });

  it("reads back whatever was written by the rules of RFC 4180", () => {
    const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r", "é", " ") });
    const table = fc
      .integer({ min: 2, max: 4 })
      .chain((width) =>
        fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 5 }),
      );
    fc.assert(
      fc.property(table, fc.constantFrom("\n", "\r\n"), (rows, end) => {
        const text = rows
          .map((row) => row.map((one) => `"${one.replaceAll('"', '""')}"`).join(","))
          .join(end);
        expect(evaluate("parse_csv(inputs.text, {'header': false})", { text })).toEqual(rows);
      }),
    );
  });
});

const base64 = (bytes: string | Uint8Array, kind: BufferEncoding = "base64"): string =>
  Buffer.from(bytes as string).toString(kind);
const issuesOf = (source: string) => checkCel(source, typeScope).issues;

describe("decode", () => {
  const wide = Buffer.from("\ufeffa,ü", "utf16le");

  it("returns the text of bytes in base64, as UTF-8 or in a charset", () => {
    expect(evaluate("decode(inputs.text)", { text: base64("Müller €\ufffd") })).toBe("Müller €\ufffd");
    expect(evaluate("decode(inputs.text)", { text: base64("\ufeffa") })).toBe("a");
    const bytes = Buffer.from([0x4d, 0xfc, 0x6c, 0x6c, 0x65, 0x72, 0x80]);
    expect(evaluate("inputs.text.decode('windows-1252')", { text: base64(bytes) })).toBe("Müller€");
    expect(evaluate("decode(inputs.text, inputs.name)", { text: "gqA=", name: "sjis" })).toBe("あ");
    expect(evaluate("decode('')")).toBe("");
  });

  it("prefers a byte order mark", () => {
    for (const bytes of [wide, Buffer.from(wide).swap16()])
      expect(evaluate("decode(inputs.text, 'utf-16')", { text: base64(bytes) })).toBe("a,ü");
  });

  it("accepts the alphabet for URLs, missing padding and lines", () => {
    expect(evaluate("decode(inputs.text)", { text: base64("??>>~", "base64url") })).toBe("??>>~");
    expect(evaluate("decode('eyJh\\nIjox\\r\\nfQ==\\n').parse_json().a")).toBe(1);
  });

  it.each([
    ["a*b=", "decodes text that is not base64"],
    ["abcde", "decodes text that is not base64"],
    ["YWL8Yw==", "decodes bytes that are not valid utf-8, at byte 2"],
    ["//4AAA==", "decodes bytes in the unknown charset utf-32le"],
  ])("fails on %s, with the charset and without a value", (text, message) => {
    expect(failure("decode(inputs.text)", { text }).message).toContain(message);
  });

  it("knows the charset before a run", () => {
    expect(issuesOf("decode(inputs.name, 'latin1') + 'x'")).toEqual([]);
    expect(issuesOf("decode(inputs.name, 'latin-1')")).toMatchObject([
      { code: "not_allowed", did_you_mean: "latin1" },
    ]);
    expect(failure("decode('', inputs.name)", { name: "x-own" }).message).toContain("unknown charset x-own");
  });
});

describe("escape_html and url_encode", () => {
  it("escape what has a meaning", () => {
    expect(evaluate(`escape_html("<a href='x'>\\"&\\"</a>")`)).toBe(
      "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;&lt;/a&gt;",
    );
    expect(evaluate("url_encode('a b/c?d=é&e')")).toBe("a%20b%2Fc%3Fd%3D%C3%A9%26e");
    expect(evaluate("url_encode(inputs.n)")).toBe("5");
    expect(failure("url_encode(inputs.text)", { text: "\ud800" })).toMatchObject({
      code: "expression_failed",
      message: expect.stringContaining("half a surrogate pair"),
    });
  });
});

const urlOf = (template: string, inputs: Record<string, unknown>): unknown =>
  compileValue(template, { encoding: "url" }).evaluate({ ...scope, inputs });

const isUrl = (template: string, inputs: Record<string, unknown>): boolean => {
  try {
    urlOf(template, inputs);
    return true;
  } catch {
    return false;
  }
};

describe("values inside a URL", () => {
  const inputs = { id: "a/b c?", n: 5, base: "https://example.com:8080/v1", list: [1], none: null };

  it.each([
    ["https://example.com/${{ inputs.id }}", "https://example.com/a%2Fb%20c%3F"],
    ["https://example.com/?q=${{ inputs.id }}&n=${{ inputs.n }}", "https://example.com/?q=a%2Fb%20c%3F&n=5"],
    ["https://example.com/${{ raw(inputs.id) }}", "https://example.com/a/b c?"],
    ["https://example.com/${{ url_encode(inputs.id) }}", "https://example.com/a%2Fb%20c%3F"],
    ["${{ inputs.base }}/x/${{ inputs.id }}", "https://example.com:8080/v1/x/a%2Fb%20c%3F"],
    ["${{ inputs.base }}", "https://example.com:8080/v1"],
    ["https://example.com/a%20b?c=d&e", "https://example.com/a%20b?c=d&e"],
    ["https://example.com/${{ inputs.list }}", "https://example.com/%5B1%5D"],
    ["https://example.com/?q=${{ inputs.none }}", "https://example.com/?q="],
  ])("are encoded in %s", (template, url) => {
    expect(urlOf(template, inputs)).toBe(url);
  });

  it.each([
    ["https://example.com/a/${{ inputs.x }}/b", ".."],
    ["https://example.com/a/${{ inputs.x }}/b", "."],
    ["https://example.com/a/${{ inputs.x }}", ".."],
    ["https://example.com/a/${{ inputs.x }}?q=1", ".."],
    ["https://example.com/a/${{ inputs.x }}#top", ".."],
    ["https://example.com/a/.${{ inputs.x }}/b", "."],
    ["https://example.com/a/..${{ inputs.x }}/b", ""],
    ["https://example.com/a/%2E${{ inputs.x }}/b", "."],
    ["https://example.com/a/${{ inputs.x }}${{ inputs.x }}/b", "."],
    ["https://example.com/a/${{ inputs.x }}${{ raw('.') }}/b", "."],
    ["https://example.com/a/${{ inputs.x }}\t${{ inputs.x }}/b", "."],
    ["https://example.com/a/${{ inputs.x }}\n", ".."],
    ["https://example.com/a\\${{ inputs.x }}\\b", ".."],
    ["https://example.com/a/${{ url_encode(inputs.x) }}/b", ".."],
    ["${{ inputs.base }}/${{ inputs.x }}/b", ".."],
    ["https:example.com/a/${{ inputs.x }}", ".."],
    ["https://example.com/a/${{ inputs.x }}", ""],
    ["https://example.com/a/${{ inputs.x }}", null],
    ["https://example.com/a/${{ inputs.x }}/b", ""],
    ["https://${{ inputs.x }}/b", ""],
    ["https://${{ inputs.x }}", ""],
    ["https://example.com:${{ inputs.x }}/b", ""],
  ])("may not remove or empty a part of %j with %j", (template, x) => {
    expect(() => urlOf(template, { ...inputs, x })).toThrow(
      expect.objectContaining({
        code: "input_invalid",
        message: expect.stringMatching(/inputs\.x.*raw\(/),
      }),
    );
  });

  it.each([
    ["https://example.com/a/${{ inputs.x }}", "..."],
    ["https://example.com/a/${{ inputs.x }}.json", "."],
    ["https://example.com/a/../${{ inputs.x }}/./b//c", "d"],
    ["https://example.com/a/${{ raw(inputs.x) }}/b", ".."],
    ["https://example.com/a/${{ raw(inputs.x) }}", ""],
    ["https://example.com/a?q=/${{ inputs.x }}/", ".."],
    ["https://example.com/a#/${{ inputs.x }}/", ".."],
    ["${{ inputs.base }}?q=${{ inputs.x }}", ".."],
    ["https://${{ inputs.x }}example.com//a/..", ""],
    ["http${{ inputs.x }}://example.com/", ""],
    ["https://[::1]:80/a${{ inputs.x }}", ""],
  ])("leave other parts of %j as they are with %j", (template, x) => {
    expect(urlOf(template, { ...inputs, x })).toBe(
      template.replace("${{ inputs.base }}", inputs.base).replace(/\$\{\{.*?\}\}/, x),
    );
  });

  it.each([
    ["/", "/c", true],
    ["/b/", "", true],
    ["/", "?q", true],
    ["/.", "/c", false],
    ["/", ".", false],
    ["/", "%2E/", false],
  ])("are one part for the URL parser between %j and %j", (before, after, isWholePart) => {
    const pieces = ["", ".", "/", "\\", "%2e", "\t", " ", "a", "?", "#", "@", ":", ";", "\u3002", "é"];
    const values = pieces.flatMap((first) => pieces.map((second) => first + second));
    const start = `https://example.com/a${before}`;
    const keeps = (x: string): boolean => {
      const path = `/a${before}${encodeURIComponent(x)}${after}`.replace(/\?.*/, "");
      const read = new URL(`${start}${encodeURIComponent(x)}${after}`).pathname;
      return read === path && !(isWholePart && x === "");
    };
    const kept = values.filter(keeps);
    expect(kept.length).toBeGreaterThan(200);
    expect(values.filter((x) => isUrl([start, "${{ inputs.x }}", after].join(""), { x }))).toEqual(kept);
  });

  it.each([
    "https://example.com/${{ inputs.x }}",
    "https://example.com/?q=${{ raw(inputs.x) }}",
    "${{ inputs.x }}/a",
  ])("may not contain half a surrogate pair in %s", (template) => {
    expect(() => urlOf(template, { x: "a\ud800" })).toThrow(
      expect.objectContaining({
        code: "input_invalid",
        message: expect.stringMatching(/inputs\.x\)? contains half a surrogate pair/),
      }),
    );
  });

  it("are not encoded elsewhere", () => {
    expect(compileValue("x/${{ inputs.id }}").evaluate({ ...scope, inputs })).toBe("x/a/b c?");
  });
});

describe("the types of the functions on values", () => {
  it.each([
    ["range(3)[0] + 1", []],
    ["parse_csv(inputs.name)[0].price.upper()", []],
    ["parse_csv(inputs.name, {'header': false})[0][1] + 'x'", []],
    ["range('3')", ["wrong_type"]],
    ["escape_html(inputs.n)", ["wrong_type"]],
    ["parse_csv(inputs.name)[0].price + 1", ["wrong_type"]],
    ["add_days(inputs.n, 1)", ["wrong_type"]],
    ["day(inputs.since) + 1", []],
  ])("%s", (source, codes) => {
    expect(checkCel(source, typeScope).issues.map(({ code }) => code)).toEqual(codes);
  });

  it("are text in a template", () => {
    expect(checkValue("${{ url_encode(inputs.name) }}", typeScope)).toMatchObject({
      shape: { kind: "string" },
      issues: [],
    });
  });
});
