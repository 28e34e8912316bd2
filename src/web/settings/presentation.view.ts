import type { Presentation } from '../../servers/server.ts'

const CHOICES = [
  {
    value: 'flat',
    text: 'List all tools',
    hint: 'Models read the description and schema of every tool with each request. Best for few tools.',
  },
  {
    value: 'grouped',
    text: 'Grouped',
    hint: 'Models see the toolkits and attached MCP servers, and look up their tools when needed with two tools. Takes a few hundred tokens, however many tools.',
  },
  {
    value: 'search',
    text: 'Search',
    hint: 'Models see the pinned tools and find the others by searching for a task. Takes a few hundred tokens, however many tools. Best for many tools that are hard to group.',
  },
  {
    value: 'auto',
    text: 'Automatic',
    hint: 'Lists all tools up to the token threshold, and uses search above it. Decided whenever the tools change.',
  },
  {
    value: 'passthrough',
    text: 'Passthrough',
    hint: 'Requests and responses pass unchanged to and from the one attached remote MCP server. For servers without other sources.',
  },
] as const satisfies readonly { value: Presentation; text: string; hint: string }[]

/** How clients may be shown what a server has, in words. */
export const toPresentationChoices = (now: Presentation) =>
  CHOICES.map(choice => ({ ...choice, isChosen: choice.value === now }))
