import { NumberInput, TagsInput } from "@mantine/core";
import { type BacktestRule, MAX_BACKTEST_RUNS } from "../../../schemas/backtest-rule.ts";
import { issueAt } from "../account/form-errors.ts";

interface BacktestRuleFieldsProps {
  rule: BacktestRule;
  disabled: boolean;
  /** Why the rule could not be saved. */
  error: Error | null;
  onChange: (rule: BacktestRule) => void;
}

/** How many runs a backtest needs before a version is published, and what may differ. */
export function BacktestRuleFields({ rule, disabled, error, onChange }: BacktestRuleFieldsProps) {
  return (
    <>
      <NumberInput
        label="Number of runs"
        description="The newest ones."
        min={1}
        max={MAX_BACKTEST_RUNS}
        allowDecimal={false}
        clampBehavior="strict"
        disabled={disabled}
        value={rule.last}
        onChange={(last) => typeof last === "number" && onChange({ ...rule, last })}
        error={issueAt(error, "backtest.last")}
      />
      <TagsInput
        label="What may differ"
        description="Names of places, such as output.note or steps.send. Press Enter after each."
        disabled={disabled}
        value={rule.allow ?? []}
        onChange={(allow) => onChange({ ...rule, allow })}
      />
    </>
  );
}
