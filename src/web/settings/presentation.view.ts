import type { Presentation } from '../../servers/server.ts'

const CHOICES = [
  {
    value: 'flat',
    text: 'Each tool by itself',
    hint: 'A model reads the description and schema of all tools, with every request. Best where there are few.',
  },
  {
    value: 'grouped',
    text: 'In groups, behind two tools',
    hint: 'A model sees which toolkits and attached MCP servers there are, and looks up their tools when it needs them: a few hundred tokens, however many tools.',
  },
  {
    value: 'search',
    text: 'Behind a search',
    hint: 'A model is listed the tools that you pin, and finds the others by what is to be done: a few hundred tokens, however many tools. Best where there are many that no toolkit parts well.',
  },
  {
    value: 'auto',
    text: 'Each by itself while they are cheap, else behind a search',
    hint: 'What the list of tools costs a model decides, each time that it changes.',
  },
  {
    value: 'passthrough',
    text: 'Passed through',
    hint: 'Each request goes on as it is to the one remote MCP server that is attached, and its answer comes back so. For a server that has nothing else.',
  },
] as const satisfies readonly { value: Presentation; text: string; hint: string }[]

/** How clients may be shown what a server has, in words. */
export const toPresentationChoices = (now: Presentation) =>
  CHOICES.map(choice => ({ ...choice, isChosen: choice.value === now }))
