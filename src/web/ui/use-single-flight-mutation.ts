import { type DefaultError, useMutation, type UseMutationOptions } from "@tanstack/react-query";
import { useCallback, useRef } from "react";

/**
 * Like useMutation, but `mutate` does nothing while a request is in flight. Disabling the button is not enough: a
 * second click can arrive before React has rendered it as disabled.
 */
export function useSingleFlightMutation<
  Data = unknown,
  Failure = DefaultError,
  Variables = void,
  Context = unknown,
>(options: UseMutationOptions<Data, Failure, Variables, Context>) {
  const inFlight = useRef(false);
  const mutation = useMutation<Data, Failure, Variables, Context>({
    ...options,
    mutationFn: async (variables, context) => {
      try {
        return await options.mutationFn!(variables, context);
      } finally {
        inFlight.current = false;
      }
    },
  });
  const send = mutation.mutate;
  const mutate = useCallback<typeof send>(
    (...args) => {
      if (inFlight.current) return;
      inFlight.current = true;
      send(...args);
    },
    [send],
  );
  return { ...mutation, mutate };
}
