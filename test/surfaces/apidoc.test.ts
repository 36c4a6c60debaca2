import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { VERSION } from "../../src/app/build.ts";
import { apiClient } from "../support/http.ts";
import { document } from "../support/openapi.ts";
import { expectProblem, openRest } from "../support/rest.ts";

describe("/apidoc", () => {
  it("is readable without a key, under a strict content security policy", async () => {
    const { url } = await openRest();
    const call = apiClient(url);
    const bare = await call("GET", "/apidoc");
    expect(bare.status).toBe(301);
    expect(bare.headers.get("location")).toBe("/apidoc/");
    const page = await call<string>("GET", "/apidoc/");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toMatch(/^text\/html/);
    const policy = Object.fromEntries(
      page.headers
        .get("content-security-policy")!
        .split(";")
        .map((part) => [part.split(" ", 1)[0]!, part.split(" ").slice(1).join(" ")]),
    );
    expect(policy).toEqual({
      "default-src": "'none'",
      "script-src": "'self'",
      "style-src": "'self' 'unsafe-inline'",
      "img-src": "'self' data:",
      "connect-src": "'self'",
      "font-src": "'self'",
      "base-uri": "'none'",
      "form-action": "'self'",
      "frame-ancestors": "'none'",
    });
    // The proxy that terminates TLS sets this header.
    expect(page.headers.has("strict-transport-security")).toBe(false);
  });

  it("refers only to files that it serves", async () => {
    const { url } = await openRest();
    const call = apiClient(url);
    const { body: page } = await call<string>("GET", "/apidoc/");
    const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!);
    expect(files.length).toBeGreaterThanOrEqual(5);
    expect(page).not.toMatch(/<script(?![^>]*\ssrc=)/);
    for (const file of files) {
      expect(file).toMatch(/^\.\//);
      const { status, headers } = await call("GET", `/apidoc/${file.slice(2)}`);
      expect([file, status]).toEqual([file, 200]);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it("serves the document at the root too, where programs try first", async () => {
    const call = apiClient((await openRest()).url);
    for (const name of ["openapi.json", "openapi.yaml"]) {
      const [atRoot, below] = [await call("GET", `/${name}`), await call("GET", `/apidoc/${name}`)];
      expect([atRoot.status, atRoot.body]).toEqual([200, below.body]);
      expectProblem(await call("POST", `/${name}`, {}), "method_not_allowed");
    }
  });

  it("serves the document of the running version, with equal content as JSON and YAML", async () => {
    const { url } = await openRest();
    const call = apiClient(url);
    const json = await call("GET", "/apidoc/openapi.json");
    const yaml = await call<string>("GET", "/apidoc/openapi.yaml");
    expect(json.headers.get("content-type")).toMatch(/^application\/json/);
    expect(yaml.headers.get("content-type")).toMatch(/^application\/yaml/);
    expect(json.body).toEqual(JSON.parse(JSON.stringify(document)));
    expect(parse(yaml.body)).toEqual(json.body);
    expect(json.body.info.version).toBe(VERSION);
    const { body: start } = await call<string>("GET", "/apidoc/swagger-ui-init.js");
    expect(start).toContain(`"version": "${VERSION}"`);
  });

  it("serves no other files, and refuses other methods", async () => {
    const { url } = await openRest();
    const call = apiClient(url);
    for (const path of [
      "/apidoc/none",
      "/apidoc/index.html",
      "/apidoc/package.json",
      "/apidoc/swagger-initializer.js",
      "/apidoc/..%2fpackage.json",
      "/apidoc/%zz",
    ]) {
      expectProblem(await call("GET", path), "route_not_found");
    }
    for (const path of [
      "/apidoc/",
      "/apidoc/openapi.json",
      "/apidoc/openapi.yaml",
      "/apidoc/swagger-ui.css",
    ]) {
      const answer = await call("POST", path, {});
      expectProblem(answer, "method_not_allowed");
      expect(answer.headers.get("allow")).toBe("GET, HEAD");
      expect((await call("HEAD", path)).status).toBe(200);
    }
  });
});
