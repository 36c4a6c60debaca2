/** What a backtest found that nobody has accepted yet, each to be accepted by its name. */
import { Alert, Checkbox, Code, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { ApiError } from "../api/client.ts";
import { type Confirmations, useConfirmations } from "../ui/use-confirmations.ts";
import { describeDifference } from "./results.ts";

interface DifferenceConfirmation extends Confirmations {
  names: readonly string[];
}

/** The differences that a refusal to publish names, and which of them the user accepts. */
export function useDifferenceConfirmation(error: unknown): DifferenceConfirmation {
  const names = openDifferencesOf(error);
  return { names, ...useConfirmations(names) };
}

const openDifferencesOf = (error: unknown): readonly string[] =>
  error instanceof ApiError && error.code === "backtest_differs"
    ? (error.problem.errors?.find(({ path }) => path === "accept_differences")?.allowed ?? [])
    : [];

export function OpenDifferences({ confirmation }: { confirmation: DifferenceConfirmation }) {
  const { names, confirmed, onConfirm } = confirmation;
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
          The backtest above differs from the last runs. Change the workflow, or accept what it should do.
          What you accept is kept in the history of versions.
        </Text>
        {names.map((name) => (
          <Checkbox
            key={name}
            size="sm"
            label={
              <>
                Accept <Code>{name}</Code>
              </>
            }
            description={describeDifference(name)}
            checked={confirmed.has(name)}
            onChange={({ currentTarget }) => onConfirm(name, currentTarget.checked)}
          />
        ))}
      </Stack>
    </Alert>
  );
}
