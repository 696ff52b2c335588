/** Makes the directories of an installation, for their owner only. */
import { accessSync, chmodSync, constants, mkdirSync } from "node:fs";
import { EnvironmentError, type Installation } from "@executor/core/installation-env";

export function makePlaces({ home, runDir }: Pick<Installation, "home" | "runDir">): void {
  for (const dir of [home, runDir]) {
    try {
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      chmodSync(dir, 0o700);
      accessSync(dir, constants.W_OK);
    } catch (error) {
      const reason = (error as Error).message;
      throw new EnvironmentError(
        `The directory ${dir} cannot be made or written (${reason}). Set EXECUTOR_HOME to one that can.`,
      );
    }
  }
}
