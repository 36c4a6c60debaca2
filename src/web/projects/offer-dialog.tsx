/** Offers a workflow to other projects, whose workflows may then call it, or takes the offer back. */
import { Button, Group, Modal, Radio, Stack, TagsInput, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import * as texts from "#texts/projects";
import * as uiTexts from "#texts/ui";
import { EVERY_PROJECT, projectOf } from "../../../schemas/project-ids.ts";
import type { Workflow } from "../../../schemas/workflow.ts";
import { formLevelError, issueAt } from "../account/form-errors.ts";
import { send } from "../api/client.ts";
import { idempotencyHeader } from "../api/queries.ts";
import { notifySuccess } from "../ui/notify.ts";
import { ErrorAlert, QueryContent } from "../ui/page.tsx";
import { useRestoreFocus } from "../ui/use-restore-focus.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";
import { BrokenCallers, useCallerConfirmation } from "../workflows/broken-callers.tsx";
import { offerQuery } from "./queries.ts";
import { useProjects } from "./use-projects.tsx";

type Audience = "none" | "named" | "all";

export function OfferDialog({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  useRestoreFocus();
  const offer = useQuery({ ...offerQuery(workflow.id), staleTime: 0 });
  return (
    <Modal opened onClose={onClose} title={texts.offerTitle({ workflow: workflow.name })} size="md">
      <QueryContent query={offer}>
        {({ projects }) => <OfferForm workflow={workflow} offered={projects} onClose={onClose} />}
      </QueryContent>
    </Modal>
  );
}

const audienceOf = (projects: readonly string[]): Audience =>
  projects.length === 0 ? "none" : projects.includes(EVERY_PROJECT) ? "all" : "named";

interface OfferFormProps {
  workflow: Workflow;
  offered: readonly string[];
  onClose: () => void;
}

function OfferForm({ workflow, offered, onClose }: OfferFormProps) {
  const client = useQueryClient();
  const { projects } = useProjects();
  const [audience, setAudience] = useState<string>(audienceOf(offered));
  const [named, setNamed] = useState<string[]>(offered.filter((id) => id !== EVERY_PROJECT));
  const save = useSingleFlightMutation({
    mutationFn: (confirmed: readonly string[]) =>
      send("post", "/workflows/{workflow_id}/offer", {
        path: { workflow_id: workflow.id },
        header: idempotencyHeader(),
        body: {
          projects: audience === "all" ? [EVERY_PROJECT] : audience === "named" ? named : [],
          break_callers: [...confirmed],
        },
      }),
    onSuccess: ({ data }) => {
      const unseen = data.unseen ?? [];
      notifySuccess(
        data.projects.length === 0
          ? texts.notOffered({ workflow: workflow.name })
          : [
              texts.offered({ workflow: workflow.name }),
              ...(unseen.length === 0 ? [] : [texts.unseenProjects({ projects: unseen.join(", ") })]),
            ].join(" "),
      );
      onClose();
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["workflows", workflow.id] }),
  });
  const callers = useCallerConfirmation(save.error);
  const formError = formLevelError(save.error, ["projects"]);
  const others = projects.filter(({ id }) => id !== projectOf(workflow)).map(({ id }) => id);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate([...callers.confirmed]);
      }}
    >
      <Stack>
        {callers.callers.length > 0 ? (
          <BrokenCallers confirmation={callers} refused={texts.notChanged} />
        ) : (
          formError && <ErrorAlert error={formError} />
        )}
        <Text size="sm">{texts.offerHelp}</Text>
        <Radio.Group label={texts.offeredTo} value={audience} onChange={setAudience}>
          <Stack gap="xs" mt="xs">
            <Radio value="none" label={texts.noOtherProject} />
            <Radio value="named" label={texts.namedProjects} />
            <Radio value="all" label={texts.allProjects} description={texts.allProjectsHelp} />
          </Stack>
        </Radio.Group>
        {audience === "named" && (
          <TagsInput
            label={texts.projectIds}
            description={texts.projectIdsHelp}
            data={others}
            value={named}
            onChange={setNamed}
            error={issueAt(save.error, "projects")}
            required={named.length === 0}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {uiTexts.cancel}
          </Button>
          <Button
            type="submit"
            loading={save.isPending}
            disabled={(audience === "named" && named.length === 0) || !callers.isComplete}
          >
            {texts.saveOffer}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
