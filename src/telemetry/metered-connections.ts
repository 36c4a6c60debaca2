/** Connections whose calls are counted and timed, by their names in the configuration. */
import { type Connections, type NamedConnection, SCRATCH_DATABASE, type Usage } from "../core/connections.ts";
import { type ConnectionKind, type Meter, secondsSince } from "../core/meter.ts";
import { StepError } from "../core/step-errors.ts";

/** The same connections; what steps ask of databases, models and MCP servers is told to the meter. */
export function meteredConnections(connections: Connections, meter: Meter): Connections {
  const { databases, models, mcpServers } = connections;

  async function timed<T>(
    kind: ConnectionKind,
    { list, wanted }: { list: readonly NamedConnection[]; wanted: string },
    work: () => Promise<T>,
  ): Promise<T> {
    // Somebody wrote the name into a workflow: what the configuration does not have shares one label.
    const known = wanted === SCRATCH_DATABASE || list.some(({ name }) => name === wanted);
    const call = { kind, name: known ? wanted : "unknown" };
    const start = performance.now();
    try {
      const answer = await work();
      meter.connectionCalled({ ...call, outcome: "ok", seconds: secondsSince(start) });
      return answer;
    } catch (error) {
      const outcome = error instanceof StepError ? error.code : "failed";
      meter.connectionCalled({ ...call, outcome, seconds: secondsSince(start) });
      throw error;
    }
  }

  return {
    ...connections,
    databases: {
      ...databases,
      query: (request, signal) =>
        timed("database", { list: databases.list(), wanted: request.database }, () =>
          databases.query(request, signal),
        ),
    },
    models: {
      ...models,
      async generate(request, signal) {
        const { model } = request;
        try {
          const answer = await timed("model", { list: models.list(), wanted: model }, () =>
            models.generate(request, signal),
          );
          meter.tokensUsed(model, spent(answer.usage));
          return answer;
        } catch (error) {
          // An answer that does not fit was paid for all the same.
          const usage = error instanceof StepError ? error.options.usage : undefined;
          if (usage !== undefined) meter.tokensUsed(model, spent(usage));
          throw error;
        }
      },
    },
    mcpServers: {
      ...mcpServers,
      call: (server, ...rest) =>
        timed("mcp_server", { list: mcpServers.list(), wanted: server }, () =>
          mcpServers.call(server, ...rest),
        ),
    },
  };
}

const spent = ({ input_tokens: input, output_tokens: output }: Usage) => ({ input, output });
