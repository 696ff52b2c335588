/** Promises that were rejected and that nobody has handled yet, the first thousand of them. */
import type { GuestMachine } from "./guest-machine.ts";

const maxNoted = 1_000;
const maxShown = 5;

export class Rejections<Box> {
  readonly #noted = new Map<unknown, { promise: Box; reason: Box }>();

  /** Takes over both boxes. `handled`: an earlier report is taken back. */
  note<Text>(vm: GuestMachine<Box, Text>, promise: Box, reason: Box, handled: boolean): void {
    const identity = vm.identityOf(promise);
    const noted = this.#noted.get(identity);
    if (!handled && noted === undefined && this.#noted.size < maxNoted) {
      this.#noted.set(identity, { promise, reason });
      return;
    }
    if (handled && noted !== undefined) {
      this.#noted.delete(identity);
      vm.free(noted.promise);
      vm.free(noted.reason);
    }
    vm.free(promise);
    vm.free(reason);
  }

  forget(identity: unknown): void {
    this.#noted.delete(identity);
  }

  firstReasons(): Box[] {
    return [...this.#noted.values()].slice(0, maxShown).map(({ reason }) => reason);
  }
}
