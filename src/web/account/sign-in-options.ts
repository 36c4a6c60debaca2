import { queryOptions } from "@tanstack/react-query";
import { send } from "../api/client.ts";

/** How people sign in here: known before anybody has. */
export const signInOptions = queryOptions({
  queryKey: ["sign-in-options"],
  queryFn: async ({ signal }) => (await send("get", "/session/options", { signal })).data,
});
