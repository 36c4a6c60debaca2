import { describe, expect, it } from "vitest";
import { createMasker } from "../../../src/connections/masking.ts";
import { compileOutputSchema } from "../../../src/connections/models/output-schema.ts";
import { readAnswer } from "../../../src/connections/models/read-answer.ts";
import type { JsonSchema } from "../../../src/core/json-schema/index.ts";
import { expectCost } from "../../support/expect-cost.ts";
import { askModel, mockModelServer, VENDORS } from "../../support/mock-model-server.ts";

const MOOD = {
  type: "object",
  properties: { mood: { enum: ["good", "bad"] }, why: { type: "string" } },
  required: ["mood"],
  additionalProperties: false,
};
const GOOD = '{"mood":"good"}';
const BAD = '{"mood":"bad"}';
const MASK = createMasker(["sk-0123456789"]);

function read(text: string, schema: JsonSchema = MOOD, isCut = false) {
  const check = compileOutputSchema(schema);
  if ("unusable" in check) throw new Error(check.unusable);
  return readAnswer({ text, isCut }, check.parse, MASK);
}
const GOOD_VALUE = { value: { mood: "good", why: null } };
const issueOf = (text: string, schema?: JsonSchema): string => {
  const result = read(text, schema);
  return typeof result === "object" && "issues" in result
    ? result.issues[0]!
    : `no issue: ${JSON.stringify(result)}`;
};

const THINKING = `It may be ${BAD}, or "good".`;

describe("readAnswer", () => {
  it.each([
    ["nothing else", GOOD],
    ["a byte order mark", `\uFEFF${GOOD}`],
    ["a byte order mark and a code block", `\uFEFF\`\`\`json\r\n${GOOD}\r\n\`\`\``],
    ["a preamble", `Here is the JSON you asked for:\n\n${GOOD}`],
    ["a trailing remark", `${GOOD}\n\nLet me know if [you] need {anything} else!`],
    ["a code block", `\`\`\`json\n${GOOD}\n\`\`\``],
    ["a code block on one line", `\`\`\`json ${GOOD} \`\`\``],
    ["a code block in capitals", `\`\`\`JSON\n${GOOD}\n\`\`\``],
    ["a code block of tildes", `~~~json\n${GOOD}\n~~~`],
    ["a code block with CRLF", `\`\`\`json\r\n${GOOD}\r\n\`\`\`\r\n`],
    ["a code block without an end", `\`\`\`json\n${GOOD}`],
    ["a code block in prose", `Sure!\n\n\`\`\`\n${GOOD}\n\`\`\`\nThat is all.`],
    ["the name of the language alone", `json\n${GOOD}`],
    ["several code blocks", `\`\`\`sh\ncurl x\n\`\`\`\n\`\`\`json\n${GOOD}\n\`\`\``],
    ["the same value twice", `\`\`\`json\n${GOOD}\n\`\`\`\nIn one line: {"mood": "good", "why": null}`],
    ["a value of another form", `{"kind":"answer"}\n${GOOD}`],
    ["numbers in brackets", `As [1] and [2] say: ${GOOD}`],
    ["a form that is not JSON", `In the form {"mood": "good" | "bad"}: ${GOOD}`],
    ["thinking", `<think>\n${THINKING}\n</think>\n\n${GOOD}`],
    ["thinking by another name", `<thinking>${THINKING}</thinking>${GOOD}`],
    ["thinking in capitals", `<THINK>${THINKING}</THINK>\n\`\`\`json\n${GOOD}\n\`\`\``],
    ["thinking without its beginning", `Okay, ${THINKING}\n</think>\n\n${GOOD}`],
    ["thinking of which a value does not end", `Okay: {"mood": bad </think> ${GOOD}`],
    ["empty thinking", `<think>\n\n</think>\n\n${GOOD}`],
    ["thinking behind a preamble", `Let me see. <think>${THINKING}</think> ${GOOD}`],
    ["thinking at the end", `${GOOD}\n<think>${THINKING}</think>`],
    ["thinking that names its tags", `<think>I write <think> and ${BAD}</think> ${BAD} </think> ${GOOD}`],
    ["a broken draft that is corrected", `Draft: {"mood":"bad",}. Corrected: ${GOOD}`],
    ["a form that is not JSON between two equal values", `${GOOD} is {"mood": "good" | "bad"}: ${GOOD}`],
    ["200 broken values in thinking without its beginning", `${"{a:} ".repeat(200)}</think> ${GOOD}`],
    ["Kimi's thinking", `◁think▷${THINKING}◁/think▷${GOOD}`],
    ["Magistral's thinking", `[THINK]${THINKING}[/THINK]${GOOD}`],
  ])("takes the object from an answer with %s", (_, text) => {
    expect(read(text)).toEqual(GOOD_VALUE);
  });

  // https://docs.vllm.ai/en/latest/api/vllm/reasoning/ and https://cookbook.openai.com/articles/openai-harmony
  it.each([
    ["<think>", "</think>"],
    ["<thinking>", "</thinking>"],
    ["<thought>", "</thought>"],
    ["<thoughts>", "</thoughts>"],
    ["<reasoning effort='high'>", "</reasoning>"],
    ["<analysis>", "</analysis>"],
    ["<reflection>", "</reflection>"],
    ["<scratchpad>", "</scratchpad>"],
    ["<seed:think>", "</seed:think>"],
    ["<|START_THINKING|>", "<|END_THINKING|>"],
    ["<|begin_of_thought|>", "<|end_of_thought|>"],
    ["<|channel>thought\n", "<channel|>"],
    ["<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"],
    ["<|channel|>analysis<|message|>", "<|channel|>final <|constrain|>json<|message|>"],
    ["[THINK]", "[/THINK]"],
    ["◁think▷", "◁/think▷"],
  ])("takes nothing out of thinking between %s and %s", (start, end) => {
    expect(read(`${start}${GOOD}${end}${BAD}`)).toEqual({ value: { mood: "bad", why: null } });
    expect(read(`${GOOD}${end}${BAD}`)).toEqual({ value: { mood: "bad", why: null } });
    expect(issueOf(`${start}${GOOD}${end}I refuse.`)).toContain("is not JSON behind its thinking");
    expect(issueOf(`${start}${GOOD}`)).toContain("has only thinking");
  });

  it("leaves the texts in a value as they are", () => {
    const value = { mood: "good", why: "<think>```json {}```</think>\uFEFF {" };
    expect(read(JSON.stringify(value))).toEqual({ value });
    expect(read(`Here: ${JSON.stringify(value)} Done.`)).toEqual({ value });
  });

  it("keeps all digits of numbers", () => {
    const schema = { type: "object", properties: { id: { type: "integer" } } };
    const value = { id: "9007199254740993" };
    expect(read('<think>9007199254740992</think>```json {"id":9007199254740993} ```', schema)).toEqual({
      value,
    });
  });

  it.each([
    ["```json\n42\n```", { type: "integer" }, 42],
    ["<think>41</think>\n42", { type: "integer" }, 42],
    ["The answer:\n~~~\n42\n~~~", { type: "integer" }, 42],
    ['<think>Hm.</think> "yes"', { type: "string" }, "yes"],
    ["```json true ```", { type: "boolean" }, true],
    ['```\n"in the form {a: b}, see [1]"\n```', {}, "in the form {a: b}, see [1]"],
    ["I found these: [1, 2]", { type: "array" }, [1, 2]],
  ])("takes other values than objects: %s", (text, schema, value) => {
    expect(read(text, schema)).toEqual({ value });
  });

  it.each([
    ["two values that match", `${GOOD}\nor\n${BAD}`, "at character 1 and at character 20"],
    ["two code blocks", `\`\`\`\n${GOOD}\n\`\`\`\n\`\`\`\n${BAD}\n\`\`\``, "several JSON values that match"],
    ["no JSON", "Certainly! The mood is good.", 'is not JSON; it begins with "Certainly! The mood is good."'],
    ["nothing", " \n", "the answer is empty"],
    [
      "thinking that does not end",
      `<think>${THINKING}`,
      "begins at character 1 with <think> and does not end",
    ],
    ["thinking alone", `<think>${THINKING}</think>`, "has nothing behind its thinking"],
    ["no JSON behind its thinking", `<think>${THINKING}</think> Good.`, "is not JSON behind its thinking"],
    ["JSON that is broken", '{"mood":"good",}', "begins at character 1 is not valid, see character 16"],
    ["JavaScript", "Here: {mood: 'good'}", "begins at character 7 is not valid"],
    ["JSON that does not end", '{"mood":"good"', "begins at character 1 and does not end"],
    ["a second value that does not end", `${GOOD} {"mood":`, "begins at character 17 and does not end"],
    ["a value inside of another", `{"result":${GOOD}}`, "mood is required"],
    ["a value inside of a broken one", `{"result":${GOOD},}`, "is not valid"],
    ["a value inside of one that does not end", `{"result":${GOOD}`, "does not end"],
    ["a value behind a tag in a broken one", `{"why":"</think>","a":${GOOD},} or so`, "is not valid"],
    ["a value behind a tag in one that does not end", `{"why":"a</think>","a":${GOOD}`, "does not end"],
    ["a broken correction", `Draft: ${GOOD}. Final: {"mood":"bad",}`, "begins at character 32 is not valid"],
    ["a correction in JavaScript", `Not ${GOOD}, but {mood: 'bad'}`, "begins at character 26 is not valid"],
    [
      "a correction in a code block",
      `${GOOD}\n\`\`\`\n{"mood":bad}\n\`\`\``,
      "begins at character 21 is not",
    ],
    [
      "a correction in typographic quotes",
      `Not ${GOOD}, but {“mood”: “bad”}`,
      "begins at character 26 is not",
    ],
    ["a correction with a comment", `Not ${GOOD}, but { // Not good\n"mood": "bad" }`, "character 26 is not"],
    [
      "a correction with a key in German",
      `Not ${GOOD}, but {ärger: 1}`,
      "begins at character 26 is not valid",
    ],
    ["values that do not match", '{"mood":1} {"mood":2}', "none of the 2 JSON values of the answer matches"],
    ["one that does not match", 'Here: {"mood":"fine"}', "mood must be one of good, bad"],
    ["too many values", Array.from({ length: 21 }, (_, n) => `[${n}]`).join(), "more than 20 JSON values"],
  ])("says why it takes nothing from an answer with %s", (_, text, expected) => {
    expect(issueOf(text)).toContain(expected);
  });

  it("hides secrets in the beginning of an answer, and shows no more than that", () => {
    const issue = issueOf(`The key is sk-0123456789. ${"x".repeat(1_000)}`);
    expect(issue).toContain("The key is");
    expect(issue).not.toContain("sk-0123456789");
    expect(issue.length).toBeLessThan(200);
  });

  it("takes nothing but whole JSON from an answer that was cut at its length limit", () => {
    expect(read(GOOD, MOOD, true)).toEqual(GOOD_VALUE);
    expect(read(`${GOOD}\nThis is bec`, MOOD, true)).toBe("cut");
  });

  it.each([
    "{",
    "[",
    "{'}",
    "{a:}",
    '```"  ``',
    "x</think>```1 ",
    '{"a":1,"a":1}',
    "{'}</think>",
    "<seed:",
    "<|channel|>final",
    "<|channel|>analysis<|message|>",
    '{"',
    '{"a":}',
    "{a:",
    "[1]",
    "```",
    "```json\n",
    "~~~ ``` ",
    "<think>",
    "</think>",
    '{"</think>',
    "</think>{a:",
  ])("reads an answer of a megabyte of %j in one pass", async (part) => {
    const text = part.repeat(1024 ** 2 / part.length);
    await expectCost(500, () => expect(read(text)).toHaveProperty("issues"));
  });

  it("stops to read different values that no object can hold", async () => {
    const text = Array.from({ length: 50_000 }, (_, n) => `{"${n}":1,"${n}":1}`).join("");
    await expectCost(500, () => expect(issueOf(text)).toContain("more than 1000 JSON values"));
  });
});

describe.each(VENDORS)("an answer of %s", (vendor) => {
  it("with thinking and a code block is an object, after one request", async () => {
    const peer = await mockModelServer(vendor, {
      text: `<think>${THINKING}</think>\n\`\`\`JSON\n${GOOD}\n\`\`\``,
    });
    expect((await askModel(vendor, peer, { outputSchema: MOOD })).object).toEqual(GOOD_VALUE.value);
    expect(peer.received).toHaveLength(1);
  });

  it("that is not certain is asked for again, with the reason", async () => {
    const peer = await mockModelServer(vendor, { text: `${GOOD} or ${BAD}` }, { text: GOOD });
    expect((await askModel(vendor, peer, { outputSchema: MOOD })).object).toEqual(GOOD_VALUE.value);
    expect(peer.received[1]!.body).toContain("several JSON values that match");
  });

  it("stays as the model wrote it without a schema", async () => {
    const text = `\uFEFF<think>Hm.</think>\n\`\`\`json\n${GOOD}\n\`\`\` `;
    expect((await askModel(vendor, await mockModelServer(vendor, { text }))).text).toBe(text);
  });
});
