import { useQueryClient } from "@tanstack/react-query";
import * as texts from "#texts/projects";
import type { Project } from "../../../schemas/project.ts";
import type { EndpointByMethod } from "../../../schemas/generated/endpoints.ts";
import { send } from "../api/client.ts";
import { notifySuccess, notifyWarning } from "../ui/notify.ts";
import { useSingleFlightMutation } from "../ui/use-single-flight-mutation.ts";

type Change = EndpointByMethod["patch"]["/projects/{project}"]["parameters"]["body"];

/** A mutation that changes a project; what is left out stays. */
export function useUpdateProject({ id }: Project) {
  const client = useQueryClient();
  return useSingleFlightMutation({
    mutationFn: (change: Change) =>
      send("patch", "/projects/{project}", { path: { project: id }, body: change }),
    onSuccess({ data }) {
      notifySuccess(texts.saved(data));
      for (const { message, fix } of data.warnings ?? [])
        notifyWarning(`${texts.reviewWarning({ message })} ${fix ?? ""}`);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["projects"] }),
  });
}
