/** The connections, workflows and users of a check that runs in a thread: it asks the process that started it. */
import type { CallContext, Connections, McpTool, PartialIssue } from "../../core/connections.ts";
import type { Clock } from "../../core/clock.ts";
import type { Ask } from "../../core/serve-thread.ts";
import { StepError } from "../../core/step-errors.ts";
import type { CheckResources, WorkflowLookup } from "../definition/check/index.ts";
import type { CheckAnswer, CheckQuestion, CheckSettings, ConnectionLists, Prepared } from "./engine-task.ts";

/** Asks one question. @throws StepError the error of a connection */
const askFor =
  (ask: Ask) =>
  async <T>(question: CheckQuestion): Promise<T> => {
    const answer = (await ask(question)) as CheckAnswer;
    if ("value" in answer) return answer.value as T;
    const { code, message, options } = answer.stepError;
    throw new StepError(code, message, options);
  };

const notInCheck = (): never => {
  throw new Error("A check does not use this.");
};

const LIMITS = { concurrencyOf: notInCheck, rateOf: notInCheck };

/** @param lists what is known without asking */
export function remoteConnections(ask: Ask, lists: ConnectionLists): Connections {
  const answerOf = askFor(ask);
  return {
    defaultDatabase: lists.defaultDatabase,
    databases: {
      ...LIMITS,
      list: () => lists.databases,
      prepare: (request) => answerOf<Prepared>({ kind: "prepare", request }),
      query: notInCheck,
      describe: notInCheck,
    },
    models: { ...LIMITS, list: () => lists.models, generate: notInCheck },
    http: {
      check: (request) => answerOf<PartialIssue[]>({ kind: "http", request }),
      secrets: () => lists.secrets,
      send: notInCheck,
    },
    mcpServers: {
      ...LIMITS,
      list: () => lists.mcpServers,
      tools: (server) => answerOf<McpTool[]>({ kind: "tools", server }),
      call: notInCheck,
    },
    mailer: {
      unavailableReason: () => lists.mailUnavailableReason,
      allowedDomains: () => lists.allowedDomains,
      send: notInCheck,
    },
    signatureSecrets: notInCheck,
    chats: {
      list: () => lists.chats,
      post: notInCheck,
      update: notInCheck,
      signingSecrets: notInCheck,
      memberEmail: notInCheck,
      respond: notInCheck,
    },
    maskSecrets: notInCheck,
    targetOf: notInCheck,
    configurationOf: notInCheck,
    interruptionRules: lists.interruptionRules,
    loginsOf: notInCheck,
  };
}

export function remoteWorkflows(ask: Ask): WorkflowLookup {
  const answerOf = askFor(ask);
  return {
    find: (id) => answerOf({ kind: "workflow", id }),
    ids: () => answerOf({ kind: "workflowIds" }),
  };
}

export const remoteUsers = (ask: Ask): Required<Pick<CheckResources, "isActiveUser" | "memberEmails">> => ({
  isActiveUser: (email) => askFor(ask)({ kind: "isActiveUser", email }),
  memberEmails: () => askFor(ask)({ kind: "memberEmails" }),
});

/** Collects what a check reads of the connections without asking them. */
export const connectionLists = ({
  databases,
  models,
  http,
  mcpServers,
  mailer,
  chats,
  defaultDatabase,
  interruptionRules,
}: Connections): ConnectionLists => ({
  defaultDatabase,
  interruptionRules,
  databases: databases.list(),
  models: models.list(),
  secrets: http.secrets(),
  mcpServers: mcpServers.list(),
  chats: chats.list(),
  mailUnavailableReason: mailer.unavailableReason(),
  allowedDomains: mailer.allowedDomains(),
});

/** What a check uses besides the definition. */
export interface LocalResources {
  clock: Clock;
  connections: Connections;
  workflows: WorkflowLookup;
  isActiveUser?: ((email: string) => Promise<boolean>) | undefined;
  memberEmails?: (() => Promise<string[]>) | undefined;
  settings: CheckSettings;
}

/**
 * Answers the questions of a check.
 * @param call for the connections
 */
export const checkAnswers =
  ({ connections, workflows, isActiveUser, memberEmails }: LocalResources, call: CallContext) =>
  async (asked: unknown): Promise<CheckAnswer> => {
    const question = asked as CheckQuestion;
    const answer = async (): Promise<unknown> => {
      switch (question.kind) {
        case "prepare":
          return connections.databases.prepare(question.request, call);
        case "tools":
          return connections.mcpServers.tools(question.server, call);
        case "http":
          return connections.http.check(question.request);
        case "workflow":
          return workflows.find(question.id);
        case "workflowIds":
          return workflows.ids();
        case "isActiveUser":
          return isActiveUser!(question.email);
        case "memberEmails":
          return (await memberEmails?.()) ?? [];
      }
    };
    try {
      return { value: await answer() };
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      const { code, message, options } = error;
      const { fix, transient } = options;
      return {
        stepError: {
          code,
          message,
          options: { ...(fix !== undefined && { fix }), ...(transient !== undefined && { transient }) },
        },
      };
    }
  };
