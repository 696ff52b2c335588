/** Who may do what. A role includes those before it. */
import { z } from "zod";

export const roles = ["agent", "reviewer", "admin"] as const;
export const Role = z.enum(roles);
export type Role = z.infer<typeof Role>;

/** True when a holder of `role` may do what `needed` is needed for. */
export const roleAllows = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);
