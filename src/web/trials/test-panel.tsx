/** Tests the draft, or one of its steps, with inputs of a form. Effects are held back unless they are confirmed. */
import { Alert, Button, Checkbox, Group, NativeSelect, Stack, Text } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { type FormEvent, useState } from "react";
import * as texts from "#texts/trials";
import { ApiError } from "../api/client.ts";
import { issuesOutside, issuesUnder } from "../forms/issues.ts";
import { initialValue } from "../forms/schema.ts";
import { SchemaForm } from "../forms/schema-form.tsx";
import { confirmAction } from "../ui/confirm.tsx";
import { ErrorAlert } from "../ui/page.tsx";
import { inputSchemaOf, parseExamples } from "../workflows/inputs.ts";
import { ancestorsOf, stepTexts } from "./reusable-steps.ts";
import { TestResults } from "./test-results.tsx";
import type { DraftTests } from "./use-draft-tests.ts";

/** What was chosen, kept while another tool is shown. */
export interface TestChoice {
  /** Empty for the whole draft. */
  stepId: string;
  /** Undefined until the form was changed. */
  inputs?: Record<string, unknown>;
}

interface TestPanelProps {
  tests: DraftTests;
  choice: TestChoice;
  onChoice: (choice: TestChoice) => void;
  /** Null for an empty draft. */
  definition: Record<string, unknown> | null;
  /** Whether the text has syntax errors, so that `definition` is older than it. */
  isInvalid: boolean;
  /** The steps with effects, as validation reported them. */
  withEffects: readonly string[];
}

export default function TestPanel({
  tests,
  choice,
  onChoice,
  definition,
  isInvalid,
  withEffects,
}: TestPanelProps) {
  const [allowsEffects, setAllowsEffects] = useState(false);
  const [reuse, setReuse] = useState(true);
  const { start, stepIds } = tests;
  const chosen = stepIds.includes(choice.stepId) ? choice.stepId : "";
  const stepId = chosen === "" ? undefined : chosen;
  const schema = inputSchemaOf(definition ?? {});
  const inputs = choice.inputs ?? initialValue(schema);
  const reusable = tests.reusable(stepId, inputs);
  const effects = effectsOf(withEffects, stepId);
  const skipped = skippedOf(definition ?? {}, withEffects, stepId);
  const send = () =>
    start.mutate({
      stepId,
      inputs,
      effects: allowsEffects ? effects : [],
      reuse: reuse && reusable.length > 0,
    });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!allowsEffects || effects.length === 0) return send();
    confirmAction({
      title: texts.effectsTitle({ steps: effects.join(", ") }),
      consequence: texts.effectsConsequence,
      confirm: texts.effectsConfirm,
      onConfirm: send,
    });
  };
  const issues = (start.error instanceof ApiError && start.error.problem.errors) || [];
  const isFormIssue = issues.length > 0 && issuesOutside(issues, ["inputs"]).length === 0;
  const isEmpty = stepIds.length === 0;
  return (
    <Stack gap="md">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <NativeSelect
            label={texts.whatToTest}
            value={chosen}
            onChange={({ currentTarget }) => onChoice({ ...choice, stepId: currentTarget.value })}
            data={[
              { value: "", label: texts.wholeDraft },
              ...stepIds.map((id) => ({ value: id, label: texts.onlyStep({ step: id }) })),
            ]}
          />
          <Examples
            definition={definition ?? {}}
            onChoose={(given) => onChoice({ ...choice, inputs: { ...initialValue(schema), ...given } })}
          />
          <SchemaForm
            schema={schema}
            value={inputs}
            onChange={(changed) => onChoice({ ...choice, inputs: changed })}
            issues={issuesUnder(issues, "inputs")}
            disabled={start.isPending}
          />
          {reusable.length > 0 && (
            <Checkbox
              label={texts.reuseOutputs({ steps: reusable.join(", ") })}
              checked={reuse}
              onChange={({ currentTarget }) => setReuse(currentTarget.checked)}
            />
          )}
          {skipped.length > 0 && (
            <Text size="sm" c="dimmed">
              {texts.leftOut({ steps: skipped.join(", ") })}
            </Text>
          )}
          {effects.length > 0 && (
            <Checkbox
              label={texts.letEffects({ steps: effects.join(", ") })}
              description={texts.letEffectsHint}
              checked={allowsEffects}
              onChange={({ currentTarget }) => setAllowsEffects(currentTarget.checked)}
            />
          )}
          <Group>
            <Button
              type="submit"
              loading={start.isPending}
              disabled={isInvalid || isEmpty}
              leftSection={<IconPlayerPlay size={16} aria-hidden />}
            >
              {stepId === undefined ? texts.testDraft : texts.testStep({ step: stepId })}
            </Button>
          </Group>
          {(isInvalid || isEmpty) && (
            <Text size="sm" c="dimmed" role="status">
              {isInvalid ? texts.fixSyntax : texts.addStep}
            </Text>
          )}
          {start.isError &&
            (isFormIssue ? (
              <Alert color="red" role="alert">
                {texts.fixInputs}
              </Alert>
            ) : (
              <ErrorAlert error={start.error} />
            ))}
        </Stack>
      </form>
      <TestResults tests={tests} />
    </Stack>
  );
}

/** The steps whose effects a test can have: those of the tested step, or all. */
const effectsOf = (withEffects: readonly string[], stepId: string | undefined): string[] =>
  withEffects.filter((id) => stepId === undefined || id === stepId);

/** The steps with effects before the tested one, which its test leaves out. */
function skippedOf(
  definition: Record<string, unknown>,
  withEffects: readonly string[],
  stepId: string | undefined,
): string[] {
  if (stepId === undefined) return [];
  const { steps } = stepTexts(definition, {});
  const before = ancestorsOf(new Map(steps.map((step) => [step.id, step])), stepId);
  return withEffects.filter((id) => before.has(id));
}

interface ExamplesProps {
  definition: Record<string, unknown>;
  onChoose: (inputs: Record<string, unknown>) => void;
}

function Examples({ definition, onChoose }: ExamplesProps) {
  const examples = parseExamples(definition);
  if (examples.length === 0) return null;
  return (
    <Group gap="xs">
      <Text size="sm">{texts.inputsOf}</Text>
      {examples.map(({ name, inputs }) => (
        <Button key={name} size="compact-sm" variant="default" onClick={() => onChoose(inputs)}>
          {name}
        </Button>
      ))}
    </Group>
  );
}
