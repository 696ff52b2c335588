/**
 * Well-known providers, as forms that are filled in already. Data only. What they say is where their providers publish it; whoever
 * adds one still sees it probed before it is connected.
 */
import { emptyForm, type SourceForm } from "./to-definition.ts";

export interface Template {
  title: string;
  about: string;
  form: SourceForm;
}

const mcp = (title: string, about: string, url: string, authType: SourceForm["authType"]): Template => ({
  title,
  about,
  form: { ...emptyForm, type: "mcp", name: title, url, authType, ...(authType === "oauth2" && { authMode: "actor" }) },
});
const openapi = (title: string, about: string, form: Partial<SourceForm>): Template => ({
  title,
  about,
  form: { ...emptyForm, name: title, ...form },
});

export const TEMPLATES: Template[] = [
  openapi("GitHub", "Repositories, issues, pull requests, actions", {
    spec: "https://raw.githubusercontent.com/github/rest-api-description/main/descriptions/api.github.com/api.github.com.json",
    authType: "bearer",
  }),
  openapi("Stripe", "Customers, payments, invoices, subscriptions", {
    spec: "https://raw.githubusercontent.com/stripe/openapi/master/openapi/spec3.json",
    authType: "bearer",
  }),
  openapi("Slack", "Messages, channels, users", {
    spec: "https://raw.githubusercontent.com/slackapi/slack-api-specs/master/web-api/slack_web_openapi_v2.json",
    authType: "bearer",
  }),
  {
    title: "GitHub GraphQL",
    about: "The same data, in the shape you ask for",
    form: {
      ...emptyForm,
      type: "graphql",
      name: "GitHub GraphQL",
      url: "https://api.github.com/graphql",
      authType: "bearer",
    },
  },
  mcp("Linear", "Issues, projects, cycles", "https://mcp.linear.app/mcp", "oauth2"),
  mcp("Notion", "Pages and databases", "https://mcp.notion.com/mcp", "oauth2"),
  mcp("Sentry", "Errors and their traces", "https://mcp.sentry.dev/mcp", "oauth2"),
  mcp("Context7", "Documentation of libraries", "https://mcp.context7.com/mcp", "none"),
  mcp("DeepWiki", "Questions about public repositories", "https://mcp.deepwiki.com/mcp", "none"),
];
