import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import packageJson from "../../package.json" with { type: "json" };
import { ERRORS } from "../../src/core/errors.ts";
import { parseRoute, isServedOn } from "../../src/core/tool.ts";
import { sessionEndpoints } from "../../src/surfaces/session/endpoints.ts";
import { catalogue } from "../../tools/index.ts";
import { apiClient } from "../support/http.ts";
import { document, schemaErrorsAt, operations } from "../support/openapi.ts";
import { openRest } from "../support/rest.ts";

const served = catalogue.filter((tool) => isServedOn(tool, "rest"));
const inBraces = (path: string): string => path.replaceAll(/:(\w+)/g, "{$1}");
const atRoot = (name: string): URL => new URL(`../../${name}`, import.meta.url);

describe("the OpenAPI document", () => {
  it("names exactly the operations of the catalogue, signing in and out, events, the stream of a run, and /health", () => {
    const expected = [
      ...served.map((tool) => {
        const { method, path } = parseRoute(tool);
        return `${tool.name}: ${method} ${inBraces(path)}`;
      }),
      ...sessionEndpoints.map(({ name, method, path }) => `${name}: ${method} ${path}`),
    ];
    expect(
      operations.map(({ operationId, method, path }) => `${operationId}: ${method} ${path}`).toSorted(),
    ).toEqual(
      [
        ...expected,
        "health: GET /health",
        "receive_event: POST /events/{token}",
        "receive_delivery: POST /hooks/{token}",
        "run_events: GET /runs/{run_id}/events",
      ].toSorted(),
    );
  });

  it("names exactly the methods that are mounted", async () => {
    const { url } = await openRest();
    for (const [path, methods] of Object.entries(document.paths)) {
      const { headers } = await apiClient(url)("OPTIONS", path.replaceAll(/[{}]/g, ""));
      const allowed = headers
        .get("allow")!
        .split(", ")
        .filter((method) => method !== "HEAD");
      expect([path, allowed.toSorted()]).toEqual([
        path,
        Object.keys(methods)
          .map((method) => method.toUpperCase())
          .toSorted(),
      ]);
    }
  });

  it("documents every error that an operation declares, by its code", () => {
    for (const tool of served) {
      const { responses } = operations.find(({ operationId }) => operationId === tool.name)!;
      for (const code of tool.errors) {
        const described = `${tool.name}: ${responses[ERRORS[code].status]?.description}`;
        expect(described).toContain(`\`${code}\``);
      }
    }
  });

  it("documents every parameter and field of an operation's input, and nothing more", () => {
    for (const tool of served) {
      const { parameters, requestBody } = operations.find(({ operationId }) => operationId === tool.name)!;
      const names = [
        ...parameters.map(({ name }) => name).filter((name) => name !== "If-None-Match"),
        ...Object.keys(requestBody?.content["application/json"]!.schema.properties ?? {}),
      ];
      const headers: Readonly<Record<string, string>> = tool.headers ?? {};
      expect(names.toSorted()).toEqual(
        Object.keys(tool.input.shape)
          .map((field) => headers[field] ?? field)
          .toSorted(),
      );
    }
  });

  it("requires a key or a session, only a session where a person is needed, and nothing to sign in", () => {
    const session = [{ Session: [] }];
    const people = new Set([
      ...catalogue.filter((tool) => tool.requiresUser).map(({ name }) => name),
      ...sessionEndpoints.filter(({ requiresSession }) => requiresSession).map(({ name }) => name),
    ]);
    const open = new Set([
      "health",
      "receive_event",
      "receive_delivery",
      ...sessionEndpoints.filter(({ requiresSession }) => !requiresSession).map(({ name }) => name),
    ]);
    for (const { operationId, security, responses } of operations) {
      const expected = people.has(operationId) ? session : open.has(operationId) ? [] : undefined;
      expect([operationId, security]).toEqual([operationId, expected]);
      expect(open.has(operationId) || "401" in responses).toBe(true);
    }
    expect(document).toMatchObject({ security: [{ ApiKey: [] }, { Bearer: [] }, ...session] });
  });

  it("says for every operation who may use it", () => {
    for (const tool of served) {
      const { description, responses } = operations.find(({ operationId }) => operationId === tool.name)!;
      expect(description).toContain(`the scope \`${tool.scope}\``);
      expect(description.includes("API keys are refused")).toBe(tool.requiresUser ?? false);
      expect(responses[403]!.description.includes("`person_needed`")).toBe(tool.requiresUser ?? false);
    }
  });

  it("describes the running version, and equals the committed file", () => {
    expect(document.info.version).toBe(packageJson.version);
    const committed = readFileSync(atRoot("schemas/generated/openapi.json"), "utf8");
    expect(JSON.parse(committed)).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it("contains no undefined and no empty description", () => {
    const text = JSON.stringify(document);
    expect(text).not.toMatch(/undefined|\[object|NaN/);
    expect(text).not.toContain('"description":""');
  });

  it("has only examples that its own schemas allow", () => {
    const examples: { at: string; issues: string | undefined }[] = [];
    const look = (node: unknown, steps: (string | number)[]): void => {
      if (Array.isArray(node)) node.forEach((item, index) => look(item, [...steps, index]));
      else if (typeof node === "object" && node !== null) {
        const { example, schema } = node as { example?: unknown; schema?: unknown };
        if (example !== undefined) {
          // A media type's example belongs to the schema beside it, a schema's to itself.
          const owner = schema === undefined ? steps : [...steps, "schema"];
          examples.push({ at: steps.join("/"), issues: schemaErrorsAt(owner, example) });
        }
        for (const [key, value] of Object.entries(node)) {
          if (key !== "example" && key !== "default") look(value, [...steps, key]);
        }
      }
    };
    look(document, []);
    expect(examples.filter(({ issues }) => issues !== undefined)).toEqual([]);
    expect(examples.length).toBeGreaterThan(100);
  });

  it("documents lists in the query as the server reads them, and the server reads repeated parameters too", async () => {
    const { call } = await openRest();
    const lists = operations.flatMap(({ method, path, parameters }) =>
      parameters
        .filter(({ in: place, schema }) => place === "query" && schema.type === "array")
        .map((parameter) => ({ method, path, parameter })),
    );
    expect(lists.map(({ parameter }) => parameter.name)).toEqual(
      expect.arrayContaining(["status", "include"]),
    );
    for (const { method, path, parameter } of lists) {
      const { name, style, explode, schema } = parameter;
      expect([path, name, style, explode]).toEqual([path, name, "form", false]);
      const [first] = schema.items?.enum ?? [];
      if (typeof first !== "string") continue;
      // Issues name the second value, so it was read as one of its own; or the list, where it may have one value only.
      const named = schema.maxItems === 1 ? name : `${name}[1]`;
      const target = path.replaceAll(/\{\w+\}/g, "none");
      for (const query of [`${name}=${first},wrong`, `${name}=${first}&${name}=wrong`]) {
        const { status, body } = await call(method, `${target}?${query}`);
        expect([query, status, body.errors?.map((issue: { path: string }) => issue.path)]).toEqual([
          query,
          400,
          expect.arrayContaining([named]),
        ]);
      }
    }
  });

  it("passes the rules of Redocly and Spectral without exceptions", () => {
    expect(parse(readFileSync(atRoot(".redocly.yaml"), "utf8"))).toEqual({
      extends: ["recommended"],
      apis: { millrace: { root: "schemas/generated/openapi.json" } },
    });
    expect(parse(readFileSync(atRoot(".spectral.yaml"), "utf8"))).toEqual({ extends: ["spectral:oas"] });
    expect(existsSync(atRoot(".redocly.lint-ignore.yaml"))).toBe(false);
    const { scripts } = packageJson;
    expect(scripts["generate:check"]).toContain("npm run lint:openapi");
    expect(scripts["lint:openapi"]).toContain("redocly lint");
    expect(scripts["lint:openapi"]).toContain("spectral lint --fail-severity=hint");
  });
});
