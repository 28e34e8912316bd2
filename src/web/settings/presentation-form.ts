import { closest } from 'fastest-levenshtein'
import { z } from 'zod'
import { AppError } from '../../lib/kernel/errors.ts'
import { readWholeNumber } from '../../lib/kernel/whole-number.ts'
import { contextShape } from '../../servers/context-rules.ts'
import { PRESENTATIONS, type Presentation, type Server } from '../../servers/server.ts'
import { explainShownAs, type ShownAs } from '../../servers/settings/shown-as.ts'

const CHOICES = [
  {
    value: 'flat',
    text: 'List all tools',
    hint: 'Models read the description and schema of every tool with each request. Best for few tools.',
  },
  {
    value: 'grouped',
    text: 'Grouped',
    hint: 'Models see the toolkits and attached MCP servers, and use two extra tools to look up the tools they need. Takes a few hundred tokens, however many tools there are.',
  },
  {
    value: 'search',
    text: 'Search',
    hint: 'Models see the pinned tools and find the others by searching for a task. Takes a few hundred tokens, regardless of the number of tools. Best for many tools that are hard to group.',
  },
  {
    value: 'auto',
    text: 'Automatic',
    hint: 'Lists all tools up to the token threshold, and uses search above it. The choice is made again when the tools change.',
  },
  {
    value: 'passthrough',
    text: 'Passthrough',
    hint: 'Requests and responses pass unchanged to and from the one attached remote MCP server. For servers without other sources.',
  },
] as const satisfies readonly { value: Presentation; text: string; hint: string }[]

/** Returns the presentations as form choices. */
export const toPresentationChoices = (now: Presentation) =>
  CHOICES.map(choice => ({ ...choice, isChosen: choice.value === now }))

/** Returns a presentation as the page names it. Other text is returned unchanged. */
export const presentationText = (value: string): string => CHOICES.find(choice => choice.value === value)?.text ?? value

/** How clients see the tools, as typed. */
type TypedPresentation = { presentation: string; pinnedTools: string; maxFlatTokens: string }

export const PRESENTATION_LABELS = {
  presentation: 'presentation',
  pinnedTools: 'list of pinned tools',
  maxFlatTokens: 'number of tokens',
}

const namesIn = (text: string): string[] => text.split(/[\s,]+/).filter(name => name !== '')

export const PresentationInput = z.object({
  presentation: z.enum(PRESENTATIONS, 'must be an option from the list'),
  pinnedTools: z.string().transform(namesIn).pipe(contextShape.pinnedTools),
  maxFlatTokens: z.string().transform(readWholeNumber).pipe(contextShape.maxFlatTokens.optional()),
})

/** Throws for unknown tool names, unless they are already pinned: the upstream of a pinned tool may be unreachable. */
export const assertToolNames = (
  names: readonly string[],
  known: readonly string[],
  { pinnedTools }: Pick<Server, 'pinnedTools'>,
): void => {
  const unknown = names.find(name => !known.includes(name) && !pinnedTools.includes(name))
  if (unknown === undefined) return
  const hint = known.length === 0 ? 'the server has no tools yet' : `the nearest is ${closest(unknown, [...known])}`
  throw new AppError('invalid_request', 'Some pinned tools do not exist.', {
    errors: [{ path: 'pinnedTools', message: `names ${unknown}, which does not exist; ${hint}` }],
  })
}

export const toPresentationForm = (
  { presentation, pinnedTools, maxFlatTokens }: TypedPresentation,
  saved: Pick<Server, 'presentation'>,
  shownAs: ShownAs | undefined,
) => ({
  choices: toPresentationChoices(PRESENTATIONS.find(one => one === presentation) ?? saved.presentation),
  pinnedTools,
  maxFlatTokens,
  now: shownAs && explainShownAs(shownAs),
})
