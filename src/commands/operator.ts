/** Calls the same operations as REST and MCP from the command line, directly on the state. */
import { COMMAND_LINE, OPERATOR } from "../../schemas/actor.ts";
import type { Config } from "../../schemas/config.ts";
import { type Instance, openInstance } from "../app/instance.ts";
import { type ExecutorNotifier, openServices, type Setup, webAddress } from "../app/services.ts";
import { openTracer } from "../app/tracer.ts";
import { secretMasker } from "../connections/secret-masker.ts";
import { readSetup } from "../config/setup.ts";
import { FULL_ACCESS, scopesOf } from "../core/access.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { aheadOfServer } from "../core/clock-check.ts";
import { newRequestId } from "../core/ids.ts";
import type { Actor, Readers } from "../core/ports.ts";
import type { AnyTool, Progress } from "../core/tool.ts";
import { invoke, type Services } from "../surfaces/invoke.ts";
import { requireState } from "./require-state.ts";
import { endTracing, type Io, openLog } from "./io.ts";
import { logSecrets } from "./log-secrets.ts";

export const OPERATOR_ACTOR: Actor = {
  principal: {
    kind: "operator",
    keyId: COMMAND_LINE,
    keyName: "command line",
    owner: OPERATOR,
    scopes: scopesOf(FULL_ACCESS),
    access: FULL_ACCESS,
    lineage: COMMAND_LINE,
  },
  client: { surface: "cli", name: "millrace" },
};

export interface Operator {
  instance: Instance;
  setup: Setup;
  services: Services;
  /** The URL of the web interface, for links. */
  baseUrl: string;
  /** Calls an operation as the operator. @param progress receives its progress */
  call<T>(
    tool: AnyTool,
    input: Readonly<Record<string, unknown>>,
    progress?: (progress: Progress) => void,
  ): Promise<T>;
}

export interface OperatorOptions {
  /** What a read-only command does with the state, which must exist. */
  requiresStateFor?: string | undefined;
  config?: string | undefined;
  executors?: ExecutorNotifier | undefined;
  /** Returns links to the caller, even if mail is configured. */
  disableMail?: boolean;
  /** Replaces the readers, so that a check sees workflows that do not exist yet. */
  wrapReaders?: (read: Readers) => Readers;
}

/** Opens the state, does `work`, and closes it. */
export async function withOperator<T>(
  io: Io,
  { config: file, executors, disableMail = false, wrapReaders, requiresStateFor }: OperatorOptions,
  work: (operator: Operator) => Promise<T>,
): Promise<T> {
  const { settings, config, secrets } = readSetup(io.env, file);
  if (requiresStateFor !== undefined) requireState(settings, requiresStateFor);
  // The command itself reports errors; the log is more detailed only on request.
  const log = await openLog(
    io,
    io.env["MILLRACE_LOG_LEVEL"] ? settings.logLevel : "error",
    "command",
    secretMasker(config, secrets, settings.masked),
  );
  logSecrets(secrets, log);
  const tracer = await openTracer(settings, "command", log);
  let aheadMs = 0;
  const clock: Clock = { now: () => systemClock.now() - aheadMs };
  const opened = await openInstance(settings, clock, log);
  try {
    aheadMs = await aheadOfServer(opened.store);
    const instance = wrapReaders === undefined ? opened : { ...opened, read: wrapReaders(opened.read) };
    const usedConfig = disableMail ? withoutMail(config) : config;
    const setup = { settings, config: usedConfig, clock, tracer };
    const baseUrl = await webAddress(opened, settings);
    const { services, close } = openServices(instance, setup, executors, () => baseUrl);
    const signal = new AbortController().signal;
    const call: Operator["call"] = async <R>(
      tool: AnyTool,
      input: object,
      progress?: (progress: Progress) => void,
    ) =>
      (await invoke(services, tool, input, {
        actor: OPERATOR_ACTOR,
        requestId: newRequestId(),
        signal,
        progress,
      })) as R;
    try {
      return await work({ instance, setup, services, baseUrl, call });
    } finally {
      await close();
    }
  } finally {
    secrets.close();
    await opened.close();
    await endTracing(io, tracer);
  }
}

const withoutMail = (config: Config): Config => {
  const { basic: _, ...authentication } = config.authentication;
  return { ...config, authentication };
};
