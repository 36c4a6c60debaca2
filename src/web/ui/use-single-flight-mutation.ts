/** A change that is sent once at a time. */
import { type DefaultError, useMutation, type UseMutationOptions } from "@tanstack/react-query";
import { useCallback, useRef } from "react";

/**
 * useMutation, whose `mutate` does nothing while one is under way: of two clicks that come before the page is drawn
 * anew, the second finds no button that is disabled yet.
 */
export function useSingleFlightMutation<
  Data = unknown,
  Failure = DefaultError,
  Given = void,
  Context = unknown,
>(options: UseMutationOptions<Data, Failure, Given, Context>) {
  const underWay = useRef(false);
  const mutation = useMutation<Data, Failure, Given, Context>({
    ...options,
    mutationFn: async (given, context) => {
      try {
        return await options.mutationFn!(given, context);
      } finally {
        underWay.current = false;
      }
    },
  });
  const send = mutation.mutate;
  const mutate = useCallback<typeof send>(
    (...given) => {
      if (underWay.current) return;
      underWay.current = true;
      send(...given);
    },
    [send],
  );
  return { ...mutation, mutate };
}
