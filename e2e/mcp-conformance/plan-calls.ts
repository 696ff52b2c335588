/** Arguments for a tool that the scenario says nothing about: something small of the right type for what is required. */
export interface ToolCallPlan {
  name: string;
  arguments?: Record<string, unknown>;
}

const SAMPLES: Record<string, unknown> = {
  number: 5,
  integer: 5,
  string: "text",
  boolean: true,
  array: [],
  object: {},
};

export function inputFor(schema: unknown): Record<string, unknown> {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, { type?: string }>;
    required?: string[];
  };
  return Object.fromEntries(required.map((name) => [name, SAMPLES[properties[name]?.type ?? "string"] ?? "text"]));
}
