/** The reference deployment: the template has the required values, and passes the rules of AWS. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Engine, RegoEngine, TemplateFile } from "@aws/cloudformation-validate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readEnvironment } from "../../src/config/environment.ts";
import { mockHttpServer } from "../support/mock-http-server.ts";
import { parseDockerfile } from "../support/image.ts";
import { temporaryDirectory } from "../support/instance.ts";
import { type YamlData, DEPLOY_DIRECTORY, parseCloudFormation } from "../support/manifests.ts";

const FILE = join(DEPLOY_DIRECTORY, "aws/millrace.yaml");
const text = readFileSync(FILE, "utf8");
const template = parseCloudFormation(text);

/** The value at a path that starts with a resource, such as `WebTask.ContainerDefinitions.0.StopTimeout`. */
function at(path: string): YamlData {
  const [resource, ...rest] = path.split(".");
  return rest.reduce((value, key) => value?.[key], template.Resources[resource!]?.Properties);
}

const attribute = (resource: string, list: string, key: string): string | undefined =>
  (at(`${resource}.${list}`) as { Key: string; Value: string }[]).find((one) => one.Key === key)?.Value;

function variablesOf(task: string): Record<string, string> {
  return Object.fromEntries(
    entriesOf(task, "Environment", "EFS").map(({ Name, Value }) => [Name, Value as string]),
  );
}

/** A list of a task's container for one place of the state, without what other conditions add. */
function entriesOf(
  task: string,
  list: "Environment" | "Secrets",
  storage: "EFS" | "PostgreSQL",
): Record<string, string>[] {
  const entries = at(`${task}.ContainerDefinitions.0.${list}`) as YamlData[];
  return entries.flatMap((entry) => {
    if (!Array.isArray(entry)) return [entry as Record<string, string>];
    const [condition, then] = entry as [string, Record<string, string>];
    return condition === "UsesPostgres" && storage === "PostgreSQL" ? [then] : [];
  });
}

let engine: Engine;
beforeAll(() => {
  engine = new RegoEngine();
});
afterAll(() => engine.free());

/** The findings, except notes on properties that can't change later, on tags, which the stack sets, and on the region. */
function issuesOf(file: string): string[] {
  const { status, diagnostics } = engine.validateStandard(new TemplateFile(file));
  expect(status).toBe("OK");
  return diagnostics
    .filter(({ ruleId }) => !["I9001", "I9003", "I9040"].includes(ruleId))
    .map(({ ruleId, message }) => `${ruleId} ${message}`);
}

const probe = (group: string, port: number): [string, unknown][] => [
  [`${group}.Protocol`, "HTTP"],
  [`${group}.Port`, port],
  [`${group}.HealthCheckPort`, String(port)],
  [`${group}.HealthCheckPath`, "/health"],
  [`${group}.HealthCheckIntervalSeconds`, 30],
  [`${group}.HealthCheckTimeoutSeconds`, 5],
  [`${group}.HealthyThresholdCount`, 2],
  [`${group}.UnhealthyThresholdCount`, 3],
];

const service = (name: string): [string, unknown][] => [
  [`${name}Service.DesiredCount`, 2],
  [`${name}Service.HealthCheckGracePeriodSeconds`, 60],
  [`${name}Service.EnableExecuteCommand`, false],
  [`${name}Service.DeploymentConfiguration.MinimumHealthyPercent`, 100],
  [`${name}Service.DeploymentConfiguration.DeploymentCircuitBreaker`, { Enable: true, Rollback: true }],
  [`${name}Service.NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp`, "DISABLED"],
  [`${name}Service.NetworkConfiguration.AwsvpcConfiguration.SecurityGroups`, ["!Ref TaskSecurityGroup"]],
  [`${name}Scaling.MinCapacity`, 1],
  [`${name}Scaling.MaxCapacity`, 10],
  [`${name}Scaling.ResourceId`, "!Sub service/${Cluster}/${" + name + "Service.Name}"],
  [
    `${name}ScalingPolicy.TargetTrackingScalingPolicyConfiguration`,
    {
      PredefinedMetricSpecification: { PredefinedMetricType: "ECSServiceAverageCPUUtilization" },
      TargetValue: 70,
      ScaleInCooldown: 300,
      ScaleOutCooldown: 300,
    },
  ],
];

const container = (task: string): [string, unknown][] =>
  (
    [
      ["HealthCheck.Interval", 30],
      ["HealthCheck.Timeout", 3],
      ["HealthCheck.Retries", 3],
      ["HealthCheck.StartPeriod", 60],
      ["User", "1000:1000"],
      ["ReadonlyRootFilesystem", true],
      ["LinuxParameters", { InitProcessEnabled: true, Capabilities: { Drop: ["ALL"] } }],
      ["LogConfiguration.LogDriver", "awslogs"],
    ] satisfies [string, unknown][]
  ).map(([path, value]) => [`${task}.ContainerDefinitions.0.${path}`, value]);

const signIn = (action: string): [string, unknown][] => [
  [`${action}.Type`, "authenticate-cognito"],
  [`${action}.AuthenticateCognitoConfig.Scope`, "openid email profile"],
  [`${action}.AuthenticateCognitoConfig.SessionCookieName`, "AWSELBAuthSessionCookie"],
  [`${action}.AuthenticateCognitoConfig.UserPoolClientId`, "!Ref UserPoolClient"],
];

const FIGURES: [path: string, value: unknown][] = [
  ...probe("WebTargetGroup", 3000),
  ...probe("McpTargetGroup", 8000),
  ...service("Web"),
  ...service("Mcp"),
  ...container("WebTask"),
  ...container("McpTask"),
  ["WebTask.ContainerDefinitions.0.PortMappings", [{ ContainerPort: 3000, Protocol: "tcp" }]],
  ["McpTask.ContainerDefinitions.0.PortMappings", [{ ContainerPort: 8000, Protocol: "tcp" }]],
  ["UserPool.Policies.PasswordPolicy.MinimumLength", 8],
  ["UserPool.Policies.PasswordPolicy.RequireUppercase", true],
  ["UserPool.Policies.PasswordPolicy.RequireLowercase", true],
  ["UserPool.Policies.PasswordPolicy.RequireNumbers", true],
  ["UserPool.Policies.PasswordPolicy.RequireSymbols", true],
  ["UserPoolClient.AllowedOAuthFlows", ["code"]],
  ["UserPoolClient.AllowedOAuthScopes", ["openid", "email", "profile"]],
  ["UserPoolClient.CallbackURLs", ["!Sub https://${DomainName}/oauth2/idpresponse"]],
  ["UserPoolClient.LogoutURLs", ["!Sub https://${DomainName}/logout"]],
  ["UserPoolClient.GenerateSecret", true],
  ...signIn("WebPagesRule.Actions.0"),
  ["WebPagesRule.Actions.0.AuthenticateCognitoConfig.OnUnauthenticatedRequest", "authenticate"],
  ...signIn("HttpsListener.DefaultActions.0"),
  ["HttpsListener.DefaultActions.0.AuthenticateCognitoConfig.OnUnauthenticatedRequest", "deny"],
  ["HttpsListener.SslPolicy", "ELBSecurityPolicy-TLS13-1-2-2021-06"],
  ["HttpListener.DefaultActions.0.Type", "redirect"],
  ["AccessPoint.PosixUser", { Uid: "1000", Gid: "1000" }],
  [
    "AccessPoint.RootDirectory",
    { Path: "/millrace", CreationInfo: { OwnerUid: "1000", OwnerGid: "1000", Permissions: "0700" } },
  ],
  ["FileSystem.Encrypted", true],
  ["FileSystem.BackupPolicy.Status", "ENABLED"],
];

describe("the reference deployment on AWS", () => {
  it.each(FIGURES)("%s is %j", (path, value) => {
    expect(at(path)).toEqual(value);
  });

  it("drains for 65 s, and leaves 10 s for open requests before it kills a task", () => {
    for (const [task, group] of [
      ["WebTask", "WebTargetGroup"],
      ["McpTask", "McpTargetGroup"],
    ] as const) {
      const definition = at(`${task}.ContainerDefinitions.0`) as { Command: string[]; StopTimeout: number };
      expect(definition.Command.join(" ")).toMatch(/ --drain-delay 65$/);
      expect(definition.StopTimeout).toBeGreaterThanOrEqual(65 + 10);
      // The maximum of Fargate, in seconds.
      expect(definition.StopTimeout).toBeLessThanOrEqual(120);
      expect(attribute(group, "TargetGroupAttributes", "deregistration_delay.timeout_seconds")).toBe("65");
      expect(attribute(group, "TargetGroupAttributes", "stickiness.enabled")).toBe("false");
    }
    // Below the 72 s after which the server closes an idle connection (src/surfaces/http-server.ts), and above the 50 s
    // that a request can wait for a run.
    expect(attribute("LoadBalancer", "LoadBalancerAttributes", "idle_timeout.timeout_seconds")).toBe("60");
  });

  it("uses the image's own command for the health check", () => {
    const dockerfile = readFileSync(join(DEPLOY_DIRECTORY, "../Dockerfile"), "utf8");
    const { rest } = parseDockerfile(dockerfile).find(({ word }) => word === "HEALTHCHECK")!;
    const command = JSON.parse(rest.slice(rest.indexOf("CMD ") + 4)) as string[];
    expect(at("WebTask.ContainerDefinitions.0.HealthCheck.Command")).toEqual(["CMD", ...command]);
    expect(at("McpTask.ContainerDefinitions.0.HealthCheck.Command")).toEqual(["CMD", ...command]);
    expect(variablesOf("McpTask")["HEALTH_PORT"]).toBe("8000");
  });

  it("passes the user pool and the load balancer to the web server", () => {
    expect(variablesOf("WebTask")).toMatchObject({
      MILLRACE_STATE_DIR: "/var/lib/millrace",
      MILLRACE_BASE_URL: "!Sub https://${DomainName}",
      MILLRACE_MCP_URL: "!Sub https://${DomainName}",
      MILLRACE_TRUSTED_PROXIES: "!Ref VpcCidr",
      MILLRACE_COGNITO_USER_POOL_ID: "!Ref UserPool",
      MILLRACE_COGNITO_CLIENT_ID: "!Ref UserPoolClient",
      MILLRACE_COGNITO_DOMAIN: "!Sub https://${UserPoolDomain}.auth.${AWS::Region}.amazoncognito.com",
      MILLRACE_ALB_ARN: "!Ref LoadBalancer",
      MILLRACE_ADMIN_EMAILS: "!Ref AdminEmails",
    });
    expect(at("WebTask.ContainerDefinitions.0.Command.0")).toContain(" serve --auth-mode cognito ");
    expect(at("McpTask.ContainerDefinitions.0.Command.0")).toContain(" mcp-sse ");
  });

  it("mounts one encrypted volume in both kinds of task, through the access point only", () => {
    for (const task of ["WebTask", "McpTask"]) {
      expect(at(`${task}.Volumes.0`)).toEqual([
        "UsesPostgres",
        { Name: "state" },
        {
          Name: "state",
          EFSVolumeConfiguration: {
            FilesystemId: "!Ref FileSystem",
            TransitEncryption: "ENABLED",
            AuthorizationConfig: { AccessPointId: "!Ref AccessPoint", IAM: "ENABLED" },
          },
        },
      ]);
      const places = at(`${task}.ContainerDefinitions.0.MountPoints`) as { ContainerPath: string }[];
      // The volumes that the image declares.
      expect(places.map((one) => one.ContainerPath)).toEqual(["/var/lib/millrace", "/tmp"]);
    }
    expect(template.Resources.FileSystem.DeletionPolicy).toBe("Retain");
    expect(at("StatePolicy.PolicyDocument.Statement")).toHaveLength(1);
  });

  it("creates either the file system or the database", () => {
    const made = (condition: string): string[] =>
      Object.entries(template.Resources as Record<string, YamlData>)
        .filter(([, one]) => one.Condition === condition)
        .map(([name]) => name);
    expect(made("UsesEfs")).toEqual([
      "FileSystemSecurityGroup",
      "FileSystem",
      "MountTargetA",
      "MountTargetB",
      "AccessPoint",
      "StatePolicy",
    ]);
    expect(made("UsesPostgres")).toEqual([
      "DatabaseSecret",
      "DatabaseSecurityGroup",
      "DatabaseSubnets",
      "Database",
    ]);
    expect(template.Conditions).toMatchObject({
      UsesPostgres: ["!Ref StateStorage", "PostgreSQL"],
      UsesEfs: ["!Ref StateStorage", "EFS"],
    });
    expect(template.Parameters.StateStorage.Default).toBe("EFS");
  });

  it("has an encrypted database in two zones, which only the tasks reach", () => {
    expect(at("Database")).toMatchObject({
      MultiAZ: true,
      StorageEncrypted: true,
      DeletionProtection: true,
      PubliclyAccessible: false,
      BackupRetentionPeriod: 14,
      DBSubnetGroupName: "!Ref DatabaseSubnets",
      VPCSecurityGroups: ["!GetAtt DatabaseSecurityGroup.GroupId"],
    });
    expect(template.Resources.Database.DeletionPolicy).toBe("Snapshot");
    expect(at("DatabaseSecurityGroup.SecurityGroupIngress")).toMatchObject([
      { FromPort: 5432, ToPort: 5432, SourceSecurityGroupId: "!Ref TaskSecurityGroup" },
    ]);
  });

  it.each(["WebTask", "McpTask"])("gives %s the address and the password of the database", (task) => {
    const variables = Object.fromEntries(
      entriesOf(task, "Environment", "PostgreSQL").map(({ Name, Value }) => [Name!, Value!]),
    );
    const url = variables["MILLRACE_DATABASE_URL"]!.replace("!Sub ", "")
      .replace("${Database.Endpoint.Address}", "db.example.com")
      .replace("${Database.Endpoint.Port}", "5432");
    const { database } = readEnvironment({ MILLRACE_DATABASE_URL: url });
    expect(database!.address).toMatchObject({
      host: "db.example.com",
      user: at("Database.MasterUsername"),
      database: at("Database.DBName"),
      ssl: { mode: "verify-full", rootCertificates: "/tmp/rds.pem" },
    });
    expect(entriesOf(task, "Secrets", "PostgreSQL")).toEqual([
      { Name: "MILLRACE_DATABASE_PASSWORD", ValueFrom: "!Ref DatabaseSecret" },
    ]);
    expect(variablesOf(task)).not.toHaveProperty("MILLRACE_DATABASE_URL");
  });

  it("runs a task's command as one string, and first fetches the certificates of the database", async () => {
    const entry = at("WebTask.ContainerDefinitions.0.EntryPoint") as string[];
    expect(at("McpTask.ContainerDefinitions.0.EntryPoint")).toEqual(entry);
    const directory = temporaryDirectory();
    const [shell, option, script] = entry as [string, string, string];
    const inDirectory = script.replace("/tmp/rds.pem", join(directory, "rds.pem"));
    const run = async (env: Record<string, string>): Promise<string> => {
      const command = `printf '%s' "$GREETING, $(cat ${join(directory, "rds.pem")} 2>/dev/null || echo none)"`;
      const { stdout } = await promisify(execFile)(shell, [option, inDirectory, command], {
        env: { PATH: process.env["PATH"], GREETING: "Hello", ...env },
      });
      return stdout;
    };
    expect(await run({})).toBe("Hello, none");
    const peer = await mockHttpServer(({ path }, response) => {
      response.writeHead(path === "/bundle.pem" ? 200 : 404).end("certificates");
    });
    expect(await run({ RDS_CERTIFICATES_URL: `${peer.url}/bundle.pem` })).toBe("Hello, certificates");
    await expect(run({ RDS_CERTIFICATES_URL: `${peer.url}/missing` })).rejects.toThrow(/answered 404/);
  });

  it("admits only the load balancer to the tasks' ports", () => {
    expect(at("TaskSecurityGroup.SecurityGroupIngress")).toBeUndefined();
    const rules = Object.values(template.Resources as Record<string, YamlData>)
      .filter((one) => one.Type === "AWS::EC2::SecurityGroupIngress")
      .map((one) => one.Properties);
    expect(rules.map((one) => [one.GroupId, one.FromPort, one.ToPort, one.SourceSecurityGroupId])).toEqual([
      ["!Ref TaskSecurityGroup", 3000, 3000, "!Ref LoadBalancerSecurityGroup"],
      ["!Ref TaskSecurityGroup", 8000, 8000, "!Ref LoadBalancerSecurityGroup"],
    ]);
    expect(at("FileSystemSecurityGroup.SecurityGroupIngress")).toMatchObject([
      { FromPort: 2049, ToPort: 2049, SourceSecurityGroupId: "!Ref TaskSecurityGroup" },
    ]);
  });

  it.each([
    ["/workflows", ["X-API-Key"], "web"],
    ["/runs/r1/events", ["Authorization"], "web"],
    ["/health", [], "web"],
    ["/apidoc/openapi.json", [], "web"],
    ["/logout", [], "web"],
    ["/ui/", [], "sign in, then web"],
    ["/ui/assets/index.js", [], "sign in, then web"],
    ["/ui/", ["X-API-Key"], "web"],
    ["/", [], "/ui/"],
    ["/mcp", ["X-API-Key"], "mcp"],
    ["/sse", ["Authorization"], "mcp"],
    ["/messages", [], "mcp"],
    ["/.well-known/oauth-protected-resource/mcp", [], "mcp"],
    ["/.well-known/oauth-authorization-server", [], "web"],
    ["/oauth/token", [], "web"],
    ["/workflows", [], "signed in or denied, then web"],
    ["/session", [], "signed in or denied, then web"],
    ["/decide/token", [], "web"],
    ["/interactions/slack", [], "web"],
    ["/hooks/token", [], "web"],
    ["/events/token", [], "web"],
    ["/decide", [], "signed in or denied, then web"],
    ["/approvals", [], "signed in or denied, then web"],
    ["/logout/x", [], "signed in or denied, then web"],
    ["/anything", [], "signed in or denied, then web"],
  ])("sends %s with %j to: %s", (path, headers, expected) => {
    expect(listener(path, headers)).toBe(expected);
  });

  it("passes CloudFormation's schemas and rules", () => {
    expect(issuesOf(FILE)).toEqual([]);
  });

  it.each([
    ["an unknown property", "HealthCheckTimeoutSeconds: 5", "HealthCheckTimeOutSeconds: 5"],
    ["an impossible value", "OnUnauthenticatedRequest: deny", "OnUnauthenticatedRequest: refuse"],
    ["a reference to an unknown resource", "!Ref TaskSecurityGroup]", "!Ref TasksSecurityGroup]"],
    [
      "a memory size that Fargate does not offer",
      'AllowedValues: ["4096", "8192"]',
      'AllowedValues: ["4096", "999"]',
    ],
  ])("fails these rules with %s", (_, right, wrong) => {
    expect(text).toContain(right);
    const file = join(temporaryDirectory(), "broken.yaml");
    writeFileSync(file, text.replace(right, wrong));
    expect(issuesOf(file)).not.toEqual([]);
  });
});

const wild = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replaceAll(/[.+/]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".")}$`);

/** Describes what the load balancer does with a request: the first matching rule by priority, else the default. */
function listener(path: string, headers: readonly string[]): string {
  const fits = (condition: YamlData): boolean =>
    condition.Field === "path-pattern"
      ? condition.PathPatternConfig.Values.some((value: string) => wild(value).test(path))
      : condition.HttpHeaderConfig.Values.includes("*") &&
        headers.includes(condition.HttpHeaderConfig.HttpHeaderName);
  const rules = Object.values(template.Resources as Record<string, YamlData>)
    .filter((one) => one.Type === "AWS::ElasticLoadBalancingV2::ListenerRule")
    .map((one) => one.Properties)
    .toSorted((a, b) => a.Priority - b.Priority);
  const actions = (rules.find((rule) => rule.Conditions.every(fits))?.Actions ??
    at("HttpsListener.DefaultActions")) as YamlData[];
  return actions
    .map((action) => {
      const { OnUnauthenticatedRequest: otherwise } = action.AuthenticateCognitoConfig ?? {};
      if (otherwise !== undefined)
        return otherwise === "deny" ? "signed in or denied, then " : "sign in, then ";
      return (
        action.RedirectConfig?.Path ?? /!Ref (\w+)TargetGroup/.exec(action.TargetGroupArn)![1]!.toLowerCase()
      );
    })
    .join("");
}
