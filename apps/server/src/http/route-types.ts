/** The contracts' table of routes as types: what a handler gets, and what it must answer. */
import type { z } from "zod";
import type { RouteName, routes } from "@executor/contracts/http";
import type { Bearer } from "./authenticate.ts";

type Routes = typeof routes;
type Output<T> = T extends z.ZodType ? z.output<T> : undefined;

export interface RouteRequest<N extends RouteName> {
  caller: Routes[N]["role"] extends "open" ? null : Bearer;
  query: Routes[N] extends { query: infer Q } ? Output<Q> : undefined;
  body: Routes[N] extends { body: infer B } ? Output<B> : undefined;
  /** A part of the path, checked already. */
  param(name: string): string;
  header(name: string): string | undefined;
  remoteAddress: string;
  /** Aborted when the client goes away. */
  signal: AbortSignal;
}

/** By status, as the table says; streams and pages are answered as a Response. */
type AnswerFor<Status, Schema> = Schema extends null
  ? { status: Status; body?: undefined; headers?: Record<string, string> }
  : Schema extends z.ZodType
    ? { status: Status; body: z.input<Schema>; headers?: Record<string, string> } | Response
    : Response;
type Answers<R> = { [Status in keyof R]: AnswerFor<Status, R[Status]> }[keyof R];

export type RouteAnswer<N extends RouteName> = Answers<Routes[N]["responses"]>;
export type Handler<N extends RouteName> = (request: RouteRequest<N>) => Promise<RouteAnswer<N>>;
export type Handlers = { [N in RouteName]: Handler<N> };
/** What one file in routes/ gives: its part of the table. */
export type HandlersOf<N extends RouteName> = Pick<Handlers, N>;
