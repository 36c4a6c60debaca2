/** The definition and the inputs of a retry, what it would do, and its button. */
import { Button, Group, Stack, Text } from "@mantine/core";
import { IconPencil, IconRefresh } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import { Link } from "react-router";
import type { Issue } from "../../../schemas/problem.ts";
import type { Run } from "../../../schemas/run.ts";
import { type EditorIssue, placeIssues } from "../editor/format.ts";
import { useValidation } from "../editor/use-validation.ts";
import { issuesOutside, issuesUnder } from "../forms/issues.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import { LoadingSkeleton } from "../ui/page.tsx";
import { inputSchemaOf } from "../workflows/inputs.ts";
import { UnsavedChangesGuard } from "../workflows/unsaved-changes-guard.tsx";
import { useLastValidDefinition } from "../workflows/use-last-valid-definition.ts";
import { pluralize } from "./labels.ts";
import { RetryPlan } from "./retry-plan.tsx";
import { type RetryRequest, useRetry } from "./retry.tsx";
import { Section } from "./section.tsx";
import { useRetryPlan } from "./use-retry-plan.ts";

const DefinitionEditor = lazy(() => import("../editor/definition-editor.tsx"));
const DefinitionDiff = lazy(() => import("../editor/definition-diff.tsx"));

type Inputs = Readonly<Record<string, unknown>>;

export type WorkflowRun = Run & { workflow_id: string };

interface RetryEditorProps {
  run: WorkflowRun;
  definition: Record<string, unknown>;
  /** The definition as text. */
  text: string;
  /** The whole inputs of the run. */
  inputs: Inputs;
}

/** The issues of the last retry, which apply only to what was sent. */
interface Rejected {
  text: string;
  inputs: Inputs;
  issues: EditorIssue[];
  inputIssues: Issue[];
}

export function RetryEditor({ run, definition, text: original, inputs: originalInputs }: RetryEditorProps) {
  const [text, setText] = useState(original);
  const [inputs, setInputs] = useState(originalInputs);
  const [rejected, setRejected] = useState<Rejected>();
  const validation = useValidation(text, "yaml", { workflowId: run.workflow_id });
  const retry = useRetry(run, async ({ code }, found) => {
    // A definition has inputs too: its issues have another code.
    const inputIssues = code === "invalid_input" ? issuesUnder(found, "inputs") : [];
    const others = code === "invalid_input" ? issuesOutside(found, ["inputs"]) : found;
    setRejected({ text, inputs, issues: await placeIssues(text, "yaml", others), inputIssues });
  });
  const { definition: current } = useLastValidDefinition(text, "yaml", definition);
  const issues =
    validation.issues.length === 0 && rejected?.text === text ? rejected.issues : validation.issues;
  const errors = issues.filter(({ severity }) => severity === "error").length;
  const hasErrors = validation.state === "checked" && errors > 0;
  const isTextChanged = text !== original;
  const areInputsChanged = JSON.stringify(inputs) !== JSON.stringify(originalInputs);
  const isChanged = isTextChanged || areInputsChanged;
  const request: RetryRequest = {
    ...(isTextChanged && { definition: text }),
    ...(areInputsChanged && { inputs }),
  };
  const isPlannable = isChanged && validation.state === "checked" && errors === 0;
  const plan = useRetryPlan(run.id, isPlannable ? request : undefined);
  return (
    <Stack gap="lg">
      <UnsavedChangesGuard
        when={isChanged && !retry.isPending && !retry.isSuccess}
        what="your changes to the definition and the inputs"
      />
      <InputsSection
        definition={current ?? definition}
        inputs={inputs}
        isChanged={areInputsChanged}
        onChange={setInputs}
        onReset={() => setInputs(originalInputs)}
        issues={rejected?.inputs === inputs ? rejected.inputIssues : []}
      />
      <Section title="Definition" order={2}>
        <Suspense fallback={<LoadingSkeleton rows={8} />}>
          <DefinitionEditor
            value={text}
            format="yaml"
            onChange={setText}
            issues={issues}
            steps={validation.report?.steps}
            workflowId={run.workflow_id}
            project={run.project}
            label={`Definition of ${run.workflow_id} for the new run`}
          />
        </Suspense>
      </Section>
      {isTextChanged && (
        <Section title="Your changes" order={2}>
          <Suspense fallback={<LoadingSkeleton rows={3} />}>
            <DefinitionDiff
              before={original}
              after={text}
              beforeLabel={
                run.patched === true ? `Version ${run.version}, modified` : `Version ${run.version}`
              }
              afterLabel="Your changes"
            />
          </Suspense>
        </Section>
      )}
      {plan !== undefined && (
        <Section title="Retry preview" order={2}>
          <RetryPlan plan={plan} />
        </Section>
      )}
      <Group>
        <Button
          leftSection={<IconRefresh size={16} aria-hidden />}
          onClick={() => retry.mutate(request)}
          loading={retry.isPending}
          disabled={hasErrors || !isChanged}
        >
          Retry with these changes
        </Button>
        <Button component={Link} to={`/runs/${run.id}`} variant="default">
          Cancel
        </Button>
        <Text size="sm" c="dimmed" role="status">
          {!isChanged && "No changes yet."}
          {isChanged && hasErrors && `Fix ${pluralize(errors, "error")} first.`}
        </Text>
      </Group>
    </Stack>
  );
}

interface InputsSectionProps {
  /** As it is being edited: its inputs may change with it. */
  definition: Record<string, unknown>;
  inputs: Inputs;
  isChanged: boolean;
  onChange: (inputs: Inputs) => void;
  onReset: () => void;
  issues: readonly Issue[];
}

/** The inputs, closed until somebody wants to change them. */
function InputsSection({ definition, inputs, isChanged, onChange, onReset, issues }: InputsSectionProps) {
  const [isOpen, setOpen] = useState(false);
  const schema = inputSchemaOf(definition);
  return (
    <Section title="Inputs" order={2}>
      {isOpen || issues.length > 0 ? (
        <Stack gap="sm" maw={720}>
          <SchemaForm schema={schema} value={inputs} onChange={onChange} issues={issues} />
          {isChanged && (
            <Group>
              <Button size="compact-sm" variant="default" onClick={onReset}>
                Use the inputs of the run
              </Button>
            </Group>
          )}
        </Stack>
      ) : (
        <Group gap="sm">
          <Text size="sm">The inputs of the run.</Text>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPencil size={14} aria-hidden />}
            onClick={() => setOpen(true)}
          >
            Change inputs
          </Button>
        </Group>
      )}
    </Section>
  );
}
