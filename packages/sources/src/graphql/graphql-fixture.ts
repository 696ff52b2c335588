/** For tests: a real GraphQL server on loopback, and the io a kind is given. */
import type { AuthParts, IndexedTool, ReadIo, SourceIndex, SourceSpec, SourceTools } from "@executor/core/ports/source";
import type { ToolCall, ToolOutcome } from "@executor/core/tools/tool";
import { createSchema, createYoga } from "graphql-yoga";
import { graphqlKind } from "./graphql-kind.ts";

export const fixtureSdl = /* GraphQL */ `
  "What can be found."
  union Hit = Issue | User
  interface Node {
    id: ID!
  }
  enum State {
    OPEN
    CLOSED
  }
  scalar DateTime
  type User implements Node {
    id: ID!
    login: String!
    name: String
    apiToken: String
    issues(first: Int): IssueConnection!
  }
  type Issue implements Node {
    id: ID!
    title: String!
    state: State!
    createdAt: DateTime
    author: User
    rendered(format: String!): String
    old: String @deprecated(reason: "gone")
  }
  type PageInfo {
    hasNextPage: Boolean!
    endCursor: String
  }
  type IssueEdge {
    cursor: String!
    node: Issue!
  }
  type IssueConnection {
    edges: [IssueEdge!]!
    nodes: [Issue!]!
    pageInfo: PageInfo!
    totalCount: Int!
  }
  input Label {
    name: String!
    color: String
    next: Label
  }
  input IssueInput {
    title: String!
    state: State = OPEN
    labels: [Label!]
  }
  type IssuePayload {
    clientMutationId: String
    issue: Issue
  }
  type Query {
    "One issue."
    issue("Its id." id: ID!): Issue
    issues(first: Int = 10, after: String, state: State): IssueConnection!
    search(text: String!): [Hit!]!
    node(id: ID!): Node
    version: String!
    picked(select: String!): User
    whoami: String
    broken: Issue
    then: String
    constructor: String
    toString: String
  }
  type Mutation {
    createIssue(input: IssueInput!): IssuePayload
    deleteIssue(id: ID!): Boolean!
  }
  type Subscription {
    issueAdded: Issue
  }
`;

const user = { __typename: "User", id: "u1", login: "ada", name: "Ada", apiToken: "hidden" };
const issue = (id: string) => ({
  __typename: "Issue",
  id,
  title: `Issue ${id}`,
  state: "OPEN",
  createdAt: "2026-01-01T00:00:00Z",
  author: user,
});

export interface Fixture {
  url: string;
  /** Root fields that ran, in order. */
  ran: string[];
  /** Bodies as they came. */
  bodies: { query: string; variables?: Record<string, unknown>; operationName?: string }[];
  stop(): void;
}

export function startGraphqlServer(options: { introspection?: boolean; token?: string } = {}): Fixture {
  const fixture: Fixture = { url: "", ran: [], bodies: [], stop: () => {} };
  const noting =
    <T>(name: string, answer: (args: Record<string, unknown>, context: { request: Request }) => T) =>
    (_: unknown, args: Record<string, unknown>, context: { request: Request }): T => {
      fixture.ran.push(name);
      return answer(args, context);
    };
  const connection = () => ({
    nodes: [issue("1")],
    edges: [{ cursor: "c1", node: issue("1") }],
    pageInfo: { hasNextPage: false },
    totalCount: 1,
  });
  const schema = createSchema({
    typeDefs: fixtureSdl,
    resolvers: {
      Query: {
        issue: noting("issue", ({ id }) => issue(String(id))),
        issues: noting("issues", connection),
        search: noting("search", () => [issue("1"), user]),
        node: noting("node", () => user),
        version: noting("version", () => "1"),
        picked: noting("picked", () => user),
        whoami: noting("whoami", (_, { request }) => request.headers.get("authorization")),
        broken: () => {
          throw new Error("it broke");
        },
      },
      User: { issues: connection },
      Mutation: {
        createIssue: noting("createIssue", ({ input }) => ({
          issue: { ...issue("9"), title: (input as { title: string }).title },
        })),
        deleteIssue: noting("deleteIssue", () => true),
      },
    },
  });
  const yoga = createYoga({ schema: schema as never, logging: false, maskedErrors: false });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (options.token && request.headers.get("authorization") !== `Bearer ${options.token}`)
        return new Response("no", { status: 401 });
      if (request.method === "POST") {
        const body = (await request.clone().json()) as Fixture["bodies"][number];
        fixture.bodies.push(body);
        if (options.introspection === false && body.query.includes("__schema"))
          return Response.json(
            { errors: [{ message: "GraphQL introspection is not allowed here", extensions: {} }] },
            { status: 400 },
          );
      }
      return yoga.fetch(request);
    },
  });
  fixture.url = `http://127.0.0.1:${server.port}/graphql`;
  fixture.stop = () => void server.stop(true);
  return fixture;
}

export const noAuth: AuthParts = { parts: [], secrets: [] };

export const readIo = (overrides: Partial<ReadIo> = {}): ReadIo => ({
  fetch: (url, init) =>
    fetch(url, { method: init?.method, headers: init?.headers, body: init?.body, signal: init?.signal }),
  auth: noAuth,
  mayReachMachine: false,
  signal: AbortSignal.timeout(20_000),
  onProgress: () => {},
  ...overrides,
});

export const specOf = (definition: Partial<SourceSpec["definition"]>): SourceSpec => ({
  sourceId: "src_1",
  workspaceId: "ws_1",
  namespace: "demo",
  definition: { type: "graphql", name: "Demo", ...definition },
});

export interface OpenedFixture {
  index: SourceIndex;
  tools: SourceTools;
  tool(name: string): IndexedTool;
  call(name: string, input?: unknown, auth?: AuthParts): Promise<ToolOutcome>;
}

export async function openSource(
  definition: Partial<SourceSpec["definition"]>,
  io: ReadIo = readIo(),
): Promise<OpenedFixture> {
  const source = specOf(definition);
  const index = await graphqlKind.read(source, io);
  const tools = graphqlKind.open({ source, metaJson: index.metaJson, details: async () => index.details });
  const tool = (name: string): IndexedTool => {
    const found = index.tools.find((each) => each.name === name);
    if (!found) throw new Error(`no tool ${name}`);
    return found;
  };
  return {
    index,
    tools,
    tool,
    async call(name, input = {}, auth = io.auth) {
      const call = { toolPath: `demo.${name}`, input, signal: AbortSignal.timeout(10_000) } as ToolCall;
      const prepared = await tools.prepare(tool(name), call, { fetch: io.fetch, auth, maxResultBytes: 1_000_000 });
      if (prepared.kind !== "ready") throw new Error("asked");
      const sent = await prepared.send();
      if ("kind" in sent) throw new Error("asked");
      return sent;
    },
  };
}
