/** The entry point of the browser application: context providers and the router. */
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
import { RouterProvider } from "react-router/dom";
import { startConnectionMonitor } from "./api/connection.ts";
import { createQueryClient } from "./api/queries.ts";
import { styleNonce } from "./app/nonce.ts";
import { createRouter } from "./app/router.tsx";
import { sessionQuery, subscribeToOtherTabs } from "./app/session.tsx";
import { theme } from "./app/theme.ts";

// Open dialogs lock the scrolling of the page with a style element, which needs the nonce.
setNonce(styleNonce());

startConnectionMonitor();

const client = createQueryClient(() => client.setQueryData(sessionQuery.queryKey, null));

subscribeToOtherTabs(() => void client.invalidateQueries({ queryKey: sessionQuery.queryKey }));

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
      <QueryClientProvider client={client}>
        <ModalsProvider>
          <Notifications position="bottom-right" />
          <RouterProvider router={createRouter()} />
        </ModalsProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
