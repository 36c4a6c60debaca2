import type { Usage } from "../core/model.ts";
import {
  type ConfiguredConnections,
  type Connections,
  type NamedConnection,
  SCRATCH_DATABASE,
} from "../core/connections.ts";
import { type ConnectionKind, type Meter, secondsSince } from "../core/meter.ts";
import { StepError } from "../core/step-errors.ts";

/** Wraps connections so that calls of databases, models and MCP servers are counted and timed by their names. */
export const meteredConnections = (
  connections: ConfiguredConnections,
  meter: Meter,
): ConfiguredConnections => ({
  ...connections,
  ...metered(connections, meter),
  limitedTo: (view) => metered(connections.limitedTo(view), meter),
});

function metered(connections: Connections, meter: Meter): Connections {
  const { databases, models, mcpServers } = connections;

  async function timed<T>(
    kind: ConnectionKind,
    { list, requested }: { list: readonly NamedConnection[]; requested: string },
    work: () => Promise<T>,
  ): Promise<T> {
    // Names come from workflows, so all names that are not configured share one label.
    const configured = requested === SCRATCH_DATABASE || list.some(({ name }) => name === requested);
    const labels = { kind, name: configured ? requested : "unknown" };
    const start = performance.now();
    try {
      const result = await work();
      meter.connectionCalled({ ...labels, outcome: "ok", seconds: secondsSince(start) });
      return result;
    } catch (error) {
      const outcome = error instanceof StepError ? error.code : "failed";
      meter.connectionCalled({ ...labels, outcome, seconds: secondsSince(start) });
      throw error;
    }
  }

  return {
    ...connections,
    databases: {
      ...databases,
      query: (request, call) =>
        timed("database", { list: databases.list(), requested: request.database }, () =>
          databases.query(request, call),
        ),
    },
    models: {
      ...models,
      async generate(request, call) {
        const { model } = request;
        try {
          const response = await timed("model", { list: models.list(), requested: model }, () =>
            models.generate(request, call),
          );
          meter.tokensUsed(model, tokensOf(response.usage));
          return response;
        } catch (error) {
          // A response that does not match the schema used tokens too.
          const usage = error instanceof StepError ? error.options.usage : undefined;
          if (usage !== undefined) meter.tokensUsed(model, tokensOf(usage));
          throw error;
        }
      },
    },
    mcpServers: {
      ...mcpServers,
      call: (server, ...rest) =>
        timed("mcp_server", { list: mcpServers.list(), requested: server }, () =>
          mcpServers.call(server, ...rest),
        ),
    },
  };
}

const tokensOf = ({ input_tokens: input, output_tokens: output }: Usage) => ({ input, output });
