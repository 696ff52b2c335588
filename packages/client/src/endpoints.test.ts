import { expect, test } from "bun:test";
import { eventTypes, isLastEvent as isLastInContracts } from "@executor/contracts/event";
import { routes, type RouteName } from "@executor/contracts/http";
import { isEnded, TaskStatus } from "@executor/contracts/task";
import { endpoints } from "./endpoints.ts";
import { isEndedStatus, isLastEvent } from "./task-status.ts";

test.each(Object.entries(endpoints))("%s is %s in contracts too", (name, endpoint) => {
  const route = routes[name as RouteName];
  expect(endpoint as string).toBe(`${route.method.toUpperCase()} ${route.path}`);
});

test.each(TaskStatus.options)("%s is an end here if it is one in contracts", (status) => {
  expect(isEndedStatus(status)).toBe(isEnded(status));
});

test.each(eventTypes)("%s is a last event here if it is one in contracts", (type) => {
  expect(isLastEvent({ type })).toBe(isLastInContracts(type));
});
