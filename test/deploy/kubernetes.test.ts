/** The Kubernetes manifests: validity by the API's schema and types, and the values that matter. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1/NetworkPolicy";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { ConfigMap } from "kubernetes-models/v1/ConfigMap";
import { Namespace } from "kubernetes-models/v1/Namespace";
import { PersistentVolumeClaim } from "kubernetes-models/v1/PersistentVolumeClaim";
import { Secret } from "kubernetes-models/v1/Secret";
import { Service } from "kubernetes-models/v1/Service";
import { ServiceAccount } from "kubernetes-models/v1/ServiceAccount";
import { describe, expect, it } from "vitest";
import { Config } from "../../schemas/config.ts";
import { parse } from "yaml";
import { temporaryDirectory } from "../support/instance.ts";
import { type YamlData, DEPLOY_DIRECTORY, parseYamlFile } from "../support/manifests.ts";

const FOLDER = join(DEPLOY_DIRECTORY, "kubernetes");
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const files = readdirSync(FOLDER).filter((name) => name.endsWith(".yaml") && name !== "kustomization.yaml");
const documents = files.flatMap((name) => parseYamlFile(join(FOLDER, name)));
const kustomization = parseYamlFile(join(FOLDER, "kustomization.yaml"))[0];

const text = (name: string): string => readFileSync(join(FOLDER, `${name}.yaml`), "utf8");
const ofKind = (kind: string): YamlData[] => documents.filter((one) => one.kind === kind);
const deployments = ofKind("Deployment").map((one) => [one.metadata.name, one] as [string, YamlData]);

// Imported one by one, because loading the whole API takes seconds.
const MODELS: Record<string, new (data?: YamlData) => { validate(): void }> = {
  "apps/v1 Deployment": Deployment,
  "autoscaling/v2 HorizontalPodAutoscaler": HorizontalPodAutoscaler,
  "networking.k8s.io/v1 Ingress": Ingress,
  "networking.k8s.io/v1 NetworkPolicy": NetworkPolicy,
  "policy/v1 PodDisruptionBudget": PodDisruptionBudget,
  "v1 ConfigMap": ConfigMap,
  "v1 Namespace": Namespace,
  "v1 PersistentVolumeClaim": PersistentVolumeClaim,
  "v1 Secret": Secret,
  "v1 Service": Service,
  "v1 ServiceAccount": ServiceAccount,
};

/** Compiles the documents as literals of the API's types, and returns the errors: fields that the API does not have. */
function unknownFieldsOf(list: readonly YamlData[]): string {
  const directory = temporaryDirectory();
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  const code = list.map(
    (one, index) =>
      `import type { I${one.kind} as T${index} } from "kubernetes-models/${one.apiVersion}";\n` +
      `export const d${index}: T${index} = ${JSON.stringify(one, null, 1)};\n`,
  );
  writeFileSync(join(directory, "documents.ts"), code.join(""));
  writeFileSync(join(directory, "package.json"), '{ "type": "module" }');
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--types", ""];
  try {
    execFileSync(tsc, [...options, "documents.ts"], { cwd: directory, encoding: "utf8", stdio: "pipe" });
    return "";
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

describe("the Kubernetes manifests", () => {
  it.each(documents.map((one) => [`${one.kind} ${one.metadata.name}`, one] as const))(
    "%s is valid by the API's schema",
    (_, document) => {
      const Model = MODELS[`${document.apiVersion} ${document.kind}`]!;
      expect(() => new Model(document).validate()).not.toThrow();
    },
  );

  it("are not valid with a list as a port", () => {
    const broken = structuredClone(ofKind("Service")[0]);
    broken.spec.ports[0].port = [3000];
    expect(() => new Service(broken).validate()).toThrow("port");
  });

  it("have no unknown field at any depth", () => {
    expect(unknownFieldsOf(documents)).toBe("");
    const [[, deployment]] = deployments as [[string, YamlData]];
    const broken = structuredClone(deployment);
    broken.spec.template.spec.containers[0].securityContext.readOnlyRootFileSystem = true;
    expect(unknownFieldsOf([broken])).toContain("readOnlyRootFileSystem");
  });

  it("are all applied in one namespace, except the example secret", () => {
    expect(new Set([...kustomization.resources, "secret.example.yaml"])).toEqual(new Set(files));
    expect(kustomization).toMatchObject({
      apiVersion: "kustomize.config.k8s.io/v1beta1",
      kind: "Kustomization",
      namespace: "millrace",
    });
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
    expect(kustomization.images).toMatchObject([{ name: "millrace", newTag: version }]);
    for (const one of documents) expect(one.metadata.namespace ?? one.metadata.name).toBe("millrace");
    expect(ofKind("Namespace")[0].metadata.labels["pod-security.kubernetes.io/enforce"]).toBe("restricted");
  });

  it("contain a configuration that Millrace accepts", () => {
    const [map] = ofKind("ConfigMap") as [YamlData];
    expect(Config.safeParse(parse(map.data["config.yaml"] as string) ?? {}).success).toBe(true);
  });

  it.each(deployments)(
    "%s meets the restricted pod security standard, without access to the cluster's API",
    (_, { spec }) => {
      const pod = spec.template.spec;
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } },
      });
      expect(pod.containers).toHaveLength(1);
      expect(pod.containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        privileged: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      // Only the volumes that the image declares are writable.
      const writable = pod.containers[0].volumeMounts.filter((one: YamlData) => one.readOnly !== true);
      expect(writable.map((one: YamlData) => one.mountPath as string)).toEqual(["/var/lib/millrace", "/tmp"]);
      expect(pod.volumes.map((one: YamlData) => one.name as string)).toEqual(
        pod.containers[0].volumeMounts.map((one: YamlData) => one.name as string),
      );
    },
  );

  it.each(deployments)("%s is probed with the values of the reference deployment", (_, { spec }) => {
    const [container] = spec.template.spec.containers as [YamlData];
    const health = { httpGet: { path: "/health", port: "http" } };
    expect(container.readinessProbe).toEqual({
      ...health,
      periodSeconds: 30,
      timeoutSeconds: 5,
      successThreshold: 2,
      failureThreshold: 3,
    });
    const { periodSeconds, failureThreshold } = container.startupProbe;
    expect(container.startupProbe).toMatchObject(health);
    expect(periodSeconds * failureThreshold).toBe(60);
    // A pod is killed only after minutes without an answer, not because it is busy.
    expect(container.livenessProbe).toMatchObject(health);
    expect(container.livenessProbe.periodSeconds * container.livenessProbe.failureThreshold).toBe(300);
  });

  it.each(deployments)(
    "%s is drained before it is killed, and an update never removes capacity",
    (_, { spec }) => {
      const pod = spec.template.spec;
      expect(pod.containers[0].args).toContain("--drain-delay=65");
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(65 + 10);
      expect(spec.replicas).toBe(2);
      expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    },
  );

  it.each(deployments)(
    "%s is selected by its own labels in its service, autoscaler and disruption budget",
    (name, { spec }) => {
      const labels = spec.template.metadata.labels as Record<string, string>;
      expect(spec.selector.matchLabels).toEqual(labels);
      const named = (kind: string): YamlData => ofKind(kind).find((one) => one.metadata.name === name);
      expect(named("Service").spec.selector).toEqual(labels);
      expect(named("Service").spec.ports[0].targetPort).toBe("http");
      expect(named("PodDisruptionBudget").spec).toEqual({
        maxUnavailable: 1,
        selector: { matchLabels: labels },
      });
      expect(named("HorizontalPodAutoscaler").spec).toMatchObject({
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
        minReplicas: 1,
        maxReplicas: 10,
        metrics: [{ resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } } }],
        behavior: {
          scaleUp: { stabilizationWindowSeconds: 300 },
          scaleDown: { stabilizationWindowSeconds: 300 },
        },
      });
      // The autoscaler's target is a share of the requested CPU, so without a request it would never scale.
      expect(spec.template.spec.containers[0].resources.requests.cpu).toBe("500m");
    },
  );

  it("run the web server and the MCP server in the same way", () => {
    const web = text("web")
      .replace(/ +- --auth-mode=built-in\n/, "")
      .replace("- serve", "- mcp-sse");
    expect(web.replaceAll("web", "mcp").replaceAll("3000", "8000")).toBe(text("mcp"));
  });

  it("send MCP's paths to its server, unbuffered, and all others to the web server", () => {
    const routes = ofKind("Ingress").flatMap((one) =>
      one.spec.rules.flatMap((rule: YamlData) =>
        rule.http.paths.map((to: YamlData) => [to.path, to.pathType, to.backend.service.name] as string[]),
      ),
    );
    expect(routes).toEqual([
      ["/", "Prefix", "millrace-web"],
      ["/mcp", "Exact", "millrace-mcp"],
      ["/sse", "Exact", "millrace-mcp"],
      ["/messages", "Exact", "millrace-mcp"],
      ["/.well-known/oauth-protected-resource", "Prefix", "millrace-mcp"],
    ]);
    for (const { metadata } of ofKind("Ingress")) {
      expect(metadata.annotations["nginx.ingress.kubernetes.io/proxy-buffering"]).toBe("off");
      expect(metadata.annotations["nginx.ingress.kubernetes.io/proxy-body-size"]).toBe("2m");
    }
  });

  it("admit only the ingress controller and Prometheus, and block the metadata service", () => {
    const [policy] = ofKind("NetworkPolicy") as [YamlData];
    expect(policy.spec.policyTypes).toEqual(["Ingress", "Egress"]);
    expect(policy.spec.podSelector.matchLabels).toEqual({ "app.kubernetes.io/name": "millrace" });
    expect(policy.spec.ingress.map((one: YamlData) => one.ports[0].port as string)).toEqual([
      "http",
      "metrics",
    ]);
    expect(policy.spec.ingress.every((one: YamlData) => one.from.length === 1)).toBe(true);
    expect(policy.spec.egress.at(-1).to[0].ipBlock.except).toEqual(["169.254.0.0/16"]);
  });
});
