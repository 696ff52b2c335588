/** Programs to begin with. They use only what every installation has. */
export interface Example {
  name: string;
  code: string;
}

export const EXAMPLES: Example[] = [
  {
    name: "Find a tool",
    code: `// What can be called here? Tools are found by what they do.
const { results, total } = await tools.discover({ query: "list issues", limit: 5 });
console.log(\`\${total} tools fit\`);

return { namespaces: await tools.catalog.namespaces(), results };
`,
  },
  {
    name: "Ask a person",
    code: `// The task waits, for a minute or a week, and its clock stands still meanwhile.
const colour = await tools.human.ask({ question: "Which colour?", options: ["red", "green"] });

return \`You chose \${colour}\`;
`,
  },
  {
    name: "Calls side by side",
    code: `// Calls run in parallel; console output appears live.
const answers = await Promise.all(
  ["one", "two", "three"].map(async (value) => {
    const answer = await tools.executor.echo({ value });
    console.log("done", value);
    return answer;
  }),
);

return answers;
`,
  },
];
