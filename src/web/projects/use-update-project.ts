import { useQueryClient } from "@tanstack/react-query";
import type { Project } from "../../../schemas/project.ts";
import type { EndpointByMethod } from "../../../schemas/generated/endpoints.ts";
import { issueForPeople } from "../api/api-words.ts";
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
      notifySuccess(`Saved the project “${data.name}”.`);
      for (const { message, fix } of (data.warnings ?? []).map(issueForPeople))
        notifyWarning(`Review ${message}. ${fix ?? ""}`);
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["projects"] }),
  });
}
