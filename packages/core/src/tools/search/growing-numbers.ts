/** A list of whole numbers below 2^32 that is only appended to: a tenth of what an array of numbers may cost while it grows. */
export class GrowingNumbers {
  items: Uint32Array<ArrayBuffer>;
  length = 0;

  constructor(expected: number) {
    this.items = new Uint32Array(Math.max(64, expected));
  }

  push(value: number): void {
    if (this.length === this.items.length) {
      const larger = new Uint32Array(this.items.length * 2);
      larger.set(this.items);
      this.items = larger;
    }
    this.items[this.length++] = value;
  }

  trimmed(): Uint32Array<ArrayBuffer> {
    return this.items.slice(0, this.length);
  }
}
