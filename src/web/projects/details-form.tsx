/** Name, description, and what publishing needs in a project. */
import { Button, Group, Stack, Switch, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import type { Project } from "../../../schemas/project.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { BacktestRuleFields } from "./backtest-rule-fields.tsx";
import { useUpdateProject } from "./use-update-project.ts";

/** Number of runs of a new rule. */
const DEFAULT_LAST = 100;

export function DetailsForm({ project, disabled }: { project: Project; disabled: boolean }) {
  const [edited, setEdited] = useState<
    Partial<Pick<Project, "name" | "description" | "review" | "backtest">>
  >({});
  const { name, description, review, backtest } = { ...project, ...edited };
  const update = useUpdateProject(project);
  const formError = formLevelError(update.error, ["name", "description", "backtest.last"]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate(edited, { onSuccess: () => setEdited({}) });
      }}
    >
      <Stack>
        {formError && <ErrorAlert error={formError} />}
        <TextInput
          label="Name"
          required
          disabled={disabled}
          value={name}
          onChange={(event) => setEdited({ ...edited, name: event.currentTarget.value })}
          error={issueAt(update.error, "name")}
        />
        <Textarea
          label="Description"
          autosize
          minRows={2}
          maxRows={10}
          disabled={disabled}
          value={description}
          onChange={(event) => setEdited({ ...edited, description: event.currentTarget.value })}
          error={issueAt(update.error, "description")}
        />
        <Switch
          label="Require review"
          description="Publishing by an API key, or by the author of a change, needs the approval of another person."
          disabled={disabled}
          checked={review}
          onChange={(event) => setEdited({ ...edited, review: event.currentTarget.checked })}
        />
        <Switch
          label="Require a backtest"
          description="Before a version is published, the last runs are run again with it, without effects. What differs must be accepted by name."
          disabled={disabled}
          checked={backtest !== null}
          onChange={(event) =>
            setEdited({ ...edited, backtest: event.currentTarget.checked ? { last: DEFAULT_LAST } : null })
          }
        />
        {backtest !== null && (
          <BacktestRuleFields
            rule={backtest}
            disabled={disabled}
            error={update.error}
            onChange={(rule) => setEdited({ ...edited, backtest: rule })}
          />
        )}
        {!disabled && (
          <Group>
            <Button type="submit" loading={update.isPending} disabled={Object.keys(edited).length === 0}>
              Save details
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}
