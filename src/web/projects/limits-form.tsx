/** What a project may use of the instance, and how much. Only admins of the instance change it. */
import { Button, Group, NumberInput, Radio, Select, SimpleGrid, Stack, Text } from "@mantine/core";
import { useState } from "react";
import type { HttpPublic, Project } from "../../../schemas/project.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { CONNECTION_OPTIONS, HTTP_PUBLIC_LABELS, LIMIT_LABELS } from "./connection-options.ts";
import { useUpdateProject } from "./use-update-project.ts";

type LimitName = keyof typeof LIMIT_LABELS;
const LIMITS = Object.keys(LIMIT_LABELS) as LimitName[];

interface Edited {
  connections?: Project["connections"];
  http_public?: HttpPublic | null;
  /** Null removes a limit. */
  limits?: Partial<Record<LimitName, number | null>>;
}

export function LimitsForm({ project, disabled }: { project: Project; disabled: boolean }) {
  const [edited, setEdited] = useState<Edited>({});
  const update = useUpdateProject(project);
  const { connections, http_public: httpPublic } = { ...project, ...edited };
  const limits: Partial<Record<string, number | null>> = { ...project.limits, ...edited.limits };
  const limitPaths = LIMITS.map((name) => `limits.${name}`);
  const formError = formLevelError(update.error, limitPaths);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        update.mutate(edited, { onSuccess: () => setEdited({}) });
      }}
    >
      <Stack>
        {formError && <ErrorAlert error={formError} />}
        <Radio.Group
          label="Connections"
          value={connections}
          onChange={(value) => setEdited({ ...edited, connections: value })}
        >
          <Stack gap="xs" mt="xs">
            {CONNECTION_OPTIONS.map((option) => (
              <Radio key={option.value} {...option} disabled={disabled} />
            ))}
          </Stack>
        </Radio.Group>
        <Select
          label="Public hosts"
          description="Which hosts of the internet http steps can reach. The configuration can be stricter."
          data={Object.entries(HTTP_PUBLIC_LABELS).map(([value, label]) => ({ value, label }))}
          value={httpPublic ?? ""}
          onChange={(value) =>
            setEdited({
              ...edited,
              http_public: value === null || value === "" ? null : (value as HttpPublic),
            })
          }
          allowDeselect={false}
          disabled={disabled}
          maw={420}
        />
        <div role="group" aria-labelledby="project-limits">
          <Text size="sm" fw={500} id="project-limits">
            Limits of all runs of the project together
          </Text>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" mt="xs">
            {LIMITS.map((name) => (
              <NumberInput
                key={name}
                label={LIMIT_LABELS[name]}
                placeholder="No limit"
                allowDecimal={false}
                allowNegative={false}
                thousandSeparator=","
                hideControls
                disabled={disabled}
                value={limits[name] ?? ""}
                onChange={(value) =>
                  setEdited({
                    ...edited,
                    limits: { ...edited.limits, [name]: value === "" ? null : Number(value) },
                  })
                }
                error={issueAt(update.error, `limits.${name}`)}
              />
            ))}
          </SimpleGrid>
        </div>
        {!disabled && (
          <Group>
            <Button type="submit" loading={update.isPending} disabled={Object.keys(edited).length === 0}>
              Save connections and limits
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}
