/** The backtest that a version passed before it was published, or before somebody asked for that, with what was accepted. */
import { Anchor, Code, Text } from "@mantine/core";
import { Link } from "react-router";
import type { PassedBacktest as Passed } from "../../../schemas/backtest-rule.ts";

export function PassedBacktest({ workflow, passed }: { workflow: string; passed: Passed }) {
  const { id, runs, accepted } = passed;
  return (
    <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
      {id === null ? (
        "There were no runs to backtest"
      ) : (
        <>
          <Anchor component={Link} to={`/workflows/${workflow}/backtests/${id}`} inherit>
            Backtest
          </Anchor>
          : {runs.equal.toLocaleString()} of {runs.total.toLocaleString()} equal
        </>
      )}
      {accepted.length > 0 && "; accepted "}
      {accepted.map((name, index) => (
        <span key={name}>
          {index > 0 && ", "}
          <Code>{name}</Code>
        </span>
      ))}
    </Text>
  );
}
