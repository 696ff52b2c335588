/** The parent of every screen's route. Its component, the frame, is given to it by app.tsx: features need only this. */
import { createRootRoute } from "@tanstack/react-router";

export const rootRoute = createRootRoute();
