/** The process of one session: it holds the trial, and ends when it is judged, or when nobody has used it for an hour. */
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import type { ListedTool } from "./recorder.ts";
import { tasks } from "./tasks/index.ts";
import { openTrial, type Trial } from "./trial.ts";
import { formatVerdict } from "./verdict.ts";

/** Sent to the process that started the session. */
export type SessionMessage =
  | { failed: string }
  | {
      session: string;
      /** The address for calls; anyone who knows it is the agent. */
      url: string;
      request: string;
      instructions: string;
      tools: readonly ListedTool[];
    };

/** The argument of the process, as JSON. */
export interface SessionOptions {
  task: string;
  agent: string;
  /** The directory for the transcript. */
  record: string;
}

const UNUSED_MS = 3_600_000;

async function serve({ task: id, agent, record }: SessionOptions): Promise<void> {
  const task = tasks.find((candidate) => candidate.id === id)!;
  const trial = await openTrial(task);
  const end = async (): Promise<never> => {
    await trial.close();
    process.exit(0);
  };
  let unused = setTimeout(() => void end(), UNUSED_MS);
  const secret = randomBytes(12).toString("hex");
  const server = createServer((request, response) => {
    clearTimeout(unused);
    unused = setTimeout(() => void end(), UNUSED_MS);
    void (async () => {
      const body = await json(request);
      if (request.url === `/${secret}/call`) {
        const { tool, arguments: args } = body as { tool: string; arguments: Record<string, unknown> };
        response.end((await trial.recorder.call(tool, args)).text);
      } else if (request.url === `/${secret}/finish`) {
        response.end(await finish(trial, agent, record), () => void end());
      } else response.writeHead(404).end("There is no such session.");
    })().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const { instructions, tools } = trial.recorder;
  const message: SessionMessage = {
    session: `${id}-${randomBytes(3).toString("hex")}`,
    url: `http://127.0.0.1:${port}/${secret}`,
    request: trial.request,
    instructions,
    tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  };
  process.send?.(message);
}

/** Judges, and writes the transcript and the whole answers. */
async function finish(trial: Trial, agent: string, record: string): Promise<string> {
  const transcript = trial.transcript(agent);
  const verdict = await trial.judge();
  mkdirSync(record, { recursive: true });
  const file = join(record, `${trial.task.id}.json`);
  writeFileSync(file, `${JSON.stringify(transcript, null, 2)}\n`);
  writeFileSync(
    join(record, `${trial.task.id}.answers.json`),
    `${JSON.stringify({ verdict, calls: trial.recorder.calls }, null, 2)}\n`,
  );
  return `${formatVerdict(verdict)}\nTranscript: ${file}`;
}

await serve(JSON.parse(process.argv[2]!) as SessionOptions).catch((error: unknown) => {
  process.send?.({ failed: String(error) } satisfies SessionMessage, () => process.exit(1));
});
