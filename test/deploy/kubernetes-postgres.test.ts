/** The Kubernetes manifests with PostgreSQL: what they change in those of the other folder. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { describe, expect, it } from "vitest";
import { readEnvironment } from "../../src/config/environment.ts";
import { type YamlData, DEPLOY_DIRECTORY, parseYamlFile } from "../support/manifests.ts";

const FOLDER = join(DEPLOY_DIRECTORY, "kubernetes-postgres");
const read = (file: string): YamlData => parseYamlFile(join(FOLDER, file))[0];
const base = (file: string): YamlData[] => parseYamlFile(join(DEPLOY_DIRECTORY, "kubernetes", file));
const kustomization = read("kustomization.yaml");

interface Operation {
  op: "test" | "add" | "replace";
  path: string;
  value: YamlData;
}

/** Applies the operations of RFC 6902 that the patch uses, to members of objects and lists that exist. */
function patched(document: YamlData, operations: readonly Operation[]): YamlData {
  const result = structuredClone(document);
  for (const { op, path, value } of operations) {
    const keys = path.split("/").slice(1);
    const last = keys.pop()!;
    const parent = keys.reduce((node, key) => node?.[key], result);
    expect([path, parent]).toEqual([path, expect.anything()]);
    if (op === "test") expect([path, parent[last]]).toEqual([path, value]);
    else if (op === "add" && last === "-") parent.push(value);
    else {
      expect([path, op, parent[last]]).toEqual([path, "replace", expect.anything()]);
      parent[last] = value;
    }
  }
  return result;
}

const deployments = ["web", "mcp"].map(
  (name) => [name, patched(base(`${name}.yaml`)[0], read("deployments.yaml"))] as const,
);

describe("the Kubernetes manifests with PostgreSQL", () => {
  it("change both deployments of the others, and remove their volume", () => {
    expect(kustomization).toMatchObject({
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      resources: ["../kubernetes"],
      patches: [
        {
          path: "deployments.yaml",
          target: { kind: "Deployment", labelSelector: "app.kubernetes.io/name=millrace" },
        },
        { path: "state.yaml" },
      ],
    });
    for (const [, { metadata }] of deployments)
      expect(metadata.labels["app.kubernetes.io/name"]).toBe("millrace");
    const [claim] = base("state.yaml") as [YamlData];
    const { $patch, ...removed } = read("state.yaml");
    expect($patch).toBe("delete");
    expect(claim).toMatchObject(removed);
  });

  it.each(deployments)("%s is valid, and shares no volume", (_, deployment) => {
    expect(() => new Deployment(deployment).validate()).not.toThrow();
    const { volumes, containers } = deployment.spec.template.spec;
    expect(volumes.map((one: YamlData) => one.name as string)).toEqual(
      containers[0].volumeMounts.map((one: YamlData) => one.name as string),
    );
    expect(volumes.filter((one: YamlData) => one.persistentVolumeClaim !== undefined)).toEqual([]);
    // The password is in it.
    expect(volumes.find((one: YamlData) => one.secret).secret.optional).toBeUndefined();
  });

  it.each(deployments)(
    "%s has the address of a database, and a password that can change",
    (_, deployment) => {
      const list = deployment.spec.template.spec.containers[0].env as { name: string; value: string }[];
      const { MILLRACE_DATABASE_PASSWORD_FILE: file, ...env } = Object.fromEntries(
        list.map(({ name, value }) => [name, value]),
      );
      // The file exists in the pod only.
      expect(file).toBe("/run/secrets/millrace/DATABASE_PASSWORD");
      const { database, warnings } = readEnvironment(env);
      expect(warnings).toEqual([]);
      expect(database).toMatchObject({
        maxConnections: 6,
        address: { host: "db.example.com", ssl: { mode: "verify-full" } },
      });
      expect(database!.address.ssl.rootCertificates).toBe("/run/secrets/millrace/DATABASE_CA");
    },
  );

  it("are described where the others are", () => {
    const text = readFileSync(join(DEPLOY_DIRECTORY, "kubernetes/README.md"), "utf8");
    for (const entry of ["DATABASE_PASSWORD", "DATABASE_CA"]) expect(text).toContain(entry);
  });
});
