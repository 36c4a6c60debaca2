/** The entry point of the browser application: context providers and the router. */
import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./app/app.css";
import { DirectionProvider, MantineProvider, useDirection } from "@mantine/core";
import { ModalsProvider } from "@mantine/modals";
import { Notifications } from "@mantine/notifications";
import { onlineManager, QueryClientProvider } from "@tanstack/react-query";
import { setNonce } from "get-nonce";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { RouterProvider } from "react-router";
import { createQueryClient } from "./api/queries.ts";
import { askHealth, createConnection } from "./app/connection.ts";
import { styleNonce } from "./app/nonce.ts";
import { createRouter } from "./app/router.tsx";
import { sessionQuery, subscribeToOtherTabs } from "./app/session.tsx";
import { ConnectionProvider } from "./app/use-connection.ts";
import { theme } from "./app/theme.ts";

// Open dialogs lock the scrolling of the page with a style element, which needs the nonce.
setNonce(styleNonce());

const connection = createConnection({
  ask: askHealth,
  now: () => Date.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  onChange: (isOnline) => onlineManager.setOnline(isOnline),
});
const probe = (): void => void connection.probe();
// The browser knows only of its own network: the server may be down, or on this machine.
onlineManager.setEventListener(() => {
  addEventListener("offline", probe);
  addEventListener("online", probe);
  return () => {
    removeEventListener("offline", probe);
    removeEventListener("online", probe);
  };
});

const refetchSession = (): void => void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
const client = createQueryClient({
  onSignedOut: () => client.setQueryData(sessionQuery.queryKey, null),
  onFactorMissing: refetchSession,
  connection,
});

subscribeToOtherTabs(refetchSession);

/** At the end of the last line; the library knows only sides. */
const NotificationArea = () => (
  <Notifications position={useDirection().dir === "rtl" ? "bottom-left" : "bottom-right"} />
);

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    {/* It reads the direction of the page. */}
    <DirectionProvider>
      <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={styleNonce}>
        <QueryClientProvider client={client}>
          <ModalsProvider>
            <NotificationArea />
            <ConnectionProvider value={connection}>
              <RouterProvider router={createRouter(connection)} />
            </ConnectionProvider>
          </ModalsProvider>
        </QueryClientProvider>
      </MantineProvider>
    </DirectionProvider>
  </StrictMode>,
);
