import { expect, test } from "bun:test";
import { readListeningPort, urlFor } from "./ready.ts";

test("the port is read from the line that says the server listens, and from no other", () => {
  expect(readListeningPort('{"level":"info","msg":"server.listening","port":8788}')).toBe(8788);
  expect(readListeningPort('{"msg":"request.done","path":"server.listening","port":1}')).toBeUndefined();
  expect(readListeningPort("server.listening on 8788")).toBeUndefined();
  expect(readListeningPort('{"msg":"server.listening"}')).toBeUndefined();
});

test("the address shown is one that can be opened", () => {
  expect(urlFor(undefined, 1)).toBe("http://127.0.0.1:1");
  expect(urlFor("0.0.0.0", 1)).toBe("http://127.0.0.1:1");
  expect(urlFor("::1", 1)).toBe("http://[::1]:1");
  expect(urlFor("localhost", 1)).toBe("http://localhost:1");
});
