/** Says whether agents get a workflow as a tool, and lets an admin allow it or withdraw it. */
import { Alert, Button, Code, Group, List, Stack, Text } from "@mantine/core";
import { IconRobot } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import * as texts from "#texts/workflows";
import type { Exposure } from "../../../schemas/exposure.ts";
import type { WorkflowWithDefinition } from "../../../schemas/workflow.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { send } from "../api/client.ts";
import { useHasScope } from "../app/session.tsx";
import { notifyError, notifySuccess } from "../ui/notify.ts";
import { Time } from "../ui/time.tsx";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { exposureQuery } from "./queries.ts";

export function ExposureNotice({ workflow }: { workflow: WorkflowWithDefinition }) {
  const { id, status, version, published_version: published, definition } = workflow;
  // The newest version is known; an older published one may ask for it as well.
  const mayAsk = published !== version || definition?.["expose_as_tool"] === true;
  const { data: exposure } = useQuery({ ...exposureQuery(id), enabled: status === "published" && mayAsk });
  if (exposure === undefined || exposure.state === "not_requested") return null;
  return exposure.state === "allowed" ? <Allowed exposure={exposure} /> : <Requested exposure={exposure} />;
}

function Requested({ exposure }: { exposure: Exposure }) {
  const isAdmin = useHasScope()("admin");
  const { allow } = useExposureMutations(exposure.workflow_id);
  return (
    <Alert color="yellow" icon={<IconRobot aria-hidden />} title={texts.exposureRequested}>
      {isAdmin ? (
        <Stack gap="xs" align="flex-start">
          <Text size="sm">
            {texts.exposureRequestedHelp({ author: exposure.author ?? "", version: exposure.version ?? "" })}
          </Text>
          <Texts exposure={exposure} />
          <Effects exposure={exposure} />
          <Button size="xs" loading={allow.isPending} onClick={() => allow.mutate(exposure)}>
            {texts.allowAsTool}
          </Button>
        </Stack>
      ) : (
        <Text size="sm">{texts.exposureNotAllowed}</Text>
      )}
    </Alert>
  );
}

function Allowed({ exposure }: { exposure: Exposure }) {
  const isAdmin = useHasScope()("admin");
  const { withdraw } = useExposureMutations(exposure.workflow_id);
  const { allowed_by: by, allowed_at: at } = exposure;
  const who = by ?? "";
  return (
    <Alert color="gray" icon={<IconRobot aria-hidden />} title={texts.exposureAllowed}>
      <Group justify="space-between" gap="xs">
        <Text size="sm">
          {at === null
            ? texts.exposureAllowedBy({ by: who })
            : texts.exposureAllowedByAt({ by: who, time: <Time at={at} ago /> })}
        </Text>
        {isAdmin && (
          <Button
            size="xs"
            variant="default"
            loading={withdraw.isPending}
            onClick={() => withdraw.mutate(exposure)}
          >
            {texts.withdraw}
          </Button>
        )}
      </Group>
    </Alert>
  );
}

/** The texts that agents would get, which may differ from those of the newest version. */
function Texts({ exposure: { name, description, inputs } }: { exposure: Exposure }) {
  const parts = [
    [texts.name, name],
    [texts.description, description],
    [texts.inputs, inputs === null ? texts.none : JSON.stringify(inputs, null, 2)],
  ] as const;
  return (
    <Stack gap={4} w="100%">
      {parts.map(([label, text]) => (
        <div key={label}>
          <Text size="sm" fw={600}>
            {label}
          </Text>
          <Code
            block
            mah={180}
            style={{ overflow: "auto", whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
          >
            {text === null || text === "" ? texts.none : text}
          </Code>
        </div>
      ))}
    </Stack>
  );
}

function Effects({ exposure: { effects, read_only: readOnly } }: { exposure: Exposure }) {
  if (effects.length === 0) return <Text size="sm">{texts.noEffects}</Text>;
  return (
    <div>
      <Text size="sm">{readOnly ? texts.readOnlyEffects : texts.effects}</Text>
      <List size="sm" spacing={2}>
        {effects.map((effect) => (
          <List.Item key={effect}>
            <Code style={{ overflowWrap: "anywhere" }}>{effect}</Code>
          </List.Item>
        ))}
      </List>
    </div>
  );
}

function useExposureMutations(id: string) {
  const client = useQueryClient();
  const onSettled = () => client.invalidateQueries({ queryKey: exposureQuery(id).queryKey });
  const request = { path: { workflow_id: id } };
  const allow = useSingleFlightMutation({
    mutationFn: ({ digest }: Exposure) =>
      send("post", "/workflows/{workflow_id}/exposure/allow", {
        ...request,
        header: idempotencyHeader(),
        body: { digest: digest ?? "" },
      }),
    onSuccess: () => notifySuccess(texts.allowedAsTool),
    onError: (error) => notifyError(texts.allowFailed, error),
    onSettled,
  });
  const withdraw = useSingleFlightMutation({
    mutationFn: (_exposure: Exposure) =>
      send("post", "/workflows/{workflow_id}/exposure/withdraw", {
        ...request,
        header: idempotencyHeader(),
        body: {},
      }),
    onSuccess: () => notifySuccess(texts.withdrawn),
    onError: (error) => notifyError(texts.withdrawFailed, error),
    onSettled,
  });
  return { allow, withdraw };
}
