import { queryOptions } from "@tanstack/react-query";
import { send } from "../api/client.ts";

/** How users sign in on this server. Needs no session. */
export const signInOptions = queryOptions({
  queryKey: ["sign-in-options"],
  queryFn: async ({ signal }) => (await send("get", "/session/options", { signal })).data,
});
