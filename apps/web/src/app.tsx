/** The whole console: who is signed in decides between the frame with its screens and the pages before it. */
import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { createRouter, RouterProvider } from "@tanstack/react-router";
import { useEffect } from "react";
import { queryClient } from "./api.ts";
import { Doorway } from "./features/session/doorway.tsx";
import { Frame } from "./features/shell/frame.tsx";
import { NotFound, ScreenError } from "./features/shell/dead-ends.tsx";
import { startLive } from "./live.ts";
import { rootRoute } from "./root-route.ts";
import { features, routeTree } from "./routes.ts";
import { session, startSession } from "./session.ts";
import { useStore } from "./store.ts";
import { Skeleton } from "./ui/states.tsx";
import { Toaster } from "./ui/toast.tsx";

rootRoute.update({ component: () => <Frame features={features} /> });

const router = createRouter({
  routeTree,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: ScreenError,
  defaultPendingComponent: () => <Skeleton lines={6} />,
  // A screen's code is fetched when a link to it is pointed at.
  defaultPreload: "intent",
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

const listeners = features.flatMap(({ onEvents }) => onEvents ?? []);

void startSession();

const AFTER_FIRST_MS = 1_000;

/** The code of the other screens, once the first one stands: they open at once, and also while the server is away. */
function loadScreens(): () => void {
  const load = () => {
    for (const route of Object.values(router.routesById)) router.loadRouteChunk(route)?.catch(() => undefined);
  };
  const timer = setTimeout(load, AFTER_FIRST_MS);
  return () => clearTimeout(timer);
}

export function App() {
  const state = useStore(session);
  const token = state.kind === "ready" ? state.me.token : null;
  const workspaceId = state.kind === "ready" ? state.me.workspaceId : null;
  useEffect(
    () => (token === null || workspaceId === null ? undefined : startLive(workspaceId, listeners)),
    [token, workspaceId],
  );
  useEffect(() => (token === null ? undefined : loadScreens()), [token]);
  return (
    // Base UI would otherwise add style elements, which the content security policy refuses.
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        {state.kind === "ready" ? <RouterProvider router={router} key={token} /> : <Doorway state={state} />}
        <Toaster />
      </QueryClientProvider>
    </CSPProvider>
  );
}
