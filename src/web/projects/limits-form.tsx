/** What a project may use of the instance, and how much. Only admins of the instance change it. */
import { Button, Group, NumberInput, Radio, Select, SimpleGrid, Stack, Text } from "@mantine/core";
import { useState } from "react";
import * as texts from "#texts/projects";
import type { HttpPublic, Project } from "../../../schemas/project.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { locale } from "../locale/locale.ts";
import { ErrorAlert } from "../ui/page.tsx";
import { CONNECTION_OPTIONS, HTTP_PUBLIC_LABELS, LIMIT_LABELS } from "./connection-options.ts";
import { useUpdateProject } from "./use-update-project.ts";

type LimitName = keyof typeof LIMIT_LABELS;
const LIMITS = Object.keys(LIMIT_LABELS) as LimitName[];

/** How the locale separates the parts of a number. The field has its own format, in which both must differ. */
const separator = (type: "group" | "decimal"): string =>
  new Intl.NumberFormat(locale).formatToParts(12_345.6).find((part) => part.type === type)!.value;

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
          label={texts.connections}
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
          label={texts.publicHosts}
          description={texts.publicHostsHelp}
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
            {texts.limits}
          </Text>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm" mt="xs">
            {LIMITS.map((name) => (
              <NumberInput
                key={name}
                label={LIMIT_LABELS[name]}
                placeholder={texts.noLimit}
                allowDecimal={false}
                allowNegative={false}
                thousandSeparator={separator("group")}
                decimalSeparator={separator("decimal")}
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
              {texts.saveLimits}
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}
