/** What a backtest found that nobody has accepted yet, each to be accepted by its name. */
import { Alert, Anchor, Checkbox, Code, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Link } from "react-router";
import { ApiError } from "../api/client.ts";
import { MarkedText } from "../ui/id.tsx";
import { type Confirmations, useConfirmations } from "../ui/use-confirmations.ts";
import { describeDifference, namedBacktest } from "./results.ts";

interface DifferenceConfirmation extends Confirmations {
  names: readonly string[];
  /** The id of the backtest that found them; undefined where there were no runs. */
  backtest: string | undefined;
}

/** The differences that a refusal to publish names, and which of them the user accepts. */
export function useDifferenceConfirmation(error: unknown): DifferenceConfirmation {
  const names = openDifferencesOf(error);
  const backtest = error instanceof ApiError ? namedBacktest(error.problem.detail) : undefined;
  return { names, backtest, ...useConfirmations(names) };
}

const openDifferencesOf = (error: unknown): readonly string[] =>
  error instanceof ApiError && error.code === "backtest_differs"
    ? (error.problem.errors?.find(({ path }) => path === "accept_differences")?.allowed ?? [])
    : [];

interface OpenDifferencesProps {
  /** The id of the workflow. */
  workflow: string;
  confirmation: DifferenceConfirmation;
}

export function OpenDifferences({ workflow, confirmation }: OpenDifferencesProps) {
  const { names, backtest, confirmed, onConfirm } = confirmation;
  return (
    <Alert
      color="red"
      role="alert"
      icon={<IconAlertTriangle aria-hidden />}
      title={
        names.length === 1
          ? "Not published: 1 difference is not accepted"
          : `Not published: ${names.length} differences are not accepted`
      }
    >
      <Stack gap="sm">
        <Text size="sm">
          Nothing goes live with a difference that nobody has accepted. Change the workflow, or accept what it
          should do. What you accept is kept in the history of versions.
        </Text>
        {backtest !== undefined && (
          <Anchor
            component={Link}
            to={`/workflows/${workflow}/backtests/${backtest}`}
            size="sm"
            underline="always"
          >
            Show backtest {backtest}
          </Anchor>
        )}
        {names.map((name) => (
          <Checkbox
            key={name}
            size="sm"
            label={
              <>
                Accept <Code>{name}</Code>
              </>
            }
            description={<MarkedText text={describeDifference(name) ?? ""} />}
            checked={confirmed.has(name)}
            onChange={({ currentTarget }) => onConfirm(name, currentTarget.checked)}
          />
        ))}
      </Stack>
    </Alert>
  );
}
