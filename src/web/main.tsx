/** The browser application: providers, and the page that the address names. */
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./app/app.css";
import { MantineProvider } from "@mantine/core";
import { ModalsProvider } from "@mantine/modals";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router";
import { queryClient } from "./api/queries.ts";
import { styleNonce } from "./app/nonce.ts";
import { router } from "./app/router.tsx";
import { sessionQuery, whenAnotherTabTells } from "./app/session.tsx";
import { theme } from "./app/theme.ts";

// Dialogs hold the page behind them still by a style of their own.
setNonce(styleNonce());

const client = queryClient(() => client.setQueryData(sessionQuery.queryKey, null));

whenAnotherTabTells(() => void client.invalidateQueries({ queryKey: sessionQuery.queryKey }));

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <QueryClientProvider client={client}>
        <ModalsProvider>
          <Notifications position="bottom-right" />
          <RouterProvider router={router()} />
        </ModalsProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
